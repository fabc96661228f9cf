"""The exercises of the lesson on coalescing: x along the row, and a transpose in shared memory."""

import numpy as np

from ..grading.budgets import barriers, sectors_per_request
from ..grading.exercise import TILE, Array, GridAndBlock, Shape, Task, fill_in, make_cheaper
from ..grading.explain import Explanation
from ..grading.lines import store_lines
from ..grading.matrix_product import grid_over, one_array, result_is, shows
from .lesson_01_threads_and_data import OWN_ELEMENT
from .lesson_04_tiling import GRAM


def _aligned(shape: Shape) -> bool:
    """Whether rows begin on a sector: then a warp, 2 rows of 16 threads or 4 of 8, loads 4 sectors."""
    return not any(size % 8 for size in shape)


_ONE_ITERATION_ALONE = shows(
    lambda outcome: np.isfinite(outcome.got).mean() == 1 / 4,
    "only a quarter of the elements is stored: each iteration must use different ones, so the index needs step.",
    store_lines,
)


_FOUR_NEIGHBOURS = (
    "in one iteration neighbouring lanes use elements that are four apart, or more: let lane t use element t of 32 "
    "neighbours, and let each iteration use the next 32."
)

#: Four elements for each thread: in each iteration those of a warp are neighbours.
SIDE_BY_SIDE = fill_in(
    "side-by-side",
    Task(
        ("A", "C"),
        one_array,
        lambda A: 2 * A,
        lambda n: ((n // 128,), (32,)),
        shapes=((128,), (256,), (384,)),
        element="C[i] = float32(2) * A[i]",
        sizes="n",
        elements_per_thread=lambda n: 4,
    ),
    sectors_per_request("A", "4", _FOUR_NEIGHBOURS, places=True),
    sectors_per_request("C", "4", _FOUR_NEIGHBOURS, op="store", places=True),
    hints={
        "out-of-bounds": "a block has 128 elements: the first one is 128 * blockIdx.x, and the last one is 127 places "
        "further.",
        "race": "two threads store into the same element: the index needs the block, the iteration and the thread, "
        "and each block begins 128 elements after the one before it.",
    },
    diagnoses=(_ONE_ITERATION_ALONE,),
    why="in blocks of one warp, both kernels take as long as one that does nothing, as the GPU cannot start the blocks "
    "faster. In blocks of eight warps it starts an eighth of the blocks. There four neighbours for each thread, which "
    "are four times as many sectors in each request, take nearly twice as long.",
)


_TURNED = result_is(
    lambda A: 2 * A.T,
    "this is the transposed matrix: row and col have changed places in one access, and not in the other.",
    lines=store_lines,
)

_STILL_DOWN = (
    "neighbouring threads, which differ in threadIdx.x, still use neighbouring rows: the column must come from "
    "blockIdx.x, blockDim.x and threadIdx.x, the row from y."
)


def _square_grid(rows: int, columns: int) -> GridAndBlock:
    """Blocks of 16×16 threads, equally many in both directions, so that x may count columns or rows."""
    return grid_over(16, 16)(max(rows, columns), max(rows, columns))


#: A matrix doubled, with x along the rows.
ALONG_THE_ROW = make_cheaper(
    "along-the-row",
    OWN_ELEMENT.task.replace(
        launch=_square_grid,
        shapes=((32, 32), (48, 48), (40, 40), (21, 21), (37, 26)),
        finished_launch=grid_over(16, 16),
    ),
    """@cuda.jit
def double(A, C):
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    col = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row < A.shape[0] and col < A.shape[1]:
        C[row, col] = float32(2) * A[row, col]
""",
    sectors_per_request("A", "4", _STILL_DOWN, _aligned, places=True),
    sectors_per_request("C", "4", _STILL_DOWN, _aligned, op="store", places=True),
    hints={
        "out-of-bounds": "the guard compares row with A.shape[0], the number of rows, and col with A.shape[1].",
        "race": "two threads store into the same element: row and col each need the block, its width and the thread.",
    },
    diagnoses=(_TURNED,),
)


def _tiles_moved(A: Array) -> Array | None:
    """The tiles in their new places, but not transposed themselves."""
    rows, columns = A.shape
    if rows % TILE or columns % TILE:
        return None
    return A.reshape(rows // TILE, TILE, columns // TILE, TILE).transpose(2, 1, 0, 3).reshape(columns, rows)


_TILES_NOT_TURNED = result_is(
    _tiles_moved,
    "each tile is in its new place, but is not transposed itself: store tile[tx, ty], not tile[ty, tx].",
    lines=store_lines,
)

_ALONG_A = "tx must run along a row of A when the tile is loaded: tile[ty, tx] = A[row, col]."
_ALONG_C = (
    "neighbouring threads store into neighbouring rows of C. Let tx count columns of C, and exchange the indices when "
    "you read the tile: tile[tx, ty]."
)

#: C = Aᵀ, with both accesses to global memory coalesced.
TURN_A_TILE = fill_in(
    "turn-a-tile",
    OWN_ELEMENT.task.replace(
        answer=lambda A: A.T,
        launch=grid_over(TILE, TILE),
        shapes=((16, 16), (24, 8), (8, 40), (13, 21), (1, 1)),
        element="C[col, row] = A[row, col]",
    ),
    sectors_per_request("A", "4", _ALONG_A, _aligned),
    sectors_per_request("C", "4", _ALONG_C, _aligned, op="store"),
    barriers("1", "one barrier is enough: between filling the tile and reading it."),
    hints={
        "out-of-bounds": "the load is guarded by A's shape, the store by C's: C has as many rows as A has columns. And "
        "the tile's place in C is blockIdx.x for its rows, blockIdx.y for its columns.",
        "race": "a thread reads an element of the tile that another thread stores: all must wait in between.",
        "uninitialized-read": "an element of the tile is read, but no thread stored it: fill the tile first, and wait. "
        "And the tile's place in C is blockIdx.x for its rows, blockIdx.y for its columns.",
        "barrier-divergence": "every thread must reach the barrier, also those outside A: keep it out of any if.",
    },
    diagnoses=(_TILES_NOT_TURNED,),
    why="in blocks of 8×8 threads, both kernels take as long as one that does nothing, as the GPU cannot start a "
    "million blocks faster. In blocks of 32×32 threads, stores down the columns need eight times as many sectors as "
    "stores from the tile, and take longer.",
)

SAME_LOADS = Explanation(
    name="same-loads",
    model="The lanes of a warp make one request together, and memory delivers sectors of 32 bytes. Neighbouring "
    "addresses share a sector, up to 8 float32 in one. Addresses that are far apart need a sector each, of which 28 "
    "bytes are not used.",
    ideas=(
        "a warp's lanes make one request together",
        "neighbouring addresses share a sector",
        "addresses that are far apart need a sector each",
    ),
)

EXERCISES = (SIDE_BY_SIDE, ALONG_THE_ROW, TURN_A_TILE, SAME_LOADS)
OPTIONAL = (GRAM,)
