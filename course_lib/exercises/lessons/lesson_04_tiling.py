"""The exercises of the lesson on tiling."""

import numpy as np

from ..grading.budgets import barriers, global_loads, global_stores, sectors_per_request
from ..grading.exercise import TILE, Array, Outcome, Task, fill_in, find_bug, make_cheaper
from ..grading.explain import Explanation
from ..grading.grades import whole_numbers
from ..grading.lines import index_computation_lines, load_lines, outermost_sum_loops, union_of_lines
from ..grading.matrix_product import (
    ITERATIONS_OF_TILES,
    PRODUCT,
    last_of_each_tile_missing,
    last_tile_missing,
    launch_per_element,
    result_is,
    shows,
    sums_take,
)

_ONLY_LAST_TILE = sums_take(
    lambda K: range((K - 1) // TILE * TILE, K),
    "only the last pair of tiles is in the sums: acc must keep its value from tile to tile.",
    lines=outermost_sum_loops,
)

#: The inner loop of the tiled kernel, with exactly the barriers that it needs.
BARRIERS = fill_in(
    "barriers",
    PRODUCT,
    global_loads(
        "2·⌈K/T⌉",
        "multiply the elements of A_tile and B_tile, which are in shared memory, and do not load from A and B again.",
    ),
    barriers(
        "2·⌈K/T⌉",
        "two barriers for each pair of tiles are enough: one when the tiles are full, one when they have been used.",
    ),
    ITERATIONS_OF_TILES,
    hints={
        "race": "nothing orders a store into a tile and a read of it: two moments need a barrier, when the tiles have "
        "been filled, and when all threads have finished with them.",
        "uninitialized-read": "a thread multiplies elements that no thread has stored yet: wait until the tiles are "
        "full.",
        "barrier-divergence": "every thread of the block must reach the barrier: keep it out of any if on row, col, "
        "tx or ty.",
        "out-of-bounds": "the sum takes its elements from the tiles; A and B are loaded only to fill them, "
        "where the two "
        "conditions hold, and C is stored only where row < M and col < N.",
        "out-of-bounds in shared memory": "a tile has TILE rows and TILE columns, whichever pair it holds: its indices "
        "are tx, ty, and a k from range(TILE), not row, col or start.",
    },
    diagnoses=(last_of_each_tile_missing, _ONLY_LAST_TILE, last_tile_missing),
)


def _second_tile(outcome: Outcome) -> list[int]:
    """The line that loads the second tile from A: the last of those that fill a tile."""
    return [max(load_lines("A")(outcome), default=0)]


_SQUARE = result_is(
    lambda A: A @ A if A.shape[0] == A.shape[1] else None,
    "this is A·A: element (row, col) of A·Aᵀ multiplies row `row` of A with row `col` of A.",
    lines=_second_tile,
)


def _right_on_the_diagonal(outcome: Outcome) -> bool:
    rows, columns = (np.arange(size) // TILE for size in outcome.want.shape)
    diagonal = rows[:, None] == columns
    return not diagonal.all() and np.array_equal(outcome.got[diagonal], outcome.want[diagonal])


_DIAGONAL_TILES_ONLY = shows(
    _right_on_the_diagonal,
    "only the tiles on the diagonal are right: the second tile holds the rows of A that start at blockIdx.x * T, not "
    "at blockIdx.y * T.",
    union_of_lines(index_computation_lines(_second_tile, threads=True), _second_tile),
)


def _rows_by_column(A: Array) -> Array | None:
    """The result if a thread loads from row ``col``, which goes with tx, not with ty."""
    M, K = A.shape
    if M % TILE or K % TILE:
        return None
    carried = np.array([[A[col // TILE * TILE + k % TILE, k] for k in range(K)] for col in range(M)])
    return A @ carried.T


_ONE_ROW_FOR_A_COLUMN_OF_THREADS = result_is(
    _rows_by_column,
    "cols[ty, tx] is filled from row blockIdx.x * TILE + tx: row ty of the second tile holds row blockIdx.x * TILE + "
    "ty of A, so the row must use ty.",
    lines=union_of_lines(index_computation_lines(_second_tile, threads=True), _second_tile),
)

#: C = A·Aᵀ by tiles; both tiles come from A.
GRAM = fill_in(
    "gram",
    Task(
        ("A", "C"),
        lambda rng, M, N, K: (whole_numbers(rng, M, K),),
        lambda A: A @ A.T,
        launch_per_element,
        shapes=((16, 16, 16), (13, 13, 26), (21, 21, 5), (24, 24, 32), (1, 1, 1)),  # C is M×M, so N = M
        element="C[row, col] = sum(A[row, k] * A[col, k] for k in range(A.shape[1]))",
    ),
    global_loads("2·⌈K/T⌉", "load one element of each tile per thread, and read the rest from shared memory."),
    sectors_per_request(
        "A",
        "one per row of the tile: 4",
        "neighbouring threads (tx) load from different rows of A. Let tx run along the row, as in the first tile, and "
        "exchange the indices when you read the tile.",
        lambda shape: shape[2] % TILE == 0 and shape[0] % TILE == 0,
        limit="4",
    ),
    sectors_per_request(
        "C",
        "one per row of the tile: 4",
        "neighbouring threads (tx) store into different rows of C: A·Aᵀ is its own transpose, so the values do not "
        "show it, but C[row, col] is the element beside your neighbour's.",
        lambda shape: shape[0] % TILE == 0,
        limit="4",
        op="store",
    ),
    barriers(
        "2·⌈K/T⌉", "two barriers per pair of tiles are enough: one when the tiles are full, one when they are used."
    ),
    ITERATIONS_OF_TILES,
    hints={
        "race": "one thread writes a tile while another still reads it: wait when the tiles have been filled, and "
        "again when all threads have finished with them.",
        "out-of-bounds": "the second tile's load has a guard of its own: it tests the row that it really loads from, "
        "which is not `row`, and the column, start + tx < K.",
    },
    diagnoses=(_SQUARE, _DIAGONAL_TILES_ONLY, _ONE_ROW_FOR_A_COLUMN_OF_THREADS),
)


_NOT_TRANSPOSED = result_is(
    lambda At, B: At @ B if At.shape[0] == At.shape[1] else None,
    "At was read as if it were A: element (row, start + tx) of A is at At[start + tx, row].",
    lines=load_lines("At"),
)


def _places_exchanged(At: Array, B: Array) -> Array | None:
    """The result if the place [tx, ty] is filled with the element for [ty, tx]: the row of C goes with ty."""
    K, M = At.shape
    own = np.array([[At[k, row // TILE * TILE + k % TILE] for k in range(K)] for row in range(M)])
    return own @ B if M * K > 1 else None


_TRANSPOSED_IN_THE_TILE = result_is(
    _places_exchanged,
    "row depends on ty, so this thread fills [ty, tx]: the element of A in that place is (row, start + tx), and "
    "in At its row is the second index.",
    lines=load_lines("At"),
)

_FIRST_PAIR_AGAIN = result_is(
    lambda At, B: At.shape[0] // TILE * (At[:TILE].T @ B[:TILE]),
    "every iteration multiplies the first pair again: start, where the pair of this iteration begins, is missing from "
    "the loads.",
    lines=load_lines("At", "B"),
)


_BARRIERS_OF_EVEN = barriers(
    "2·K/T",
    "two barriers for each pair of tiles are enough: one when the tiles are full, one when they have been used.",
)
_LOADS_OF_EVEN = global_loads("2·K/T", "each thread copies only one element of each tile.")
_EVEN_SHAPES = ((16, 16, 16), (8, 24, 16), (24, 8, 8), (8, 8, 32))

#: The two lines that load the tiles, if A is stored transposed.
TILES_OF_TRANSPOSE = fill_in(
    "tiles-of-transpose",
    Task(
        ("At", "B", "C"),
        lambda rng, M, N, K: (whole_numbers(rng, K, M), whole_numbers(rng, K, N)),
        lambda At, B: At.T @ B,
        launch_per_element,
        shapes=_EVEN_SHAPES,
        element="C[row, col] = sum(At[k, row] * B[k, col] for k in range(B.shape[0]))",
    ),
    _LOADS_OF_EVEN,
    _BARRIERS_OF_EVEN,
    given_lines=("acc += A_tile[ty, k] * B_tile[k, tx]",),
    hints={
        "out-of-bounds": "At has K rows and M columns: its first index begins at start, its second is the row of C. In "
        "B the first index begins at start, and the second is the column of C.",
        "uninitialized-read": "an element of a tile is read, but no thread stored it: each thread fills its own "
        "place, [ty, tx].",
        "race": "one thread stores into a tile while another still reads it, or reads what is not stored yet: "
        "keep both "
        "barriers, one when the tiles are full, one when all threads have used them.",
        "race of two stores": "two threads store into the same place of a tile: each fills its own place, [ty, tx].",
    },
    diagnoses=(_NOT_TRANSPOSED, _TRANSPOSED_IN_THE_TILE, _FIRST_PAIR_AGAIN),
)

_RACE = {
    "race": "nothing orders a store into a tile and a read of it. Every iteration of the loop over the tiles needs two "
    "barriers: one when the tiles are full, one after the loop along them.",
    "uninitialized-read": "a thread multiplies elements that no thread has stored yet: wait until the tiles are full.",
    "barrier-divergence": "every thread of the block must reach the barrier: keep it out of any if.",
}

#: A barrier in the inner loop, as in the blog post.
TOO_DEEP = make_cheaper(
    "too-deep",
    PRODUCT.replace(shapes=_EVEN_SHAPES),
    """@cuda.jit
def too_deep(A, B, C):
    A_tile = cuda.shared.array((TILE, TILE), float32)
    B_tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    acc = float32(0)
    for start in range(0, A.shape[1], TILE):
        A_tile[ty, tx] = A[row, start + tx]
        B_tile[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += A_tile[ty, k] * B_tile[k, tx]
            cuda.syncthreads()
    C[row, col] = acc
""",
    _LOADS_OF_EVEN,
    _BARRIERS_OF_EVEN,
    hints=_RACE,
    diagnoses=(last_of_each_tile_missing, _ONLY_LAST_TILE),
)

#: Sankar's tiled kernel: one barrier, and a store for each pair of tiles.
REPORT_TILED = find_bug(
    "report-tiled",
    PRODUCT.replace(shapes=((16, 16, 16), (8, 8, 8), (24, 24, 24))),
    """@cuda.jit
def report_tiled(A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty
    Cv = float32(0)
    for k in range(A.shape[1] // TILE):
        As[ty, tx] = A[row, k * TILE + tx]
        Bs[ty, tx] = B[k * TILE + ty, col]
        cuda.syncthreads()
        for i in range(TILE):
            Cv += As[ty, i] * Bs[i, tx]
        C[row, col] = Cv
""",
    global_loads("2·n/T", "one element of each tile per thread is enough.", limit="2·K/T"),
    global_stores("n²", "C is stored for each pair of tiles: store it at the end.", limit="M·N"),
    _BARRIERS_OF_EVEN,
    hints=_RACE,
    diagnoses=(last_of_each_tile_missing, _ONLY_LAST_TILE),
)

TWO_BARRIERS = Explanation(
    name="two-barriers",
    model="Without the first, a thread may multiply with elements of the tile that another thread has not stored yet. "
    "Without the second, a fast warp overwrites this pair with the next one while a slow warp still reads it.",
    ideas=(
        "without the first: elements are read before they are stored",
        "without the second: the tile is overwritten while it is read",
    ),
)

EXERCISES = (TILES_OF_TRANSPOSE, TOO_DEEP, BARRIERS, TWO_BARRIERS)
OPTIONAL = (REPORT_TILED,)
