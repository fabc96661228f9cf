"""The exercises of the lesson on bank conflicts."""

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...simulator.hardware import BANKS, ceil_div
from ...simulator.repairs.kernel_syntax import Kernel
from ...simulator.repairs.table import Candidate, Texts, row
from ..grading.budgets import conflicts, global_loads, sectors_per_request, shared_stores
from ..grading.exercise import FILL_IN, Array, Budget, Outcome, Shape, Task, fill_in, find_bug, make_cheaper
from ..grading.explain import Explanation
from ..grading.lines import LineFinder, largest_array_access_lines, largest_array_lines, union_of_lines
from ..grading.matrix_product import PRODUCT, PRODUCT_OF_ROWS, grid_over, one_array, result_is
from ..grading.mistakes.likely_mistakes import exchanged
from ..grading.routines import Case, routine

#: The width of the tiles in these exercises: as wide as a warp, so that a column of an unpadded tile is one bank.
TILE = BANKS
#: The width of the tiles in the product, where 32 would make a student wait.
SIDE = 16


#: The bank of an element of a tile.
WHICH_BANK = routine(
    "which-bank",
    ("row", "col", "width"),
    Case((0, 5, 32), 5, "row 0 begins with word 0, so its column 5 is word 5."),
    Case((0, 40, 64), 8, "word 40 is in one of the banks 0 to 31: the bank is the word's number modulo 32."),
    Case((1, 0, 32), 0, "row 1 begins after the 32 words of row 0, with word 32: bank 0 again."),
    Case((1, 0, 33), 1, "row 1 begins after the 33 words of row 0, with word 33."),
    Case((3, 5, 16), 21, "3 rows of 16 words, plus 5: word 53."),
    kind=FILL_IN,
)


def _shared_words(formula: str, hint: str, lines: LineFinder = largest_array_lines) -> Budget:
    """Words of shared memory that a block declares."""
    name = "words of shared memory"
    return Budget(name, formula, lambda outcome: outcome.counts.shared_elements(), hint, lines=lines)


def _whole(shape: Shape) -> bool:
    """Whether every tile is whole: then a warp loads 32 neighbours, which are 4 sectors."""
    return shape[0] % TILE == 0 and shape[1] % TILE == 0


_COLUMNS_SUMMED = result_is(
    lambda A: A.sum(axis=0) if A.shape[0] == A.shape[1] else None,
    "these are the sums of the columns: a thread adds up the elements of one row.",
)


_SUMS_OF_ROWS = Task(
    ("A", "total"),
    one_array,
    lambda A: A.sum(axis=1),
    lambda M, K: ((ceil_div(M, TILE),), (TILE,)),  # a warp for every 32 rows
    shapes=((32, 32), (32, 64), (45, 70), (1, 1)),
    element="total[row] = sum(A[row, k] for k in range(A.shape[1]))",
    sizes="(M, K)",
)


@row(
    "likely",
    sum_of_a_column=Texts(
        hint="`{place}` adds up column {lane}, and lane {lane} needs the sum of row {lane}: its first index stays "
        "{lane}, and only the order in which the lane goes along its row may change."
    ),
)
def _sum_of_a_column(make: Any, kernel: Kernel, _: Any) -> Iterator[Candidate]:
    """A column of the tile in the place of a row."""
    for node in kernel.nodes_of(ast.AugAssign):
        match node.value:
            case ast.Subscript(slice=ast.Tuple([_, ast.Name(lane)])) as place:
                yield make("sum-of-a-column", node, exchanged(place), place=ast.unparse(place), lane=lane)


#: The same sums without conflicts and without padding: every lane begins its row at a different element.
SKEWED = make_cheaper(
    "skewed",
    _SUMS_OF_ROWS,
    """def skewed(A, total):
    tile = cuda.shared.array((32, 32), float32)
    tx = cuda.threadIdx.x
    row = cuda.blockIdx.x * 32 + tx
    M, K = A.shape
    acc = float32(0)
    for start in range(0, K, 32):
        for i in range(32):
            down, along = cuda.blockIdx.x * 32 + i, start + tx
            tile[i, tx] = A[down, along] if down < M and along < K else float32(0)
        cuda.syncthreads()
        for k in range(32):
            acc += tile[tx, k]
        cuda.syncthreads()
    if row < M:
        total[row] = acc
""",
    conflicts(
        "in a tile of 32×32 a column is one bank. A sum is the same in any order: let each lane begin at a k of its "
        "own, so that all 32 lanes are in different columns."
    ),
    _shared_words(
        "32·32",
        "this time without padding: the tile stays 32×32, and what avoids the conflicts is the k with which each lane "
        "begins.",
    ),
    shared_stores("32·⌈K/32⌉", "store each element into the tile once."),
    sectors_per_request("A", "4", "load A as the kernel did: 32 lanes, 32 neighbours of one row.", _whole),
    hints={
        "out-of-bounds": "an index of 32 is after the end of the row: put the sum in parentheses, and % 32 after them.",
        "uninitialized-read": "read an element where it was stored: the store and the load must use the same place.",
    },
    diagnoses=(_COLUMNS_SUMMED,),
    rows=(_sum_of_a_column,),
    why="if every lane begins at the same element, the kernel executes as many instructions as the solution and has "
    "32-way conflicts: the difference is what the conflicts cost. The kernel with conflicts that you began with is "
    "faster than both: the compiler reads four neighbouring elements with one instruction, which leaves a quarter of "
    "its wavefronts, and without `% 32` it executes little more than half of the instructions. `& 31` saves as many, "
    "but the compiler then loads A one element at a time, and the warps wait longer for them. Padding avoids the "
    "conflicts with plain indices.",
)


