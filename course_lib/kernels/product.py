"""Products of any float32 matrices: which tile, how many blocks, and what is left over.

    product(A, B, C)                                 # C = A B, arrays on the GPU
    product(A, B, C, alpha=2, beta=1)                # C = 2 A B + C
    product(A, B, C, transpose_a=True)               # C = Aᵀ B, for A stored as K×M

Why one tile shape is not enough: `best` computes 128×256 results in a block. A GPU of 132 multiprocessors is busy with
132 such tiles and multiples of that; of 133 one is left over, and takes as long as all before it. A result of 512×512
has 8. Smaller tiles are more, but each element in shared memory then serves fewer multiplications. So `plan` predicts,
for a few shapes of tile, how long the slowest multiprocessor takes, and takes the shape with the least:

1. Tiles come in rounds, as many in each as the GPU holds at once. Whole rounds of tiles go to a block each.
2. The tiles of the last round are cut along K into equal shares, one for each block that the GPU holds, if that is
   sooner done, adding up the parts included: 2 partial tiles a block written, read, and a second launch.
3. Results with 4 rows or columns or fewer, and as many beyond the last whole tile, are inner products.
4. Where tiles of 128×256 in whole rounds are soonest done and nothing is transposed or scaled, `best` does them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numba import cuda

from .best import best
from .best import launch as best_launch
from .inner_products import FEW, ROWS, THREADS, WARPS, across, add_thin_parts, along_k
from .tile import ADDERS, UNIT, Form, Tile, add_parts, tile_kernel

#: The shapes, from the fewest loads a multiplication to the most blocks a result; two of them for thin results.
TILES = (
    Tile(128, 256, 8, 16, blocks=1),
    Tile(64, 128, 8, 8, blocks=3),
    Tile(64, 64, 4, 8, blocks=5),
    Tile(32, 32, 4, 4, blocks=10),
    Tile(128, 16, 8, 4, blocks=6),
    Tile(16, 128, 4, 8, blocks=6, lane_rows=4),
)
#: The shape of `best`.
LARGEST = TILES[0]
#: Shapes with a shorter side than this are for results of at most twice that side.
THINNEST, THIN = 32, 2
#: Multiply-adds that a multiprocessor does in a cycle.
LANES = 128
# The rest are cycles of a multiprocessor, fitted to the times of all candidates for 42 sizes on an H200.
#: For each word that a thread reads from shared memory, times its 32 lanes and shared among the multiprocessor's.
READ = 2.9
#: For each element, or four where rows begin on 16 bytes, on its way from global to shared memory; a lane's.
MOVE = 0.4
#: The least for a unit of work, beyond its multiplications, however few warps there are.
LATENCY = 430
#: For a launch and its first loads; for storing each result of a thread; for adding each part of a tile.
START, END, ADD = 11000, 13, 2
#: Bytes of partial sums written and read in a cycle.
PARTIAL_BYTES = 20
#: `best` has one path less through its loop than the tile of the same shape: the share of the time that it takes.
BEST = 0.95
#: The least work for a block, in units of K.
LEAST_UNITS = 2
#: Threads that share the adding of one result where at least so many blocks share a tile.
GROUPS = 16
#: Blocks of inner products that keep a multiprocessor's share of the memory busy.
THIN_BLOCKS = 8


@dataclass(frozen=True)
class Gpu:
    """What the rule asks of a GPU: its multiprocessors."""

    multiprocessors: int


@dataclass(frozen=True)
class ProductPlan:
    """How an M×N product over K is computed.

    tile, or None where `best` computes it all, by `rows`, or inner products do; rows and columns of C in tiles, the
    rest being inner products; blocks with a `whole` tile each and blocks with equal `shares` of the rest; `cycles` is
    the prediction it was chosen by.
    """

    M: int
    N: int
    K: int
    tile: Tile | None = None
    rows: int = 0
    columns: int = 0
    whole: int = 0
    shares: int = 0
    cycles: float = 0.0

    @property
    def units(self):
        """K in units of work, at least one."""
        return max(1, ceil(self.K / UNIT))

    @property
    def kernels(self):
        """What computes it, in a word: the shape of its tiles, `best`, or inner products."""
        return str(self.tile) if self.tile else "best" if self.rows else "inner products"

    @property
    def tiles(self):
        """Tiles of C."""
        return ceil(self.rows / self.tile.rows) * ceil(self.columns / self.tile.columns) if self.tile else 0


def _inside(size, tile_size):
    """Return the rows or columns that tiles compute: all, or whole tiles where only a few are left over."""
    return size - size % tile_size if size > tile_size and size % tile_size <= FEW else size


def _cycles(tile, blocks, units, gpu, wide):
    """Predict the cycles in which the busiest multiprocessor does `blocks` blocks of so many units each."""
    results = tile.thread_rows * tile.thread_columns
    reads = READ * (tile.thread_rows + tile.thread_columns) / results
    moves = MOVE * (tile.rows + tile.columns) * UNIT / (4 if wide else 1) / LANES
    unit = tile.rows * tile.columns * UNIT / LANES * (1 + reads) + moves
    alone = LATENCY + UNIT * results * ceil(tile.threads / LANES) * (1 + reads) + moves
    rounds, rest = divmod(blocks, tile.blocks * gpu.multiprocessors)
    whole_rounds = rounds * max(tile.blocks * unit, alone)
    return units * (whole_rounds + (max(ceil(rest / gpu.multiprocessors) * unit, alone) if rest else 0))


def plans(M, N, K, gpu, wide=True, plain=False):
    """Return the candidates for a product with tiles: every shape, with and without shares.

    wide: the rows of A and B begin on 16-byte boundaries; plain: C = A·B as it stands, which `best` computes too.
    """
    found, units = [], max(1, ceil(K / UNIT))
    for tile in TILES:
        thin = min(tile.rows, tile.columns) < THINNEST
        if thin and THIN * min(tile.rows, tile.columns) < (M if tile.rows < tile.columns else N):
            continue
        rows, columns = _inside(M, tile.rows), _inside(N, tile.columns)
        tiles = ceil(rows / tile.rows) * ceil(columns / tile.columns)
        thin_launches = (rows < M) + (columns < N)
        ends = START * (1 + 2 * thin_launches) + END * tile.thread_rows * tile.thread_columns
        found.append(ProductPlan(M, N, K, tile, rows, columns, tiles, 0, ends + _cycles(tile, tiles, units, gpu, wide)))
        left = tiles % (tile.blocks * gpu.multiprocessors)
        shares = min(tile.blocks * gpu.multiprocessors, left * units // LEAST_UNITS)
        if shares > left:
            cycles = ends + _cycles(tile, tiles - left, units, gpu, wide)
            cycles += _cycles(tile, shares, left * units / shares, gpu, wide)
            parts = 4 * tile.rows * tile.columns * (shares + left)
            cycles += START + ADD * shares / left + parts / PARTIAL_BYTES / gpu.multiprocessors
            found.append(ProductPlan(M, N, K, tile, rows, columns, tiles - left, shares, cycles))
    if plain and wide:
        tiles = ceil(M / LARGEST.rows) * ceil(N / LARGEST.columns)
        ends = START + END * LARGEST.thread_rows * LARGEST.thread_columns
        cycles = ends + BEST * _cycles(LARGEST, tiles, units, gpu, wide)
        found.append(ProductPlan(M, N, K, None, M, N, tiles, 0, cycles))
    return found


def plan(M, N, K, gpu, wide=True, plain=False):
    """Return the ProductPlan of an M×N product over K on `gpu`; wide and plain as in `plans`."""
    if min(M, N) <= FEW:
        return ProductPlan(M, N, K)
    return min(plans(M, N, K, gpu, wide, plain), key=lambda p: p.cycles)


@dataclass(frozen=True)
class Operands:
    """The arrays and numbers of one product, and whether A and B are stored transposed."""

    A: object
    B: object
    C: object
    alpha: object
    beta: object
    transpose_a: bool
    transpose_b: bool

    def form(self, name):
        """Return the Form of A or B."""
        X, along_k = (self.A, not self.transpose_a) if name == "A" else (self.B, self.transpose_b)
        return Form(along_k, is_wide(X))


def is_wide(X):
    """Return whether every row of X begins on a 16-byte boundary, so that 128-bit accesses are possible."""
    if X.shape[1] % 4 or not X.shape[1]:
        return False
    interface = getattr(X, "__cuda_array_interface__", None)
    return interface["data"][0] % 16 == 0 if interface else X.base is None


def plan_of(operands: Operands, M: int, N: int, K: int, gpu: Gpu) -> ProductPlan:
    """Return the ProductPlan of a product of these operands."""
    o = operands
    plain = (o.alpha, o.beta, o.transpose_a, o.transpose_b) == (1, 0, False, False)
    return plan(M, N, K, gpu, is_wide(o.A) and is_wide(o.B), plain)


def partial_elements(p, operands, gpu):
    """Return the float32 elements that the partial sums of the plan's launches need, at least 4."""
    tiled = max(1, 2 * p.shares * p.tile.rows) * p.tile.columns if p.tile else 0
    thin = [region[-1] * region[1] * region[2] for region in _thin_regions(p, operands, gpu)]
    return max(4, tiled, *thin)


