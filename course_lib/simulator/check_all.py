"""A kernel run over many launches: sizes around its tiles, its blocks and the warp, 0 and 1, in several schedules.

    def launch(n):
        x = np.arange(n, dtype=np.float32)
        return ceil_div(n, 64), 64, (x, np.zeros_like(x)), {"out": 2 * x}

    simulate(kernel).check_all(launch)  # no finding for 15 launches up to n=130; 1 further size has no launch

A launch that passes says nothing of the next size: guards, ragged tiles and waiting differ with the shape.
"""

import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .findings import KernelError, LaunchError
from .hardware import WARP_SIZE, ceil_div
from .language.source.reading import python_function, read
from .run import Run
from .testing import differs, not_allowed

#: Launches that are tried, unless more are asked for: some seconds for a kernel of small tiles.
LAUNCHES = 200
#: The largest size: four warps and a little more.
LARGEST = 4 * WARP_SIZE + 2
#: Threads of a block, for a launch that has a parameter ``block``.
BLOCKS = (1, 31, 32, 33, 64, 96, 100, 128, 256)
SCHEDULES = ("in-order", "reversed", "shuffled")
#: Smaller launches that are tried, to find the smallest that fails.
SHRINKING = 60

#: Sizes by the names that the launch gives them.
Sizes = dict[str, int]
#: ``launch(kernel's sizes)`` returns grid, block, arguments and, if it likes, what arrays should hold (None: anything);
#: or None, if these sizes have no launch.
LaunchFactory = Callable[..., Any]
#: ``start(schedule, trace, grid, block, arguments)`` launches the kernel and returns the run.
Start = Callable[[str, bool, Any, Any, Sequence[Any]], Run]


