"""The kinds of findings, `Finding`, and the simulator's errors."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

Coordinates = tuple[int, int, int]
#: A thread: (bx, by, bz) of its block and (tx, ty, tz) in it.
Thread = tuple[Coordinates, Coordinates]


class FindingKind(NamedTuple):
    """A kind of finding; an "error" makes a strict launch raise. ``counted`` is the unit of its count.

    ``values``: whether a kernel may compute other values than its text says; else it is only slower.
    """

    severity: str
    counted: str = "access"
    values: bool = True


#: Every kind of finding. Causes come before their consequences, which is also the order in which findings are shown.
KINDS = {
    "out-of-bounds": FindingKind("error"),
    "misaligned-access": FindingKind("error"),
    "barrier-divergence": FindingKind("error", "thread"),
    "unfinished-copy": FindingKind("error"),
    "unfinished-product": FindingKind("error"),
    "missing-fence": FindingKind("error"),
    "race": FindingKind("error", "instruction"),
    "uninitialized-read": FindingKind("error"),
    "failed-assertion": FindingKind("error", "thread"),
    "raised-exception": FindingKind("error", "thread"),
    "negative-index": FindingKind("warning"),
    "missing-dimension": FindingKind("warning"),
    "aliased-memory": FindingKind("warning"),
    "float64": FindingKind("warning", "operand", values=False),
    "changed-constant": FindingKind("warning"),
}
RANK = {kind: rank for rank, kind in enumerate(KINDS)}


class FindingKey(NamedTuple):
    """The identity of a finding: findings with the same key are reported once, and counted."""

    kind: str
    line: int
    other_line: int | None
    array: str | None


@dataclass(frozen=True)
class Finding:
    """A violation of one rule, reported once for each pair of source lines and array.

    Attributes:
        kind: one of ``KINDS``, which gives its severity.
        line: the line that violates the rule, as numbered in the student's file or notebook cell.
        message: one sentence: what, where, what to do.
        other_line: the other line that takes part, or None: of a race, the smaller of its two line numbers, whichever
            access came first; of a barrier, the line of the return that keeps a thread from it.
        array: the kernel's own name for the array, or None.
        index: the element of one occurrence, one number per dimension, or None. It is the first occurrence; of a race,
            the first between two warps and with different values, if there is one.
        threads: the threads of the same occurrence, each ``((bx, by, bz), (tx, ty, tz))``.
        verbs: of a race, what each of the threads does: the first in ``other_line``, the second in ``line``.
        count: how many times threads violated the rule at these lines; for a race, how many instructions raced; for
            "float64", how many operands were promoted.

    >>> @cuda.jit
    ... def one_too_many(x):
    ...     x[cuda.threadIdx.x] = 1
    >>> run = simulate(one_too_many, strict=False)[1, 32](np.zeros(31))
    >>> [(finding.kind, finding.array, finding.count) for finding in run.errors]
    [('out-of-bounds', 'x', 1)]
    """

    kind: str
    line: int
    message: str
    other_line: int | None = None
    array: str | None = None
    index: tuple[int, ...] | None = None
    threads: tuple[Thread, ...] = ()
    count: int = 1
    verbs: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no kind of finding is called {self.kind!r}; there are {', '.join(KINDS)}")

    @property
    def severity(self) -> str:
        """ "error" (a strict launch raises) or "warning"."""
        return KINDS[self.kind].severity

    @property
    def counted(self) -> str:
        """The count with its unit: ``48 accesses``."""
        unit = KINDS[self.kind].counted
        if self.count == 1:
            return f"1 {unit}"
        return f"{self.count} {unit}{'es' if unit == 'access' else 's'}"

    @property
    def key(self) -> FindingKey:
        """What findings share that are told once: of one kind, in the same lines, of the same array."""
        return FindingKey(self.kind, self.line, self.other_line, self.array)

    @property
    def rank(self) -> tuple[bool, int, int, str]:
        """Sort key for display: errors first, then by line, then causes before their consequences."""
        return self.severity != "error", self.line, RANK[self.kind], self.array or ""

    def __str__(self) -> str:
        alone = self.other_line in (None, self.line)
        where = f"line {self.line}" if alone else f"lines {self.other_line} and {self.line}"
        return f"{self.kind} ({where}): {self.message}"


@dataclass(frozen=True)
class RaisedException:
    """An exception of a kernel: its class, and its arguments, which are constants as numba wants them."""

    kind: type[Exception]
    arguments: tuple[object, ...]

    def made(self, thread: Thread) -> Exception:
        """Return the exception as numba makes it of one of a thread: who it was precedes the first argument."""
        block, own = ([*reversed(coordinates)] for coordinates in thread)
        where = f"tid={own} ctaid={block}"
        first, *others = self.arguments or ("",)
        return self.kind(f"{where}: {first}" if self.arguments else where, *others)


class SimulatorError(Exception):
    """Base class of the errors that a user can cause. A notebook shows only the message, no internal frames.

    The message consists of ``line``, the line of the kernel that caused the error, if any; ``text``, what is wrong; and
    ``option``, advice for the caller of ``simulate``.
    """

    def __init__(self, text: str, line: int | None = None, option: str = ""):
        self.text, self.line, self.option = text, line, option
        super().__init__(self.without_option() + option)

    def without_option(self) -> str:
        """Return the message without the advice for the caller of ``simulate``."""
        return self.text if self.line is None else f"line {self.line}: {self.text}"

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class KernelError(SimulatorError):
    """A strict launch violated a rule. ``findings`` holds what was found, ``run`` the whole :class:`Run`.

    A launch that had to stop (a loop that never ends, a step of 0) raises it, strict or not: they hold what was before.

    >>> @cuda.jit
    ... def one_too_many(x):
    ...     x[cuda.threadIdx.x] = 1
    >>> try:
    ...     simulate(one_too_many)[1, 32](np.zeros(31))
    ... except KernelError as error:
    ...     print(error.findings[0].kind)
    out-of-bounds
    """

    def __init__(
        self,
        text: str,
        findings: tuple[Finding, ...] = (),
        run: Any = None,
        *,
        line: int | None = None,
        option: str = "",
    ):
        super().__init__(text, line, option)
        self.findings = findings
        self.run = run


class KernelDivisionError(KernelError, ZeroDivisionError):
    """A launch of a kernel with ``debug=True`` had to stop at a division by zero, as on a GPU."""


class UnsupportedKernelError(SimulatorError):
    """The kernel uses something that the simulator does not run. ``line`` says where.

    >>> @cuda.jit
    ... def sorted_in_place(x):
    ...     x.sort()
    >>> simulate(sorted_in_place)[1, 1](np.zeros(4))
    Traceback (most recent call last):
    course_lib.simulator.findings.UnsupportedKernelError: line 3: the simulator does not run .sort ...
    """


class LaunchError(SimulatorError, ValueError):
    """The grid, the block or the arguments of a launch are wrong.

    >>> simulate(rung("naive").make())[1, 2048](*np.ones((3, 32, 32), np.float32))
    Traceback (most recent call last):
    course_lib.simulator.findings.LaunchError: the block (2048, 1, 1) has 2,048 threads; ...
    """


class LaunchTypeError(LaunchError, TypeError):
    """A launch is wrong where numba raises TypeError: the number of arguments, or a grid or block of no integers."""
