"""The exercises of the lesson on register tiles."""

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...simulator.edits import expression
from ...simulator.repairs.kernel_syntax import Kernel, in_lines
from ...simulator.repairs.table import Candidate, Texts, row
from ..grading.budgets import barriers, global_loads, global_stores, shared_loads
from ..grading.exercise import FILL_IN, Outcome, fill_in, find_bug, make_cheaper
from ..grading.explain import Explanation
from ..grading.lines import (
    guard_lines,
    index_computation_lines,
    load_lines,
    shared_load_lines,
    store_lines,
    sum_lines,
    union_of_lines,
    with_lines,
)
from ..grading.matrix_product import PRODUCT, grid_over, result_is, sums_take
from ..grading.routines import Case, routine

#: Results of a thread in the outer product, and the depth of its tile of A.
R = 8
#: The threads of its block, one for each column of the block's 8×64 tile of C.
W = 64
#: The register tile of 2×2: 8×8 threads for 16×16 elements of C, from tiles that are 8 deep.
SIDE, TILE = 8, 16
#: The tile of C of a block whose threads compute four rows.
ROWS = 32


@row(
    "formula",
    keys_added=Texts(
        hint="`{part}` adds the keys of the table, which are names: the numbers of instructions are its values, "
        "{mix}.values()."
    ),
    another_whole=Texts(
        hint="{part} is not the number of all instructions: that is the sum of all values of the table, and FFMA is "
        "one of them."
    ),
)
def _another_whole(make: Any, kernel: Kernel, _: Any) -> Iterator[Candidate]:
    """The share of another number than the sum of the table's values."""
    (mix,) = kernel.arguments
    for node in kernel.nodes_of(ast.BinOp):
        if isinstance(node.op, ast.Div):
            part, whole = ast.unparse(node.right), expression(f"sum({mix}.values())")
            id = "keys-added" if part == f"sum({mix})" else "another-whole"
            yield make(id, node, (node.right, whole), part=part, mix=mix)


#: Which share of a loop's instructions multiplies.
USEFUL_SHARE = routine(
    "useful-share",
    ("mix",),
    Case(
        ({"FFMA": 1, "LDS": 1},),
        0.5,
        "one of two instructions in all is FFMA: its share of both, neither a percentage nor a whole number.",
    ),
    Case(
        ({"FFMA": 16, "LDS.128": 4},),
        0.8,
        "there are 20 instructions, of two kinds: add up how often each is in the loop.",
    ),
    Case(
        ({"LDS": 16, "IADD3": 15, "FFMA": 64},),
        64 / 95,
        "FFMA may be anywhere in the table; the whole is the sum of all its numbers.",
    ),
    kind=FILL_IN,
    rows=(_another_whole,),
)


_ONLY_LAST_STEP = sums_take(
    lambda K: range(R - 1, K, R) or None,
    "every row of B but one in eight is missing: b must be loaded again for each k.",
    lines=load_lines("B"),
)

