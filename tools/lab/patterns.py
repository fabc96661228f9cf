"""Access patterns, one launch each, on which the simulator's counts are compared with a GPU's counters.

Every launch has one load that matters and an index that the compiler cannot know, so that no access is hoisted,
widened or merged: what Nsight Compute counts is what the source says.
"""

from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int8, uint16

from course_lib.kernels.async_copy import commit_copies, copy4_async, copy_async, wait_copies
from course_lib.kernels.llvm.warpgroup import HOPPER
from course_lib.kernels.tensor_core_loads import load_matrices
from course_lib.kernels.vector import load4
from course_lib.kernels.warpgroup import (
    BF16,
    TF32,
    THREADS,
    Format,
    commit_products,
    descriptor,
    fence_proxy,
    fence_registers,
    products,
    wait_for_products,
)
from course_lib.machine.gpu.counters import METRICS, counters, parse_ncu, under_ncu
from course_lib.machine.gpu.result_types import Names, Result, Results, Size
from course_lib.simulator.hardware import BANKS, WARP_SIZE

#: The metrics that a simulator can count: what the source requests, independent of caches and clocks.
COUNTS = tuple(name for name in METRICS if name.startswith(("global_", "shared_", "matrix_", "copy_")))
#: M, N, K: no tile divides the last; 16-byte accesses are possible in the first two.
EXACT_SIZES = ((128, 256, 64), (200, 136, 72), (201, 137, 73))

ELEMENTS = 2048
ROWS_OF_4 = ELEMENTS // 4
#: The first word of the names of products of a warpgroup, and the bytes of shared memory that hold their tiles.
PRODUCT, PRODUCT_BYTES = "product", 32 * 1024


@cuda.jit
def strided(a, stride, start, out):
    """Lane i reads element start + i·stride."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    out[i] = a[start + i * stride]


@cuda.jit
def gathered(a, index, out):
    """Lane i reads element index[i]."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    out[i] = a[index[i]]


