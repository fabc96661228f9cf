"""The exercises of the lesson on the way to cuBLAS: 128-bit accesses, what a step gains, and rectangular tiles."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..grading.budgets import barriers, conflicts, global_loads, global_stores, sectors_per_request, shared_loads
from ..grading.exercise import FILL_IN, TILE, Diagnosis, Outcome, Task, fill_in, find_bug, make_cheaper
from ..grading.explain import Explanation
from ..grading.lines import load_lines
from ..grading.matrix_product import PRODUCT, grid_over, one_array, result_is, shows
from ..grading.routines import Case, routine

#: Neighbouring float32 in one access.
VECTOR = 4
#: The threads of a block, side by side and one above the other, and the depth of its tiles.
SIDE = 8
#: Columns of C for one block, four to a thread.
COLUMNS = VECTOR * SIDE

_launch_vectors = grid_over(SIDE, COLUMNS, block=(SIDE, SIDE))


def _stored(columns: Callable[[NDArray[np.int_], int], NDArray[np.bool_]], advice: str) -> Diagnosis:
    """Recognise an output of which only these columns, of N, are stored, and those are right."""

    def alone(outcome: Outcome) -> bool:
        N = outcome.want.shape[1]
        kept = columns(np.arange(N), N)
        right = np.array_equal(outcome.got[:, kept], outcome.want[:, kept])
        return right and bool(np.isnan(outcome.got[:, ~kept]).all())

    return shows(alone, advice)


_EVERY_FOURTH_COLUMN = _stored(
    lambda col, N: col % VECTOR == 0,
    "only every fourth column is stored: a thread copies four elements, those of columns col to col + 3.",
)

_REST_NOT_STORED = _stored(
    lambda col, N: col < N // VECTOR * VECTOR,
    "the last one to three columns are never stored where 4 does not divide N.",
)


_COPY = Task(
    ("A", "C"),
    one_array,
    lambda A: A.copy(),
    _launch_vectors,
    shapes=((16, 64), (13, 37), (5, 4), (6, 3), (7, 34), (1, 1)),
    element="C[row, col] = A[row, col]",
    sizes="(M, N)",
    elements_per_thread=lambda M, N: VECTOR,
)

#: A row is copied in pieces of four elements.
FOUR_AT_ONCE = fill_in(
    "four-at-once",
    _COPY.replace(shapes=((16, 64), (13, 36), (5, 4), (1, 128))),  # 4 divides N, as the exercise promises
    global_loads("1", "load4 loads all four elements in one access."),
    global_stores("M·N/4", "store4 stores all four in one access."),
    hints={
        "out-of-bounds": "the first index is the row, the second is col. col is already the first of the thread's "
        "four columns, so do not multiply it again.",
        "misaligned-access": "load4 and store4 need a column that is a multiple of 4, and col is one.",
    },
    diagnoses=(_EVERY_FOURTH_COLUMN,),
)

#: The copy for every width: rows that do not begin on 16-byte boundaries are copied element by element.
ANY_WIDTH = find_bug(
    "any-width",
    _COPY,
    """def any_width(A, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = 4 * (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    if row < A.shape[0] and col < A.shape[1]:
        store4(C, row, col, load4(A, row, col))
""",
    global_loads(
        "1 where 4 divides N, else 4",
        "where 4 divides N, every row begins at a multiple of 16 bytes, and one load4 for each thread is enough.",
        limit="1 if N % 4 == 0 else 4",
    ),
    global_stores(
        "M·N/4 where 4 divides N, else M·N",
        "store every element once, four at a time where 4 divides N.",
        limit="M·N/4 if N % 4 == 0 else M·N",
    ),
    hints={
        "out-of-bounds": "with N = 37 the last thread of a row begins at column 36, and columns 37 to 39 do not exist.",
        "misaligned-access": "with N = 37, row 1 begins 37 elements after row 0, and 37 is not a multiple of 4. For "
        "which N may a kernel use load4?",
        "race": "a thread copies its four elements, col to col + 3. Other threads copy the rest of the row.",
    },
    diagnoses=(_REST_NOT_STORED, _EVERY_FOURTH_COLUMN),
)


_ONE_FRAGMENT_FOR_ALL = shows(
    lambda outcome: (
        np.unique(outcome.got).size > len(outcome.got)
        and np.array_equal(outcome.got, outcome.got[:, np.arange(outcome.got.shape[1]) // VECTOR * VECTOR])
    ),
    "all four results of a thread are the same: acc[e] needs element e of the four elements of B.",
)

_COLUMNS_OF_FIRST_BLOCK = result_is(
    lambda A, B: A @ B[:, np.arange(B.shape[1]) % COLUMNS],
    "every block reads the first 32 columns of B: a thread's columns begin at col in B and C, and at n in the tile.",
    lines=load_lines("B"),
)


#: A tiled kernel with four neighbouring results a thread: all its accesses to B and C become 128-bit ones.
WIDE = make_cheaper(
    "wide",
    PRODUCT.replace(
        shapes=((8, 32, 8), (13, 36, 26), (5, 8, 19), (1, 4, 1)),  # 4 divides N, as the exercise promises
        launch=_launch_vectors,
        elements_per_thread=lambda M, N, K: VECTOR,
        max_steps=6_000,
    ),
    """def wide(A, B, C):
    A_tile = cuda.shared.array((8, 8), float32)
    B_tile = cuda.shared.array((8, 32), float32)
    acc = cuda.local.array(4, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, n = cuda.blockIdx.y * 8 + ty, 4 * tx
    col = cuda.blockIdx.x * 32 + n
    for e in range(4):
        acc[e] = 0
    for start in range(0, A.shape[1], 8):
        A_tile[ty, tx] = A[row, start + tx] if row < A.shape[0] and start + tx < A.shape[1] else float32(0)
        for e in range(4):
            B_tile[ty, n + e] = B[start + ty, col + e] if start + ty < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(8):
            for e in range(4):
                acc[e] += A_tile[ty, k] * B_tile[k, n + e]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        for e in range(4):
            C[row, col + e] = acc[e]
""",
    global_loads(
        "2·⌈K/8⌉",
        "for each pair of tiles a thread loads one element of A, and its four elements of B with one load4.",
    ),
    shared_loads(
        "16·⌈K/8⌉",
        "for each k a thread reads one element of A's tile once, and its four elements of B's tile with one load4.",
    ),
    global_stores("M·N/4", "the four results are neighbours in C: one store4."),
    sectors_per_request(
        "B",
        "16",
        "a warp's load4 of B asks for 512 bytes, which are 16 sectors.",
        lambda shape: shape[1] % 8 == 0,  # where rows begin on a sector
    ),
    hints={
        "out-of-bounds": "load4 loads four neighbours, and all of them must exist. The guard col < N is enough for all "
        "four, since 4 divides N, but B also needs a guard for its rows, which end at K. From A's tile a thread needs "
        "one element, not four.",
        "misaligned-access": "load4 and store4 need a column that is a multiple of 4: n in the tile, col in B and C.",
        "race": "both barriers must stay: one when the tiles are full, one when they have been used.",
    },
    diagnoses=(_ONE_FRAGMENT_FOR_ALL, _COLUMNS_OF_FIRST_BLOCK, _EVERY_FOURTH_COLUMN),
)


_ONE_ROW_FOR_ALL = result_is(
    lambda A, B: A[np.arange(len(A)) // VECTOR * VECTOR] @ B,
    "all four results of a thread are the same: multiply element e of the four elements of A for acc[e].",
)


#: Four results below one another in each thread: vectors of A's tile need the tile transposed.
TALL = make_cheaper(
    "tall",
    PRODUCT.replace(
        shapes=((32, 8, 8), (13, 21, 28), (5, 9, 20), (1, 1, 4)),  # 4 divides K, as the exercise promises
        launch=grid_over(COLUMNS, SIDE, block=(SIDE, SIDE)),
        elements_per_thread=lambda M, N, K: VECTOR,
        max_steps=6_000,
    ),
    """def tall(A, B, C):
    A_tile = cuda.shared.array((32, 8), float32)
    B_tile = cuda.shared.array((8, 8), float32)
    acc = cuda.local.array(4, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, col = cuda.blockIdx.y * 32, cuda.blockIdx.x * 8 + tx
    m = 4 * ty
    for e in range(4):
        acc[e] = 0
    for start in range(0, A.shape[1], 8):
        for e in range(4):
            inside = top + m + e < A.shape[0] and start + tx < A.shape[1]
            A_tile[m + e, tx] = A[top + m + e, start + tx] if inside else float32(0)
        B_tile[ty, tx] = B[start + ty, col] if start + ty < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(8):
            for e in range(4):
                acc[e] += A_tile[m + e, k] * B_tile[k, tx]
        cuda.syncthreads()
    for e in range(4):
        if top + m + e < C.shape[0] and col < C.shape[1]:
            C[top + m + e, col] = acc[e]
""",
    global_loads(
        "2·⌈K/8⌉",
        "for each pair of tiles a thread loads four neighbours of a row of A with one load4, and one element of B.",
    ),
    shared_loads(
        "16·⌈K/8⌉",
        "for each k a thread reads its four elements of A with one load4, which needs the tile transposed, and one "
        "element of B's tile, once.",
    ),
    conflicts(
        "the transposed stores of a warp meet in the same banks: give each row of A's tile 4 more columns, or give the "
        "32 lanes of a warp 32 different rows of A."
    ),
    hints={
        "out-of-bounds": "load4 reads four neighbours in a row of A. 4 divides K, so a guard of the row and the first "
        "column is enough.",
        "misaligned-access": "load4 reads four words that begin at a multiple of four words. So the rows of A's tile "
        "must have a multiple of four words, too: 36, not 33.",
        "race": "each thread stores its own four elements of A's tile, and both barriers must stay.",
        "uninitialized-read": "64 threads with four elements each fill A's tile of 32×8, with 0 outside A.",
    },
    diagnoses=(_ONE_ROW_FOR_ALL,),
)


#: Columns of C for one block of TILE×TILE threads, two to a thread.
HALVES = 2 * TILE


#: How many times as fast a kernel is after a step, from what was counted.
GAIN = routine(
    "gain",
    ("executed_before", "busy_before", "executed_after", "busy_after"),
    Case(
        (2.0, 50, 1.0, 50),
        2.0,
        "half the instructions: twice as fast. A rate is busy / executed; the gain is the rate after by the rate "
        "before.",
    ),
    Case((2.0, 40, 2.0, 80), 2.0, "twice as many busy cycles: twice as fast."),
    Case((2.0, 60, 1.0, 30), 1.0, "both numbers are halved: the speed does not change."),
    Case((1.5, 60, 1.2, 72), 1.5, "both help, so their factors are multiplied."),
    Case((1.0, 80, 1.1, 80), 1 / 1.1, "more instructions: the gain is below 1."),
    kind=FILL_IN,
)


_ONE_HALF_FOR_BOTH = result_is(
    lambda A, B: A @ B[:, [col // HALVES * HALVES + col % TILE for col in range(B.shape[1])]],
    "both results of a thread are the same: the second one is 8 columns to the right, in B and in B's tile.",
    lines=load_lines("B"),
)


#: A tile of C that is wider than it is high: two results in each thread.
RECTANGULAR_TILES = fill_in(
    "rectangular-tiles",
    PRODUCT.replace(
        shapes=((8, 16, 8), (13, 21, 26), (5, 9, 19), (1, 1, 1)),
        launch=grid_over(TILE, HALVES, block=(TILE, TILE)),
        elements_per_thread=lambda M, N, K: 2 if N > TILE else 1,
    ),
    global_loads("3·⌈K/8⌉", "for each pair of tiles a thread loads one element of A and two of B."),
    shared_loads(
        "24·⌈K/8⌉",
        "for each k a thread reads one element of A's tile, once, and two of B's: keep A's element in a variable.",
    ),
    barriers(
        "2·⌈K/8⌉", "two barriers for each pair of tiles: one when the tiles are full, one when they have been used."
    ),
    hints={
        "out-of-bounds": "each of the three loads needs its own guard: the columns of B end at N, and col + 8 may be "
        "outside although col is inside.",
        "out-of-bounds in shared memory": "A's tile has 8 rows and 8 columns, B's has 8 rows and 16 columns: k goes "
        "from 0 to 7 in both.",
        "race": "wait when the tiles are full, and again before the next pair of tiles replaces them.",
        "uninitialized-read": "B's tile has 16 columns, and the block only 8: each thread stores two of its elements, "
        "and 0 where B has none.",
        "barrier-divergence": "every thread of the block must reach the barriers: keep them out of the guards.",
    },
    diagnoses=(_ONE_HALF_FOR_BOTH,),
    given_lines=("C[row, col] = left", "C[row, col + 8] = right"),
)

NO_LIBRARY = Explanation(
    name="no-library",
    model="One size was measured. At n = 1024 `best` has 32 blocks for 132 multiprocessors, and reaches 36 % of "
    "cuBLAS; for 1000×500×3000 it is 15 %. If 4 does not divide the length of a row, wide loads are not possible. A "
    "library has many kernels and chooses one by the shape.",
    ideas=(
        "one size says nothing about others",
        "small products have too few blocks for the multiprocessors",
        "a library has many kernels and chooses among them",
    ),
)


#: The fewest shared reads for a multiplication that the registers of a thread allow.
FEWEST_READS = routine(
    "fewest-reads",
    ("registers", "sets", "others"),
    Case(
        (255, 2, 31),
        0.1875,
        "height and width may differ: 8×16 results take 128 + 2·24 + 31 = 207 registers, and 16×16 more than 255.",
    ),
    Case((128, 2, 31), 0.25, "8×8 results take 64 + 2·16 + 31 = 127 registers: all of them count, fragments too."),
    Case((128, 2, 40), 0.375, "8×8 results take 136 registers here: 4×8 is the best shape that fits."),
    Case((255, 4, 31), 0.1875, "8×16 results take 128 + 4·24 + 31 = 255 registers, which just fit."),
    Case((200, 2, 31), 0.25, "4×16 results are as many as 8×8, but need more reads: compare the reads."),
    Case((64, 2, 20), 0.5, "4×4 results take 52 registers, and 4×8 take 76."),
)

EXERCISES = (FOUR_AT_ONCE, ANY_WIDTH, GAIN, RECTANGULAR_TILES, WIDE, NO_LIBRARY)
OPTIONAL = (TALL, FEWEST_READS)