@dataclass(frozen=True)
class Checked:
    """The launches of a kernel, and the first that fails.

    Attributes: ``launches``, how many ran; ``without``, how many sizes have no launch; ``largest``, each size at its
    largest; ``sizes``, those of the smallest launch that fails, with its ``schedule`` and the ``reason``, and None and
    "" where none fails. ``run`` is this launch, traced if it is small enough, and ``wanted`` what its arrays should
    hold: ``Stepper(found.run, wanted=found.wanted)`` shows it; ``launch(**sizes)`` makes its arguments again.
    """

    launches: int
    without: int
    largest: Sizes
    sizes: Sizes | None = None
    schedule: str = ""
    reason: str = ""
    run: Run | None = None
    launch: LaunchFactory | None = None
    wanted: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether no launch failed."""
        return self.sizes is None

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        ran = f"{self.launches} launch{'es' * (self.launches != 1)}"
        if self.sizes is None:
            more = "size has" if self.without == 1 else "sizes have"
            without = f"; {self.without} further {more} no launch" if self.without else ""
            return f"no finding for {ran} up to {_named(self.largest)}{without}"
        at = f" ({self.run.heading()}, schedule {self.schedule})" if self.run else ""
        return f"fails for {_named(self.sizes)}{at}, the smallest failure in {ran}: {self.reason}"


def _named(sizes: Sizes) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


@dataclass(frozen=True)
class _Try:
    """One launch: its run, if it began, why it fails, and the right contents of its arrays.

    ``mistake`` is the same for launches that fail by the same mistake, and None for one that does not fail.
    """

    mistake: Any
    reason: str
    run: Run | None
    wanted: Mapping[str, np.ndarray]


def check_all(
    kernel: Any,
    start: Start,
    launch: LaunchFactory | None,
    *,
    allow: Sequence[str],
    launches: int,
    seed: int,
    values: Mapping[str, Iterable[int]],
) -> Checked:
    """Launch the kernel for many sizes, in ascending order; return what held, or the smallest launch that fails."""
    if launches < 1:
        raise LaunchError(f"launches is {launches}; try at least 1")
    launch = launch or _guessed(kernel, start, allow)
    chosen = _candidates(kernel, launch, values)
    ran = without = 0
    largest = dict.fromkeys(chosen, 0)
    tried = partial(_tried, kernel, start, launch, allow)
    for sizes, schedule in zip(_order(chosen, launches, seed), itertools.cycle(SCHEDULES)):  # noqa: B905
        found = tried(sizes, schedule)
        if found is None:
            without += 1
            continue
        ran += 1
        largest = {name: max(largest[name], size) for name, size in sizes.items()}
        if found.mistake is None:
            continue
        tries = SHRINKING
        smaller = _smaller(sizes, chosen, values)
        while tries and (at := next(smaller, None)):
            tries -= 1
            again = tried(at, schedule)
            ran += again is not None
            if again is not None and again.mistake == found.mistake:
                sizes, smaller = at, _smaller(at, chosen, values)
        try:
            found = tried(sizes, schedule, trace=True) or found
        except LaunchError:  # too large to trace, or refused
            found = tried(sizes, schedule) or found
        return Checked(ran, without, largest, sizes, schedule, found.reason, found.run, launch, found.wanted)
    if not ran:
        raise LaunchError("no size has a launch: launch() returned None, or a grid of 0 blocks, for all of them")
    return Checked(ran, without, largest)


def _tried(
    kernel: Any,
    start: Start,
    launch: LaunchFactory,
    allow: Sequence[str],
    sizes: Sizes,
    schedule: str,
    *,
    trace: bool = False,
) -> _Try | None:
    """Launch once; None for sizes without a launch. Raise LaunchError for one too large to trace."""
    made = _made(launch, sizes)
    if made is None:
        return None
    grid, block, arguments, *rest = made
    names = read(kernel).parameters
    wanted = _wanted(rest[0] if rest and rest[0] is not None else {}, names)
    try:
        run = start(schedule, trace, grid, block, arguments)
    except KernelError as error:  # a loop that does not end
        return _Try(("stopped", error.line), error.without_option(), error.run, wanted)
    except LaunchError as error:
        if trace:
            raise
        return _Try("refused", f"the launch is refused: {error}", None, wanted)
    if found := not_allowed(run, allow):
        return _Try(found[0].key, str(found[0]), run, wanted)
    for name, right in wanted.items():
        held = np.asarray(arguments[names.index(name)])
        if held.shape != right.shape:
            raise LaunchError(f"launch() says that {name} should hold {right.shape} elements; it has {held.shape}")
        wrong = np.argwhere(differs(held, right))
        if len(wrong):
            at = tuple(wrong[0].tolist())
            more = f" (and {len(wrong) - 1:,} more)" if len(wrong) > 1 else ""
            place = ", ".join(map(str, at))
            reason = f"{name}[{place}] holds {held[at]}, and {right[at]} is right{more}"
            return _Try(("wrong", name), reason, run, wanted)
    return _Try(None, "", run, wanted)


def _made(launch: LaunchFactory, sizes: Sizes) -> Any:
    made = launch(**sizes)
    if made is None:
        return None
    is_launch = isinstance(made, tuple) and len(made) in (3, 4) and isinstance(made[2], tuple | list)
    if not is_launch:
        raise LaunchError(
            "launch() must return grid, block, a tuple of arguments and, if wanted, what arrays should hold"
        )
    grid = made[0] if isinstance(made[0], tuple | list) else (made[0],)
    if 0 in sizes.values() and 0 in grid:
        return None
    return made


def _wanted(given: Any, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return what arrays should hold, as arrays; raise LaunchError for what is no parameter of the kernel."""
    if not isinstance(given, Mapping):
        raise LaunchError(
            f"launch() says what arrays should hold with a {type(given).__name__}; give a dict, as {{'C': A @ B}}, or "
            "None if only findings count"
        )
    wanted = {name: np.array(right) for name, right in given.items() if right is not None}
    if unknown := [name for name in wanted if name not in names]:
        raise LaunchError(
            f"launch() says what {unknown[0]!r} should hold; the kernel's parameters are {', '.join(names)}"
        )
    return wanted


def _candidates(kernel: Any, launch: LaunchFactory, values: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, ...]]:
    """Return the sizes to try for each parameter of the launch: around multiples of the warp and of the tiles."""
    parameters = inspect.signature(launch).parameters.values()
    names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    if not names or len(names) < len(parameters):
        raise LaunchError("launch() takes sizes by name, as launch(n) or launch(M, N, K), and no others")
    if unknown := [name for name in values if name not in names]:
        raise LaunchError(f"launch() has no size {unknown[0]!r}; it has {', '.join(names)}")
    edges = {0, 1, 2, 3, WARP_SIZE, LARGEST, *widths(kernel)}
    around = set(edges)
    for edge in edges:
        if edge > 1:
            around |= {edge - 1, edge + 1}
            around |= {2 * edge - 1, 2 * edge, 2 * edge + 1}
    sizes = tuple(sorted(size for size in around if 0 <= size <= LARGEST))
    chosen = {name: BLOCKS if name == "block" else sizes for name in names}
    for name, given in values.items():
        try:
            chosen[name] = tuple(sorted({operator.index(size) for size in given}))
        except TypeError:
            raise LaunchError(f"{name} is {given!r}; give whole numbers to try, as {name}=(16, 17)") from None
    if empty := [name for name, given in chosen.items() if not given]:
        raise LaunchError(f"there is no value of {empty[0]!r} to try")
    return chosen