_SAME_ROW_OF_B = result_is(
    lambda A, B: A @ B[[k // R * R for k in range(A.shape[1])]],
    "all eight steps of a tile use the same row of B: b is B[start + k, col].",
    lines=load_lines("B"),
)

_FIRST_ROWS_OF_B = result_is(
    lambda A, B: A @ B[[k % R for k in range(A.shape[1])]],
    "every tile uses the first eight rows of B: b is B[start + k, col], and its guard asks for start + k, too.",
    lines=load_lines("B"),
)

#: The inner loops of the outer product: an element of B in a register is multiplied with a column of A's tile.
OUTER = fill_in(
    "outer",
    PRODUCT.replace(
        shapes=((16, 64, 16), (13, 70, 26), (5, 9, 19), (1, 1, 1)),
        launch=grid_over(R, W, block=(W, 1)),
        elements_per_thread=lambda M, N, K: R,
        max_steps=6_000,
    ),
    global_loads(
        "K + ⌈K/8⌉",
        "for one k, all eight results need the same element of B: load it into a variable after `for k …` and before "
        "`for i …`. Where start + k has reached K, there is no element to load.",
    ),
    shared_loads("8·8·⌈K/8⌉", "read one element of A's tile for each multiplication. B's element is in a register."),
    barriers(
        "2·⌈K/8⌉",
        "the two barriers that are there are enough: nothing is shared between two iterations of the loop over k.",
    ),
    hints={
        "out-of-bounds": "the first index of B is its row. The last tile may reach beyond the last row of B, and the "
        "last block beyond its last column: use 0 there. (A's elements are in A_tile, with such zeros.)",
        "uninitialized-read": "acc has elements 0 to 7; each begins at 0 and is added to.",
    },
    diagnoses=(_SAME_ROW_OF_B, _FIRST_ROWS_OF_B, _ONLY_LAST_STEP),
)


#: Four results a thread, 16×16 a block.
_FOUR_EACH = PRODUCT.replace(launch=grid_over(TILE, TILE, block=(SIDE, SIDE)), elements_per_thread=lambda M, N, K: 4)


def _quadrants(outcome: Outcome) -> str | None:
    """Recognise tiles of which the upper left quarter is right, and another is wrong."""
    got, want = outcome.got, outcome.want
    if got.shape[0] < TILE or got.shape[1] < TILE:
        return None
    right = {
        (i, j): np.array_equal(got[i : i + SIDE, j : j + SIDE], want[i : i + SIDE, j : j + SIDE])
        for i in (0, SIDE)
        for j in (0, SIDE)
    }
    if right[0, 0] and not all(right.values()):
        return with_lines(
            (*sum_lines(outcome), *store_lines(outcome)),
            "the upper left quarter of the tile is right and another is not: result (i, j) is the sum of products of "
            "the elements from row ty + 8·i of the block's part of A and column tx + 8·j of its part of B.",
        )
    return None


def _in_other_places(outcome: Outcome) -> str | None:
    """Recognise a first tile with the right numbers, not all in their places: in other rows, other columns, or both."""
    got, want = (array[:TILE, :TILE] for array in (outcome.got, outcome.want))
    moved = got.size == TILE * TILE and not np.array_equal(got, want)
    if not moved or not np.array_equal(np.sort(got, axis=None), np.sort(want, axis=None)):
        return None
    reads = {*shared_load_lines(outcome)}
    kept = [np.array_equal(np.sort(got, axis=axis), np.sort(want, axis=axis)) for axis in (0, 1)]
    which = "row and the column"
    if kept[0]:
        which = "row"
    elif kept[1]:
        which = "column"
    advice = (
        f"all results of a tile are right, but not in their places: store acc[i, j] in the {which} that "
        f"{in_lines(reads)} {'reads' if len(reads) == 1 else 'read'} for it."
    )
    return with_lines(
        union_of_lines(index_computation_lines(store_lines), guard_lines(store_lines), store_lines)(outcome), advice
    )


#: A register tile of 2×2: four loads from shared memory for four multiplications.
TWO_BY_TWO = fill_in(
    "two-by-two",
    _FOUR_EACH,
    shared_loads(
        "4·8·⌈K/8⌉",
        "each of the two elements of A and the two of B is used for two results: read all four into variables first.",
    ),
    global_loads("4·⌈K/8⌉", "the tiles are in shared memory: do not load from A and B again."),
    barriers("2·⌈K/8⌉", "the two barriers are there already; the loop over k needs none."),
    hints={
        "out-of-bounds": "both tiles have 8 rows and 16 columns, as A's is stored transposed: their first index is k.",
        "uninitialized-read": "acc has the elements [0, 0] to [1, 1], and all of them begin at 0.",
    },
    symptoms=(_quadrants, _in_other_places),
    why="the budget counts loads as you write them. Where each element is read for each product, the compiler notices "
    "that the numbers are the same: both kernels execute the same instructions. A kernel with one result a thread has "
    "nothing to share. It executes two shared loads for each product instead of one, and takes nearly twice as long.",
)


def _other_rows(outcome: Outcome) -> str | None:
    """Rows of the right product, each in another place or more than once."""
    if outcome.got.shape[0] == ROWS and outcome.got[:8].any() and not outcome.got[8:].any():
        return with_lines(
            sum_lines(outcome), "only one of a thread's four sums is added to: acc[i] is that of row y + 8 * i."
        )
    if all((outcome.want == row).all(axis=1).any() for row in outcome.got):
        advice = "each row of C is a right one, but of other rows: acc[i] belongs to row y + 8 * i of the tile of A."
        return with_lines(sum_lines(outcome), advice)
    return None


#: Four results of a column: B's element is read once for all of them.
FOUR_ROWS = make_cheaper(
    "four-rows",
    PRODUCT.replace(
        shapes=((32, 32, 32), (45, 21, 40), (5, 40, 70), (1, 1, 1)),
        launch=grid_over(ROWS, ROWS, block=(ROWS, ROWS // 4)),
        elements_per_thread=lambda M, N, K: 4,
        max_steps=20_000,
    ),
    """def four_rows(A, B, C):
    A_tile = cuda.shared.array((32, 32), float32)
    B_tile = cuda.shared.array((32, 32), float32)
    acc = cuda.local.array(4, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, col = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32 + x
    (M, K), N = A.shape, B.shape[1]
    for i in range(4):
        acc[i] = 0
    for start in range(0, K, 32):
        for i in range(4):
            row = y + 8 * i
            A_tile[row, x] = A[top + row, start + x] if top + row < M and start + x < K else float32(0)
            B_tile[row, x] = B[start + row, col] if start + row < K and col < N else float32(0)
        cuda.syncthreads()
        for i in range(4):
            for k in range(32):
                acc[i] += A_tile[y + 8 * i, k] * B_tile[k, x]
        cuda.syncthreads()
    for i in range(4):
        if top + y + 8 * i < M and col < N:
            C[top + y + 8 * i, col] = acc[i]
""",
    shared_loads(
        "5·32·⌈K/32⌉",
        "for one k, all four rows need the same element of B's tile: read it into a variable once for each k, after "
        "`for k …` and before `for i …`.",
    ),
    global_loads("8·⌈K/32⌉", "four elements of each tile per thread are enough: the rest is in the tiles."),
    barriers("2·⌈K/32⌉", "the two barriers are there already; the loop over k needs none."),
    hints={
        "uninitialized-read": "a local array has no values when the kernel starts: set its four elements to 0 first.",
        "out-of-bounds": "acc has 4 elements, and both tiles have 32 rows of 32, with zeros outside A and B: read "
        "from the tiles alone.",
    },
    diagnoses=(
        _other_rows,
        result_is(
            lambda A, B: A @ B[[k // ROWS * ROWS for k in range(A.shape[1])]],
            "all steps of a tile use the same row of B's tile: read b again for each k.",
            "same row in all steps",
        ),
    ),
)

#: The results of a register tile are computed for some rows and stored to others.
SCATTERED = find_bug(
    "scattered",
    _FOUR_EACH.replace(shapes=((16, 16, 16), (13, 21, 26), (1, 1, 1))),
    """def scattered(A, B, C):
    A_tile = cuda.shared.array((16, 8), float32)
    B_tile = cuda.shared.array((8, 16), float32)
    acc = cuda.local.array((2, 2), float32)
    tx, ty, top, left = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y * 16, cuda.blockIdx.x * 16
    (M, K), N = A.shape, B.shape[1]
    acc[0, 0] = acc[0, 1] = acc[1, 0] = acc[1, 1] = 0
    for start in range(0, K, 8):
        for i in range(2):
            row, col = top + ty + 8 * i, left + tx + 8 * i
            A_tile[ty + 8 * i, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
            B_tile[ty, tx + 8 * i] = B[start + ty, col] if start + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(8):
            for i in range(2):
                for j in range(2):
                    acc[i, j] += A_tile[ty + 8 * i, k] * B_tile[k, tx + 8 * j]
        cuda.syncthreads()
    for i in range(2):
        for j in range(2):
            row, col = top + 2 * ty + i, left + 2 * tx + j
            if row < M and col < N:
                C[row, col] = acc[i, j]
""",
    global_loads("4·⌈K/8⌉", "two elements of each tile per thread are enough: the rest is in the tiles."),
    global_stores("M·N", "store each result once, after the loops."),
    hints={
        "out-of-bounds": "the guard must test the row and the column that the store uses.",
        "race": "two threads store into the same element: acc[i, j] belongs to the row and the column from which its A "
        "and its B were read, and these are no other thread's.",
    },
    symptoms=(_in_other_places, _quadrants),
)

SQUARE = Explanation(
    name="square",
    model="A square of 8×8 needs 8 elements of A and 8 of B for each k: 16 loads for 64 multiplications, each "
    "element used 8 times. A column of 64 needs 64 elements of A and one of B, 65 loads for as many multiplications. "
    "Of all rectangles with the same area, the square has the shortest sides.",
    ideas=(
        "the square loads 8 + 8 = 16 elements",
        "the column loads 64 + 1 = 65",
        "each element is used several times",
    ),
)

EXERCISES = (USEFUL_SHARE, OUTER, TWO_BY_TWO, FOUR_ROWS, SQUARE)
OPTIONAL = (SCATTERED,)
