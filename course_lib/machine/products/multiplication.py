"""Products of any float32 matrices: the choice of a tile, of the number of blocks, and of kernels for the edges.

    product(A, B, C)                                 # C = A B, arrays on the GPU
    product(A, B, C, alpha=2, beta=1)                # C = 2 A B + C
    product(A, B, C, transpose_a=True)               # C = Aᵀ B, for A stored as K×M

Why one tile shape is not enough: `best` computes 128×256 results in a block. A GPU of 132 multiprocessors is busy with
132 such tiles and multiples of that; of 133 one is left over, and takes as long as all before it. A result of 512×512
has 8. Smaller tiles are more, but each element in shared memory then serves fewer multiplications. So `plan` predicts,
for fourteen shapes of tile, how long the slowest multiprocessor takes (planning.py), and chooses the minimum:

1. Tiles come in rounds, as many in each as the GPU holds at once. In whole rounds each tile has a block of its own.
2. The tiles of the last round are divided along K into equal shares, one for each block that the GPU holds, if that is
   faster with the addition of parts included: up to 2 partial tiles a block, written, then read by its last block.
3. Results with 4 columns, 2 rows or fewer may be inner products, and up to 4 of either beyond the last whole tile.
4. A and B may first be copied into rows that begin on 16-byte boundaries, if their own do not.
5. Where tiles of 128×256 in whole rounds are fastest and nothing is transposed or scaled, `best` computes them.
6. Products with a short K, or with few results, are computed without shared memory (direct.py), if that is faster.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ...kernels.best import best
from ...kernels.best import launch as best_launch
from .direct import THREADS as DIRECT_THREADS
from .direct import direct
from .inner_products import THREADS, THREADS_ACROSS, across, along_k, split
from .planning import TILES, Gpu, ProductPlan, plan, plans
from .tile import tile_kernel
from .tile_loads import LoadForm
from .widened import launch as widened_launch
from .widened import widened

__all__ = [
    "TILES",
    "Gpu",
    "Operands",
    "ProductPlan",
    "launches",
    "plan",
    "plan_of",
    "plans",
    "prepare",
    "product",
    "steps",
    "workspace",
]

#: The least number of tickets to allocate, and the float32 elements of a line of memory.
TICKETS, LINE = 4096, 32


@dataclass(frozen=True)
class Operands:
    """The arrays and scalars of one product, whether A and B are stored transposed, and whether they are copies."""

    A: object
    B: object
    C: object
    alpha: object
    beta: object
    transpose_a: bool
    transpose_b: bool
    copied: bool = False

    def form(self, name):
        """Return the LoadForm of A or B."""
        X, along_k = (self.A, not self.transpose_a) if name == "A" else (self.B, self.transpose_b)
        return LoadForm(along_k, self.copied or is_wide(X))

    def copies(self, K):
        """Return (matrix, rows and columns of its copy) of A and B; K is rounded up to a multiple of 4 in both."""
        deep = 4 * ceil(K / 4)
        shapes = []
        for X, name in ((self.A, "A"), (self.B, "B")):
            rows, columns = X.shape
            shapes.append((X, (rows, deep) if self.form(name).along_k else (deep, 4 * ceil(columns / 4))))
        return shapes


def is_wide(X):
    """Return whether every row of X begins on a 16-byte boundary, so that 128-bit accesses are possible.

    A NumPy array belongs to the simulator, where the base of every allocation is so aligned.
    """
    if X.shape[1] % 4 or not X.shape[1]:
        return False
    interface = getattr(X, "__cuda_array_interface__", None)
    address = interface["data"][0] if interface else X.ctypes.data - (X if X.base is None else X.base).ctypes.data
    return address % 16 == 0


def plan_of(operands: Operands, M: int, N: int, K: int, gpu: Gpu) -> ProductPlan:
    """Return the ProductPlan of a product of these operands."""
    o = operands
    plain = (o.alpha, o.beta, o.transpose_a, o.transpose_b) == (1, 0, False, False)
    return plan(M, N, K, gpu, is_wide(o.A) and is_wide(o.B), plain)


def workspace(p, operands, gpu):
    """Return the float32 elements that the plan's launches need for partial sums and copies, and the uint32 tickets."""
    if p.direct:
        return _lines(p.parts * p.M * p.N if p.parts > 1 else 4), max(4, prod(p.direct.blocks(p.M, p.N)))
    o = replace(operands, copied=p.copied)
    thin = [(parts * count * end, ceil(end / each)) for _, count, end, _, each, _, parts in _thin(p, o, gpu)]
    copies = sum(_lines(rows * columns) for _, (rows, columns) in o.copies(p.K)) if p.copied else 0
    return _partial_elements(p, thin) + copies, max(4, p.tiles - p.whole, *(tickets for _, tickets in thin))


def _partial_elements(p, thin):
    """Return the float32 elements of partial sums, whole lines, after which the copies follow."""
    tiled = 2 * p.shares * p.tile.rows * p.tile.columns if p.tile else 0
    return _lines(max(4, tiled, *(sums for sums, _ in thin)))


def _lines(elements):
    """Return a number of float32 elements rounded up to whole lines of 128 bytes, which take the fewest sectors."""
    return LINE * ceil(elements / LINE)


def _thin(p, o, gpu):
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
        found.append((name, count, end, first, *split(end, p.K, form.along_k, form.wide, gpu.multiprocessors)))
    return found