def widths(kernel: Any) -> set[int]:
    """Return the whole numbers from 2 to 64 that a kernel names or contains: the widths of its tiles are among them."""
    function = python_function(kernel)
    code = function.__code__
    found = [*code.co_consts, *(cell.cell_contents for cell in function.__closure__ or ())]
    found += [function.__globals__.get(name) for name in code.co_names]
    return {each for each in found if isinstance(each, int) and 2 <= each <= 2 * WARP_SIZE}


def _order(chosen: Mapping[str, tuple[int, ...]], launches: int, seed: int) -> list[Sizes]:
    """Return as many combinations as may be tried, in ascending order: each value at least once, the rest at random."""
    names = list(chosen)
    if math.prod(map(len, chosen.values())) <= launches:
        found = set(itertools.product(*chosen.values()))
    else:
        rng = np.random.default_rng(seed)
        most = max(map(len, chosen.values()))
        # Every value of every size once: each time with other partners.
        found = set()
        while len(found) < launches:
            columns = [np.resize(rng.permutation(given), most).tolist() for given in chosen.values()]
            found.update(list(zip(*columns, strict=True))[: launches - len(found)])
    ascending = sorted(found, key=lambda sizes: (sum(sizes), sizes))
    return [dict(zip(names, sizes, strict=True)) for sizes in ascending]


def _smaller(
    sizes: Sizes, chosen: Mapping[str, tuple[int, ...]], values: Mapping[str, Iterable[int]]
) -> Iterator[Sizes]:
    """Yield sizes of which one is smaller, of the values given: a smallest, or less by half, a quarter, ... or one."""
    for name, size in sizes.items():
        any_size = name not in values and name != "block"
        less_by_parts = {size - (size >> halvings) for halvings in range(size.bit_length())}
        for less in sorted({*chosen[name][:2], *less_by_parts}):
            if 0 <= less < size and (any_size or less in chosen[name]):
                yield {**sizes, name: less}


def _guessed(kernel: Any, start: Start, allow: Sequence[str]) -> LaunchFactory:
    """Return the launch of a product in which x runs along the rows of C, or down its columns if only that works."""
    launches = product_of(kernel), product_of(kernel, down=True)
    names = inspect.signature(launches[0]).parameters
    width = launches[0](*[1] * len(names))[1][0]
    sizes = dict(zip(names, (width, 2 * width, width), strict=False))
    for launch in launches:
        tried = _tried(kernel, start, launch, allow, sizes, SCHEDULES[0])
        if tried is not None and tried.mistake is None:
            return launch
    return launches[0]


def product_of(kernel: Any, block: tuple[int, int] | None = None, down: bool = False) -> LaunchFactory:
    """Return a launch of a kernel that multiplies matrices: ``launch(M, N, K)``, C = A·B in float32.

    The kernel's parameters begin with A (M×K), B (K×N) and C (M×N), whose names end in these letters; numbers after
    them are M, N, K, or n of a square product. A thread computes one element, x along the rows of C, or
    ``down`` its columns. ``block`` is by default that of the largest tile width of at most 32 that the kernel names,
    else 16×16. The elements are small whole numbers, so sums are exact.
    """
    names = read(kernel).parameters
    begins_with_matrices = [name[-1:].lower() for name in names[:3]] == ["a", "b", "c"]
    if not begins_with_matrices or not {*names[3:]} <= {*"MNKmnk"}:
        raise LaunchError(
            f"how {read(kernel).name}({', '.join(names)}) is launched cannot be guessed; give check_all a function "
            "that takes sizes and returns grid, block and a tuple of arguments"
        )
    width = max((w for w in widths(kernel) if w <= WARP_SIZE), default=16)
    x, y = block or (width, width)
    square = set(names[3:]) == {"n"}

    def launch(M: int, N: int, K: int) -> Any:
        rng = np.random.default_rng(M * 10_000 + N * 100 + K)
        A = rng.integers(-8, 9, (M, K)).astype(np.float32)
        B = rng.integers(-8, 9, (K, N)).astype(np.float32)
        C = np.full((M, N), np.nan, np.float32)
        sizes = {"m": M, "n": N, "k": K}
        numbers = [sizes[name.lower()] for name in names[3:]]
        along_x, along_y = (M, N) if down else (N, M)
        grid = (ceil_div(along_x, x), ceil_div(along_y, y))
        return grid, (x, y), (A, B, C, *numbers), {names[2]: A @ B}

    return (lambda n: launch(n, n, n)) if square else launch
