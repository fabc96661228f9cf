"""The exercises of the lesson on the last steps: what a step gains, rectangular tiles, and what a library is."""

from ..grading.budgets import barriers, global_loads, shared_loads
from ..grading.exercise import FILL_IN, TILE, fill_in
from ..grading.explain import Explanation
from ..grading.matrices import PRODUCT, grid_over, result_is
from ..grading.routines import Case, routine

#: Columns of C for one block of TILE×TILE threads, two to a thread.
COLUMNS = 2 * TILE


#: How many times as fast a kernel is after a step, from what was counted.
GAIN = routine(
    "gain",
    ("executed_before", "busy_before", "executed_after", "busy_after"),
    Case((2.0, 50, 1.0, 50), 2.0, "half the instructions: twice as fast."),
    Case((2.0, 40, 2.0, 80), 2.0, "twice as many busy cycles: twice as fast."),
    Case((2.0, 60, 1.0, 30), 1.0, "both numbers are halved: the speed does not change."),
    Case((1.5, 60, 1.2, 72), 1.5, "both help, so their factors are multiplied."),
    Case((1.0, 80, 1.1, 80), 1 / 1.1, "more instructions: the gain is below 1."),
    kind=FILL_IN,
)


_ONE_HALF_FOR_BOTH = result_is(
    lambda A, B: A @ B[:, [col // COLUMNS * COLUMNS + col % TILE for col in range(B.shape[1])]],
    "both results of a thread are the same: the second one is 8 columns to the right, in B and in B's tile.",
)


#: A tile of C that is wider than it is high: two results in each thread.
RECTANGULAR_TILES = fill_in(
    "rectangular-tiles",
    PRODUCT.but(
        shapes=((8, 16, 8), (13, 21, 26), (5, 9, 19), (1, 1, 1)),
        launch=grid_over(TILE, COLUMNS, block=(TILE, TILE)),
        share=lambda M, N, K: 2 if N > TILE else 1,
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
        "race": "wait when the tiles are full, and again before the next pair of tiles replaces them.",
        "uninitialized-read": "B's tile has 16 columns, and the block only 8: each thread stores two of its elements, "
        "and 0 where B has none.",
        "barrier-divergence": "every thread of the block must reach the barriers: keep them out of the guards.",
    },
    diagnoses=(_ONE_HALF_FOR_BOTH,),
    fixed=("C[row, col] = left", "C[row, col + 8] = right"),
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
    Case((255, 2, 31), 0.1875, "8×16 results take 128 + 2·24 + 31 = 207 registers, and 16×16 more than 255."),
    Case((128, 2, 31), 0.25, "8×8 results take 64 + 2·16 + 31 = 127 registers: all of them count, fragments too."),
    Case((128, 2, 40), 0.375, "8×8 results take 136 registers here: 4×8 is the best shape that fits."),
    Case((255, 4, 31), 0.1875, "8×16 results take 128 + 4·24 + 31 = 255 registers, which just fit."),
    Case((200, 2, 31), 0.25, "4×16 results are as many as 8×8, but need more reads: compare the reads."),
    Case((64, 2, 20), 0.5, "4×4 results take 52 registers, and 4×8 take 76."),
)

EXERCISES = (GAIN, RECTANGULAR_TILES, NO_LIBRARY)
OPTIONAL = (FEWEST_READS,)