class LaunchStep(NamedTuple):
    """A launch: its kernel, the parameters of that kernel, the grid, the block, and the arguments.

    `kernel` is "best" or "widened", without parameters; "tiles", with those of `tile_kernel`; or "along_k", "across" or
    "direct", with those of the functions of that name.
    """

    kernel: str
    made: tuple[Any, ...]
    grid: Any
    block: Any
    arguments: tuple[Any, ...]


def steps(p, operands, partial, tickets, gpu):
    """Return the plan's launches in order.

    partial: a one-dimensional float32 array of whole lines; tickets: a uint32 array of zeros; both at least as large as
    `workspace` returns. One launch after the other uses them, and leaves the tickets zero.
    """
    o, result = operands, []
    if p.tile is None and p.rows:
        return [LaunchStep("best", (), *best_launch(p.M, p.N, p.K), (o.A, o.B, o.C))]

    def room(*shape):
        return partial[: prod(shape)].reshape(shape)

    onto, c_wide = o.beta != 0, is_wide(o.C)
    if p.direct:
        sums = room(p.parts, p.M, p.N) if p.parts > 1 else room(1, 1, 4)
        made = p.direct, o.form("A").along_k, o.form("B").along_k, onto
        arguments = (o.A, o.B, o.C, o.alpha, o.beta, p.K, max(1, ceil(p.K / p.parts)), sums, tickets)
        return [LaunchStep("direct", made, (*p.direct.blocks(p.M, p.N), p.parts), DIRECT_THREADS, arguments)]
    if p.copied:
        copies, begin = [], partial.size
        for X, (rows, columns) in o.copies(p.K):
            begin -= _lines(rows * columns)
            copies.append(partial[begin : begin + rows * columns].reshape(rows, columns))
            result.append(LaunchStep("widened", (), *widened_launch(rows, columns), (X, copies[-1])))
        o = replace(o, A=copies[0], B=copies[1], copied=True)
    if p.tile:
        tile = p.tile
        # A wide load may exceed the columns of the tiles, by less than four, if elements exist there.
        fits = p.rows >= tile.rows and p.columns >= tile.columns and p.K >= tile.depth
        sizes = p.rows, p.columns, o.alpha, o.beta
        sums = room(2 * p.shares, tile.rows * tile.columns) if p.shares else room(1, 4)
        arguments = (o.A, o.B, o.C, *sizes, p.whole, p.shares, sums, tickets)
        made = tile, o.form("A"), o.form("B"), c_wide, fits, onto, p.short
        result.append(LaunchStep("tiles", made, p.whole + p.shares, tile.threads, arguments))
    for name, count, end, first, each, chunk, parts in _thin(p, o, gpu):
        long, short, flipped = (o.A, o.B, False) if name == "A" else (o.B, o.A, True)
        form, short_form = o.form(name), o.form("B" if name == "A" else "A")
        kernel, threads = ("along_k", THREADS) if form.along_k else ("across", THREADS_ACROSS)
        made = count, form.wide, short_form.along_k, flipped, onto
        arguments = (long, short, o.C, o.alpha, o.beta, end, first, chunk, room(parts * count, end), tickets)
        result.append(LaunchStep(kernel, made, (ceil(end / each), parts), threads, arguments))
    return result


def _kernel(step):
    """Return the compiled or simulated kernel of a LaunchStep."""
    if step.kernel in ("best", "widened"):
        return best if step.kernel == "best" else widened
    return {"tiles": tile_kernel, "direct": direct, "along_k": along_k, "across": across}[step.kernel](*step.made)


def launches(p, operands, partial, tickets, gpu):
    """Return [(kernel, grid, block, arguments)] in order, as a GPU or the simulator launches `steps`."""
    return [(_kernel(s), s.grid, s.block, s.arguments) for s in steps(p, operands, partial, tickets, gpu)]


#: Partial sums and tickets for each device and stream; a product that needs more enlarges them.
_workspace: dict[tuple[int, Any], tuple[Any, Any]] = {}


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
    the GPU, of numba or of any library with __cuda_array_interface__. As in BLAS, C is not read if beta is 0. Products
    on one stream share the memory for partial sums. Raise ValueError if shapes do not fit each other, and TypeError if
    an array is not on the GPU.
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
    key, (elements, count) = (int(device.id), stream), workspace(p, operands, gpu)
    partial, tickets = _workspace.get(key, (None, None))
    if partial is None or partial.size < elements:
        partial = cuda.device_array(elements, np.float32)
    if tickets is None or tickets.size < count:
        tickets = cuda.to_device(np.zeros(max(count, TICKETS), np.uint32))
    _workspace[key] = partial, tickets
    made = [
        (kernel[grid, block, stream], arguments)
        for kernel, grid, block, arguments in launches(p, operands, partial, tickets, gpu)
    ]

    def multiply():
        for launch, arguments in made:
            launch(*arguments)

    return multiply


def product(A, B, C, alpha=1.0, beta=0.0, transpose_a=False, transpose_b=False, stream=0):
    """Compute C = alpha A·B + beta C on the GPU; the arguments are those of `prepare`."""
    prepare(A, B, C, alpha, beta, transpose_a, transpose_b, stream)()


def _sizes(arrays, transpose_a, transpose_b):
    """Return (M, N, K); raise ValueError with one sentence if the arrays do not fit each other."""
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
        raise ValueError(f"the product of {M}×{K} and {L}×{N} does not fit C: {shapes}")
    return M, N, K