@cuda.jit
def every_third(a, out):
    """Two lanes of three are idle."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i % 3 == 0:
        out[i] = a[i]


@cuda.jit(device=True)
def times(places: Any, i: int) -> Any:
    """Place of lane i: every `places`-th."""
    return i * places


@cuda.jit(device=True)
def listed(places: Any, i: int) -> Any:
    """Place of lane i: that of a list."""
    return places[i]


@cuda.jit(device=True)
def everyone(active: Any, i: int) -> bool:
    """Whether lane i takes part: all do, and no mask is read."""
    return True


@cuda.jit(device=True)
def some(active: Any, i: int) -> bool:
    """Whether lane i takes part: as a mask says."""
    return active[i] != 0


@cuda.jit(device=True)
def one(tile: Any, k: int) -> Any:
    """Read element k."""
    return tile[0, k]


@cuda.jit(device=True)
def four(tile: Any, k: int) -> Any:
    """Read elements 4·k to 4·k + 3 in one access of 16 bytes."""
    a, b, c, d = load4(tile, 0, 4 * k)
    return a + b + c + d


@lru_cache
def shared(dtype: Any, place: Any = listed, takes_part: Any = everyone, read: Any = one) -> Any:
    """Lane i reads an element, or four, of shared memory, if it takes part."""

    @cuda.jit
    def read_shared(places, active, out):
        tile = cuda.shared.array((1, ELEMENTS), dtype)
        i = cuda.threadIdx.x
        for k in range(i, ELEMENTS, cuda.blockDim.x):
            tile[0, k] = k
        cuda.syncthreads()
        if takes_part(active, i):
            out[i] = read(tile, place(places, i))

    return read_shared


@cuda.jit
def wide_strided(A, stride, out):
    """Lane i reads four neighbouring words at 4·i·stride in one 16-byte access."""
    i = cuda.threadIdx.x
    a, b, c, d = load4(A, 0, 4 * i * stride)
    out[i] = a + b + c + d


@lru_cache
def copied(dtype: Any, elements: int, place_to: Any, place_of: Any, takes_part: Any = everyone) -> Any:
    """Lane i copies `elements` elements from one place of row 0 to one of shared memory, if it takes part."""
    copy = copy4_async if elements == 4 else copy_async

    @cuda.jit
    def copied(A, to, of, active, out):
        tile = cuda.shared.array((1, ELEMENTS), dtype)
        i = cuda.threadIdx.x
        if takes_part(active, i):
            copy(tile, 0, elements * place_to(to, i), A, 0, elements * place_of(of, i))
        commit_copies()
        wait_copies(0)
        if takes_part(active, i):
            out[i] = tile[0, elements * place_to(to, i)]

    return copied


@cuda.jit
def matrices(rows, out):
    """Lane i brings row rows[i] of 16 bytes to a load of four matrices."""
    tile = cuda.shared.array((ROWS_OF_4, 4), float32)
    i = cuda.threadIdx.x
    for word in range(i, ELEMENTS, WARP_SIZE):
        tile[word // 4, word % 4] = word
    cuda.syncthreads()
    out[i] = load_matrices(tile, rows[i], 0)[0]


@lru_cache
def one_product(form: Format, columns: int, swizzle: int, registers: bool) -> Any:
    """A warpgroup starts one wgmma of zeros: A begins at element 0 of a shared array, B in its middle."""
    multiply, wait = products(form, columns, registers), wait_for_products(columns)
    word = uint16 if form.dtype == "uint16" else float32
    elements, results = PRODUCT_BYTES // np.dtype(form.dtype).itemsize, columns // 2

    @cuda.jit
    def one_product(leading_a, stride_a, leading_b, stride_b, out):
        tiles = cuda.shared.array(elements, word, 1024)
        acc = cuda.local.array(results, float32)
        for i in range(cuda.threadIdx.x, elements, THREADS):
            tiles[i] = 0
        fence_proxy()
        cuda.syncthreads()
        b = descriptor(tiles, elements // 2, leading_b, stride_b, swizzle)
        fence_registers()
        if registers:
            zero = float32(0)
            multiply(acc, (zero, zero, zero, zero), b, 0)
        else:
            multiply(acc, descriptor(tiles, 0, leading_a, stride_a, swizzle), b, 0)
        commit_products()
        wait(acc, 0)
        total = float32(0)
        for i in range(results):
            total += acc[i]
        out[cuda.threadIdx.x] = total

    return one_product


@dataclass(frozen=True)
class AccessPattern:
    """One launch: a name, a kernel, its grid and block, and its arguments."""

    name: str
    kernel: Any
    grid: Any
    block: Any
    given: tuple[Any, ...] = field(repr=False)

    def arguments(self) -> tuple[Any, ...]:
        """Fresh arguments: copies of the arrays."""
        return tuple(map(copy, self.given))


def _zeros(*shape: int, dtype: str = "f4") -> np.ndarray:
    return np.zeros(shape, dtype)


def _indices(seed: int = 0) -> dict[str, np.ndarray]:
    """The element that each lane reads, by the name of the pattern."""
    lanes = np.arange(WARP_SIZE)
    return {
        "pairs": lanes // 2,
        "halves": lanes // 16,
        "mirror": lanes ^ 16,
        "interleaved": lanes % 2 * 16 + lanes // 2,
        "random": np.random.default_rng(seed).integers(0, ELEMENTS // 4, WARP_SIZE),
        "random in 64": np.random.default_rng(seed).integers(0, 64, WARP_SIZE),
        "one in two halves": np.where(lanes < 16, lanes, lanes + 240),
        "same bank": lanes % 4 * BANKS,
        "quads": lanes // 4,
        "modulo 2": lanes % 2,
        "modulo 4": lanes % 4,
        "modulo 8": lanes % 8,
        "modulo 16": lanes % 16,
        "lane and lane ^ 2 equal": lanes & ~2,
        "lane and lane ^ 4 equal": lanes & ~4,
        "pairs, eight in one bank": lanes // 2 % 8 * 16,
        "pairs, sixteen in one bank": lanes // 2 * 16,
        "quads, two banks": lanes // 4 * 17,
    }


def _masks() -> dict[str, np.ndarray]:
    """Masks of active lanes, by name."""
    lanes = np.arange(WARP_SIZE)
    chosen = {
        "even lanes": lanes % 2 == 0,
        "odd lanes": lanes % 2 == 1,
        "one lane of four": lanes % 4 == 1,
        "first half": lanes < 16,
        "last half": lanes >= 16,
        "every other eight": lanes // 8 % 2 == 0,
        "all but lane 5": lanes != 5,
        **{f"random mask {seed}": np.random.default_rng(seed).random(WARP_SIZE) < 0.5 for seed in range(3)},
    }
    return {name: mask.astype(np.int32) for name, mask in chosen.items()}


def patterns() -> tuple[AccessPattern, ...]:
    """All launches, in the order in which a profiler sees them."""
    return (*_global(), *_shared(), *_gathered(), *_wide(), *_masked(), *_copies(), *_matrices(), *_products())


def _global() -> Iterator[AccessPattern]:
    """Global memory: strides, element types, blocks, and random elements."""

    def read(name: str, stride: int, start: int = 0, size: int = 256 * 9 + 1, dtype: str = "f4") -> AccessPattern:
        given = _zeros(size, dtype=dtype), stride, start, _zeros(256, dtype=dtype)
        return AccessPattern(f"global {name}", strided, 4, 64, given)

    for stride in (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33):
        yield read(f"float32, stride {stride}", stride, size=256 * 33 + 1)
    for start in (1, 4, 7):
        yield read(f"float32, from element {start}", 1, start, 300)
    for dtype, stride in product(("int8", "int16", "float64", "int64"), (1, 2, 3, 9)):
        yield read(f"{dtype}, stride {stride}", stride, dtype=dtype)
    for threads in (5, 40, 100):
        given: tuple[Any, ...] = _zeros(3 * threads), 1, 0, _zeros(3 * threads)
        yield AccessPattern(f"global float32, {threads} threads a block", strided, 3, threads, given)
    yield AccessPattern("global float32, every third lane", every_third, 4, 64, (_zeros(256), _zeros(256)))
    for seed in range(3):
        chosen = np.random.default_rng(seed).integers(0, 4096, 256)
        yield AccessPattern(f"global float32, random {seed}", gathered, 4, 64, (_zeros(4096), chosen, _zeros(256)))


def _of_warp(name: str, kernel: Any, *given: Any, dtype: str = "f4") -> AccessPattern:
    """A launch of one warp, of which each lane stores one element."""
    return AccessPattern(name, kernel, 1, WARP_SIZE, (*given, _zeros(WARP_SIZE, dtype=dtype)))


def _shared() -> Iterator[AccessPattern]:
    """Shared memory: strides."""
    for stride in (0, 1, 2, 3, 4, 8, 16, 17, 31, 32, 33):
        yield _of_warp(f"shared float32, stride {stride}", shared(float32, times), stride, 0)
        yield _of_warp(f"shared float64, stride {stride}", shared(float64, times), stride, 0, dtype="f8")
    for stride in (1, 3, 4, 32):
        yield _of_warp(f"shared int8, stride {stride}", shared(int8, times), stride, 0, dtype="i1")


def _gathered() -> Iterator[AccessPattern]:
    """Shared memory: elements of 4, 8 and 16 bytes anywhere."""
    random = {f"random {seed}": _indices(seed + 10)["random"] for seed in range(4)}
    for kind, chosen in (_indices() | random).items():
        yield _of_warp(f"shared float32, {kind}", shared(float32), chosen, 0)
        yield _of_warp(f"shared float64, {kind}", shared(float64), chosen, 0, dtype="f8")
        yield _of_warp(f"shared 16 bytes, {kind}", shared(float32, read=four), chosen, 0)


def _wide() -> Iterator[AccessPattern]:
    """Accesses of 16 bytes: strides."""
    for stride in (0, 1, 2, 3, 8):
        yield _of_warp(
            f"shared 16 bytes, stride {stride}", shared(float32, read=four), np.arange(WARP_SIZE) * stride, 0
        )
        yield _of_warp(f"global 16 bytes, stride {stride}", wide_strided, _zeros(1, 4096), stride)


def _masked() -> Iterator[AccessPattern]:
    """Accesses of 8 and 16 bytes to shared memory by some lanes of the warp."""
    indices = {"stride 1": np.arange(WARP_SIZE), **_indices()}
    equal = ("lane and lane ^ 2 equal", "lane and lane ^ 4 equal")
    kinds = ("stride 1", "pairs", "quads", "modulo 8", "same bank", *equal, "random", "random in 64")
    for kind, (mask, active) in product(kinds, _masks().items()):
        yield _of_warp(
            f"shared float64, {kind}, {mask}", shared(float64, listed, some), indices[kind], active, dtype="f8"
        )
        yield _of_warp(f"shared 16 bytes, {kind}, {mask}", shared(float32, listed, some, four), indices[kind], active)


def _copies() -> Iterator[AccessPattern]:
    """Asynchronous copies: spread over shared memory, gathered from global memory, of 16 bytes, and by some lanes."""
    to, of, wide = copied(float32, 1, times, times), copied(float32, 1, times, times), copied(float32, 4, times, times)
    cases: list[tuple[Any, str, Any]] = [(to, f"to stride {s}", (s, 1, 0)) for s in (1, 2, 4, 8, 32, 33)]
    cases += [(of, f"from stride {s}", (1, s, 0)) for s in (0, 1, 2, 3, 8, 9, 16, 32)]
    cases += [(wide, "16 bytes", (1, 1, 0))]
    for kernel, name, places in cases:
        yield _of_warp(f"copied {name}", kernel, _zeros(1, ELEMENTS), *places)
    for size, dtype, kernel in (
        (4, "f4", copied(float32, 1, listed, listed, some)),
        (8, "f8", copied(float64, 1, listed, listed, some)),
        (16, "f4", copied(float32, 4, listed, listed, some)),
    ):
        for name, places in _places(size).items():
            array = _zeros(1, 4 * ELEMENTS, dtype=dtype)
            yield _of_warp(f"copied {size} bytes, {name}", kernel, array, *places, dtype=dtype)


def _places(size: int) -> dict[str, tuple[np.ndarray, ...]]:
    """Return (to, from, active) by name, for copies of `size` bytes; places are in units of that size."""
    lanes, everybody = np.arange(WARP_SIZE), np.ones(WARP_SIZE, np.int32)
    random = [np.random.default_rng(seed).permutation(512)[:WARP_SIZE] for seed in range(6)]
    near = [np.random.default_rng(seed).permutation(64)[:WARP_SIZE] for seed in range(2)]
    found: dict[str, tuple[np.ndarray, ...]] = {
        f"to stride {s}": (s * lanes, lanes, everybody) for s in (1, 2, 3, 4, 5, 8, 9, 15, 16)
    }
    found |= {f"from stride {s}": (lanes, s * lanes, everybody) for s in (0, 1, 2, 3, 4, 5, 8, 9, 16, 32)}
    found |= {f"stride {s} to stride {t}": (t * lanes, s * lanes, everybody) for s, t in ((2, 2), (4, 8), (8, 3))}
    for T in (8, 16, 32):  # a tile of T columns, in rows of T words or of one copy more, from a matrix of 128 columns
        across = T * 4 // size
        row, column = lanes // across, lanes % across
        for more in (0, 1):
            found[f"a tile of {T} in rows of {across + more}"] = (
                row * (across + more) + column,
                row * (512 // size) + column,
                everybody,
            )
    kinds = _indices()
    found |= {f"to {kind}": (kinds[kind], lanes, everybody) for kind in ("mirror", "interleaved")}
    found |= {f"from {kind}": (lanes, kinds[kind], everybody) for kind in ("pairs", "quads", "modulo 8", "mirror")}
    for i in range(3):
        found[f"to random {i}"] = random[i], lanes, everybody
        found[f"from random {i}"] = lanes, random[i], everybody
        found[f"random to random {i}"] = random[i], random[i + 3], everybody
    found |= {f"to random in 64, {i}": (near[i], lanes, everybody) for i in range(2)}
    found |= {f"from random in 64, {i}": (lanes, near[i], everybody) for i in range(2)}
    for mask, active in _masks().items():
        found[f"stride 1, {mask}"] = lanes, lanes, active
        found[f"to stride 2, {mask}"] = 2 * lanes, lanes, active
        found[f"random to random, {mask}"] = random[0], random[3], active
    return found | (_wide_places() if size == 16 else _narrow_places(size))


def _wide_places() -> dict[str, tuple[np.ndarray, ...]]:
    """Places of 16 bytes turned within lines by exclusive or, and the four sectors of each line in every order."""
    lanes, everybody = np.arange(32), np.ones(32, np.int32)
    masks = {name: _masks()[name] for name in ("even lanes", "random mask 0")}
    found: dict[str, tuple[np.ndarray, ...]] = {}
    for turn in range(1, 8):
        found[f"turned by {turn}"] = lanes ^ turn, lanes, everybody
        found |= {f"turned by {turn}, {mask}": (lanes ^ turn, lanes, active) for mask, active in masks.items()}
    for order in permutations(range(4)):
        to = lanes // 8 * 8 + np.array(order)[lanes // 2 % 4] * 2 + lanes % 2
        found[f"sectors in order {order}"] = to, lanes, everybody
    for source in ((0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 0)):
        of = lanes // 8 * 8 + np.array(source)[lanes // 2 % 4] * 2 + lanes % 2
        found[f"two sectors to four, {source}"] = lanes, of, everybody
    return found


def _narrow_places(size: int) -> dict[str, tuple[np.ndarray, ...]]:
    """Few lanes that meet in few banks on both sides, and the first lanes of a random pattern."""
    lanes, banks = np.arange(32), 128 // size
    of, to = (np.random.default_rng(seed).permutation(512)[:32] for seed in (3, 0))
    found: dict[str, tuple[np.ndarray, ...]] = {
        f"random to random, first {count} lanes": (to, of, (lanes < count).astype(np.int32))
        for count in (2, 4, 6, 8, 10, 12, 14, 20, 24, 28)
    }
    for count, width in ((3, 2), (4, 2), (4, 3), (6, 3), (8, 3), (8, 6), (16, 4)):
        for seed in range(4):
            chosen = np.random.default_rng(seed).integers(0, width, (2, 32)) + banks * lanes % 512
            found[f"random to random in {width} banks, {count} lanes, {seed}"] = (
                *chosen,
                (lanes < count).astype(np.int32),
            )
    return found


def _matrices() -> Iterator[AccessPattern]:
    """Loads of matrices whose rows are side by side, in one bank, identical or random."""
    lanes = np.arange(WARP_SIZE)
    rows = {
        "side by side": lanes,
        "two apart": 2 * lanes,
        "four apart": 4 * lanes,
        "in one bank": 8 * lanes,
        "nine apart in each": lanes // 8 + lanes % 8 * 9,
        "all the same": 0 * lanes,
        "pairs": lanes // 2,
        "the same in each": lanes % 8,
        "columns of eight": lanes % 4 * 8 + lanes // 4,
        "turned by the row": lanes // 8 * 64 + (lanes % 8 * 8 + (lanes % 8 ^ lanes // 8)),
        **{f"random {seed}": np.random.default_rng(seed).integers(0, 256, WARP_SIZE) for seed in range(4)},
    }
    for name, where in rows.items():
        yield _of_warp(f"matrices, {name}", matrices, where)


def _products() -> Iterator[AccessPattern]:
    """Products of a warpgroup: widths, swizzles, A in registers, and tiles whose rows overlap."""
    widths, swizzles = (8, 16, 24, 40, 64, 128, 256), (0, 32, 64, 128)
    cases = [(BF16, columns, swizzle, "") for columns in widths for swizzle in swizzles]
    cases += [(TF32, columns, swizzle, "") for columns in (8, 24, 64, 128) for swizzle in (0, 128)]
    cases += [(BF16, columns, 0, how) for columns in (8, 24, 256) for how in (", A in registers", ", on each other")]
    for form, columns, swizzle, how in cases:
        places = (0, 8 * swizzle, 16 * swizzle, 8 * swizzle) if swizzle else (1024, 128, 4096, 128)
        kernel = one_product(form, columns, swizzle, how.endswith("registers"))
        given = *((0, 0, 0, 0) if how.endswith("other") else places), _zeros(THREADS)
        name = f"{PRODUCT} {form.name}, {columns} columns, swizzle {swizzle}{how}"
        yield AccessPattern(name, kernel, 1, THREADS, given)


def launchable(starts: tuple[str, ...] = ("",)) -> list[AccessPattern]:
    """Return the patterns whose name begins with one of `starts` and that this GPU can launch."""
    hopper = tuple(cuda.get_current_device().compute_capability) == HOPPER
    return [p for p in patterns() if p.name.startswith(starts) and (hopper or not p.name.startswith(PRODUCT))]


def launch_patterns(starts: tuple[str, ...] = ("",)) -> None:
    """Launch the patterns of `launchable` once, for a profiler to look at."""
    for pattern in launchable(starts):
        pattern.kernel[pattern.grid, pattern.block](*pattern.arguments())
    cuda.synchronize()


def pattern_counters(names: Names = None) -> Results:
    """Return the requests, sectors and wavefronts of the access patterns whose names begin with one of `names`.

    Without names, those of all patterns.
    """
    starts = tuple(names or ("",))
    chosen = launchable(starts)
    launch = f"from tools.lab.patterns import launch_patterns; launch_patterns({starts!r})"
    wanted = {name: METRICS[name] for name in COUNTS}
    if any(pattern.name.startswith(PRODUCT) for pattern in chosen):
        wanted["product_wavefronts"] = METRICS["product_wavefronts"]
    counted = parse_ncu(under_ncu(["-W", "ignore", "-c", launch], wanted), (0, 0, 0))
    return [{"pattern": p.name, **only(result, wanted)} for p, result in zip(chosen, counted, strict=True)]


def exact_counters(names: Names, size: Size) -> Results:
    """Return requests and sectors of every rung on a small size, for comparison with the simulator."""
    return [only(result, ("rung", *"MNK", *COUNTS)) for result in counters(names, size)]


def only(result: Result, names: Collection[str]) -> Result:
    """Return some entries of a result."""
    return {name: value for name, value in result.items() if name in names}