def _conflicts_per_request(outcome: Outcome) -> float:
    """Bank conflicts of loads and stores, for each request to shared memory."""
    traffic = outcome.run.traffic.select(space="shared")
    return float(traffic.bank_conflicts / max(1, traffic.requests))


#: The wrong one of two tiles is padded.
WRONG_TILE = find_bug(
    "wrong-tile",
    PRODUCT.replace(shapes=((16, 16, 16), (13, 21, 26), (1, 1, 1)), launch=grid_over(SIDE, SIDE)),
    """def wrong_tile(A, B, C):
    A_tile = cuda.shared.array((SIDE, LONGER), float32)
    B_tile = cuda.shared.array((SIDE, SIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * SIDE + ty, cuda.blockIdx.x * SIDE + tx
    (M, K), N = A.shape, B.shape[1]
    acc = float32(0)
    for start in range(0, K, SIDE):
        A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        B_tile[tx, ty] = B[start + ty, col] if start + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(SIDE):
            acc += A_tile[ty, k] * B_tile[tx, k]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
""",
    global_loads("2·⌈K/16⌉", "one element of each tile per thread is enough: the rest is in the tiles."),
    Budget(
        "bank conflicts per request to shared memory",
        "less than one in four",
        _conflicts_per_request,
        "in this request the lanes go down a column of {array}: its rows must be longer, which is the second number of "
        "its shape. The other tile needs no padding.",
        limit="1/4",
    ),
    _shared_words(
        "16·16 + 16·17",
        "one tile needs one word more in each row, the one in which neighbouring threads access different rows; the "
        "other needs none.",
    ),
    hints={
        "out-of-bounds": "both tiles hold 16×16 elements; padding only makes the rows longer.",
        "race": "one thread stores where another one reads: keep at least 16 columns in both tiles.",
    },
)


_FROM_OTHER_PLACES = result_is(
    lambda A, B: A @ B if len({*A.shape, *B.shape}) == 1 else None,
    "this is A·B: the sum over k uses row `col` of B, which is row tx of the tile.",
)


def _exchanged(A: Array, B: Array) -> Array | None:
    n, k = np.indices(B.shape)
    return None if B.shape[1] % SIDE else A @ B[n, k ^ n % SIDE].T


_ANOTHER_COLUMN = result_is(
    _exchanged,
    "the load uses another column than the store: both must compute the same column from n and k.",
)


#: A·Bᵀ with a tile that is read down its columns, free of conflicts by an exchange of its columns.
SWIZZLE = fill_in(
    "swizzle",
    PRODUCT_OF_ROWS.replace(shapes=((16, 16, 16), (13, 21, 26), (1, 1, 1)), launch=grid_over(SIDE, SIDE)),
    _shared_words(
        "2·16·16",
        "this time without padding: both tiles stay 16×16, and what avoids the conflicts is the column in which an "
        "element is stored and read.",
        union_of_lines(largest_array_lines, largest_array_access_lines),
    ),
    conflicts(
        "16 lanes store to, or read from, 16 rows of the tile in one column. Element (n, k) belongs in row n: let its "
        "column depend on both, so that 16 rows have 16 columns, and no two elements of a row share a column."
    ),
    global_loads("2·⌈K/16⌉", "the element of B is in b already; the loop over k reads the tiles only."),
    hints={
        "out-of-bounds": "the column must stay within 0 to 15: `^` of two numbers below 16 does.",
        "race": "two elements are stored in one place: for a fixed row, different k need different columns.",
        "uninitialized-read": "an element of the tile is read, but no thread stored it: store and load must compute "
        "the same column.",
    },
    diagnoses=(_FROM_OTHER_PLACES, _ANOTHER_COLUMN),
    why="in blocks of 16×16 threads, the exchange of columns halves the time. In tiles of 32 the compiler no longer "
    "unrolls the loop over k. With numba's signed indices, each iteration then computes `k ^ tx` and tests whether "
    "it is negative: six times as many instructions as with unsigned indices. With unsigned indices the exchange "
    "makes the kernel three times as fast in tiles of 32, too.",
)


#: How many paddings leave no conflict.
FREE_PADDINGS = routine(
    "free-paddings",
    ("T", "most"),
    Case(
        (2, 30),
        30,
        "the paddings are 0, 1, … 30, and only p = 30 puts both words of a column into one bank: rows of 2 and of 4 "
        "words leave no conflict, as rows of 3 do.",
    ),
    Case((32, 8), 4, "with 32 rows every bank is needed: rows of 33, 35, 37 … words use all of them."),
    Case((16, 4), 3, "16 words need 16 different banks, not 32: rows of 18 words, with p = 2, leave no conflict."),
    Case((8, 15), 14, "8 words need 8 different banks: the paddings 0 and `most` count too."),
    Case((10, 9), 8, "rows of 10 words, with p = 0, leave no conflict: rows are T + p words apart, not p."),
    Case((12, 7), 6, "T is not always a power of two: look at the banks of all T words of the column."),
)

SAME_WORD = Explanation(
    name="same-word",
    model="A bank delivers one word in each wavefront. All lanes that ask for this word receive it at once: a "
    "broadcast. Different words of the same bank are delivered one after the other, each in a wavefront of its own.",
    ideas=(
        "a bank delivers one word at a time",
        "all lanes receive the same word at once: a broadcast",
        "different words of a bank are delivered one after the other",
    ),
)

EXERCISES = (WHICH_BANK, SKEWED, WRONG_TILE, SAME_WORD)
OPTIONAL = (SWIZZLE, FREE_PADDINGS)