def _thin_regions(p, o, gpu):
    """Return (long operand, count, end, first, each, chunk, parts) of every region of inner products."""
    regions = []
    if p.tile is None and p.rows:
        return regions
    if p.tile is None and p.M < p.N:
        regions.append(("B", p.M, p.N, 0))
    elif p.tile is None:
        regions.append(("A", p.N, p.M, 0))
    else:
        if p.columns < p.N:
            regions.append(("A", p.N - p.columns, p.M, p.columns))
        if p.rows < p.M:
            regions.append(("B", p.M - p.rows, p.columns, p.rows))
    found = []
    for name, count, end, first in regions:
        form = o.form(name)
        each, least = (ROWS, 4 * THREADS) if form.along_k else (128 if form.wide else 32, 16 * WARPS)
        parts = min(ceil(THIN_BLOCKS * gpu.multiprocessors / ceil(end / each)), max(1, p.K // least))
        chunk = max(1, ceil(p.K / parts / least)) * least
        found.append((name, count, end, first, each, chunk, max(1, ceil(p.K / chunk))))
    return found


def launches(p, operands, partial, gpu):
    """Return [(kernel, grid, block, arguments)] in order: what a GPU, or the simulator, is to launch for the plan.

    partial: a float32 array of one dimension, of `partial_elements` or more; one launch after the other uses it.
    """
    o, result = operands, []
    if p.tile is None and p.rows:
        return [(best, *best_launch(p.M, p.N, p.K), (o.A, o.B, o.C))]

    def room(rows, columns):
        return partial[: rows * columns].reshape(rows, columns)

    onto, c_wide = o.beta != 0, is_wide(o.C)
    if p.tile:
        a_form, b_form, tile = o.form("A"), o.form("B"), p.tile
        # what a wide load takes beyond the columns in tiles is there, for four at least
        fits = p.rows >= tile.rows and p.columns >= tile.columns and p.K >= UNIT
        kernel = tile_kernel(tile, a_form, b_form, c_wide, fits, onto)
        sizes, sums = (p.rows, p.columns, o.alpha, o.beta), room(max(1, 2 * p.shares * tile.rows), tile.columns)
        result.append((kernel, p.whole + p.shares, tile.threads, (o.A, o.B, o.C, *sizes, p.whole, p.shares, sums)))
        if p.shares:
            left = p.tiles - p.whole
            groups = GROUPS if p.shares >= GROUPS * left else 1
            blocks = left * tile.rows * tile.columns * groups // (4 * ADDERS)
            arguments = (o.C, *sizes, p.units, p.whole, p.shares, sums)
            result.append((add_parts(tile, c_wide, onto, groups), blocks, ADDERS, arguments))
    for name, count, end, first, each, chunk, parts in _thin_regions(p, o, gpu):
        long, short, flipped = (o.A, o.B, False) if name == "A" else (o.B, o.A, True)
        form, short_form = o.form(name), o.form("B" if name == "A" else "A")
        make = along_k if form.along_k else across
        kernel = make(count, form.wide, short_form.along_k, flipped, onto)
        sums = room(parts * count, end)
        arguments = (long, short, o.C, o.alpha, o.beta, end, first, chunk, sums)
        result.append((kernel, (ceil(end / each), parts), THREADS, arguments))
        if parts > 1:
            adder = add_thin_parts(count, flipped, onto)
            arguments = (o.C, o.alpha, o.beta, end, first, parts, sums)
            result.append((adder, ceil(count * end / THREADS), THREADS, arguments))
    return result


#: Memory for the partial sums of a device's stream; a product that needs more makes it larger.
_partial: dict[tuple[int, Any], Any] = {}


def prepare(
    A: Any,
    B: Any,
    C: Any,
    alpha: float = 1.0,
    beta: float = 0.0,
    transpose_a: bool = False,
    transpose_b: bool = False,
    stream: Any = 0,
) -> Callable[[], None]:
    """Return a function that computes C = alpha A·B + beta C on the GPU, whenever it is called.

    A is M×K, or K×M with transpose_a, and B K×N, or N×K with transpose_b. A, B and C are C-ordered float32 arrays on
    the GPU, of numba or of any library with __cuda_array_interface__. As in BLAS, C is not read where beta is 0.
    Products on one stream share the memory for partial sums. Raise ValueError where an array does not fit, and
    TypeError where it is not on the GPU.
    """
    arrays = {}
    for name, X in (("A", A), ("B", B), ("C", C)):
        if not hasattr(X, "__cuda_array_interface__"):
            raise TypeError(f"{name} is not on the GPU: pass numba.cuda.to_device({name})")
        arrays[name] = cuda.as_cuda_array(X)
    M, N, K = _sizes(arrays, transpose_a, transpose_b)
    if 0 in (M, N):
        return lambda: None
    device = cuda.get_current_device()
    gpu = Gpu(int(device.MULTIPROCESSOR_COUNT))
    scalars = np.float32(alpha), np.float32(beta)
    operands = Operands(arrays["A"], arrays["B"], arrays["C"], *scalars, transpose_a, transpose_b)
    p = plan_of(operands, M, N, K, gpu)
    key, elements = (int(device.id), stream), partial_elements(p, operands, gpu)
    if key not in _partial or _partial[key].size < elements:
        _partial[key] = cuda.device_array(elements, np.float32)
    made = [
        (kernel[grid, block, stream], arguments)
        for kernel, grid, block, arguments in launches(p, operands, _partial[key], gpu)
    ]

    def multiply():
        for launch, arguments in made:
            launch(*arguments)

    return multiply


def product(A, B, C, alpha=1.0, beta=0.0, transpose_a=False, transpose_b=False, stream=0):
    """Compute C = alpha A·B + beta C on the GPU; the arguments are those of `prepare`."""
    prepare(A, B, C, alpha, beta, transpose_a, transpose_b, stream)()


def _sizes(arrays, transpose_a, transpose_b):
    """Return (M, N, K); raise ValueError with one sentence where the arrays do not fit each other."""
    for name, X in arrays.items():
        if X.ndim != 2 or X.dtype != np.float32 or not X.is_c_contiguous():
            raise ValueError(f"{name} must be a C-ordered float32 matrix; it has {X.ndim} dimensions of {X.dtype}")
    (M, K), (L, N) = arrays["A"].shape, arrays["B"].shape
    if transpose_a:
        M, K = K, M
    if transpose_b:
        L, N = N, L
    if K != L or arrays["C"].shape != (M, N):
        shapes = " and ".join(f"{name} {X.shape[0]}×{X.shape[1]}" for name, X in arrays.items())
        raise ValueError(f"the product of {M}×{K} and {L}×{N} does not go into C as it stands: {shapes}")
    return M, N, K
