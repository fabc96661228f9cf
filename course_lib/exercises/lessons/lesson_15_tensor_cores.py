"""The exercises of the lesson on tensor cores: which lane holds what, and the fragments of a warp."""

import numpy as np

from ..grading.budgets import global_loads
from ..grading.exercise import FILL_IN, Array, Outcome, fill_in
from ..grading.explain import Explanation
from ..grading.lines import load_lines, with_lines
from ..grading.matrix_product import PRODUCT, grid_over, result_is
from ..grading.routines import Case, routine

#: Rows, columns and depth of the matrices that one instruction of a tensor core multiplies.
ROWS, COLUMNS, DEPTH = 16, 8, 8


#: The lane of a warp that holds an element of A.
LANE_OF = routine(
    "lane-of",
    ("row", "column"),
    Case((0, 3), 3, "along a row the number of the lane grows by 1."),
    Case((1, 0), 4, "one row down, the number of the lane grows by 4, not by the 8 columns."),
    Case((5, 2), 22, "four lanes for each row: 4·5 + 2."),
    Case((2, 6), 10, "columns 4 to 7 repeat the lanes of columns 0 to 3: a remainder, %."),
    Case((10, 1), 9, "rows 8 to 15 repeat the lanes of rows 0 to 7: a remainder, %."),
    Case((15, 7), 31, "the last element is in the last of the 32 lanes."),
    kind=FILL_IN,
)


#: The launches of a warp for each tile of C, of sizes that tiles divide, as the exercises promise.
_BY_WARPS = PRODUCT.replace(
    shapes=((16, 8, 8), (32, 24, 16), (16, 8, 40)),
    launch=grid_over(ROWS, COLUMNS, block=(32, 1)),
    elements_per_thread=lambda M, N, K: ROWS * COLUMNS // 32,
)
_ALL_LANES = {"barrier-divergence": "all 32 lanes must reach mma_tf32 together: keep it out of any if."}

_ONE_STEP_OVER_AND_OVER = result_is(
    lambda A, B: A.shape[1] // DEPTH * (A[:, :DEPTH] @ B[:DEPTH]),
    "the same fragments are loaded in every iteration: along K they begin at k.",
    lines=load_lines("A", "B"),
)


def _fragments_of_first_tile(outcome: Outcome) -> str | None:
    A, B = outcome.inputs
    M, N = outcome.want.shape
    rows, columns = np.arange(M) % ROWS, np.arange(N) % COLUMNS
    right = A @ B
    for name, wrong in (("A", right[rows]), ("B", right[:, columns])):
        if not np.array_equal(wrong, right) and np.array_equal(outcome.got, wrong):
            begin = "the rows of A begin at top" if name == "A" else "the columns of B begin at left"
            return with_lines(load_lines(name)(outcome), f"every warp loads the same part of {name}: {begin}.")
    return None


def _quarters_exchanged(A: Array, B: Array) -> Array | None:
    """The upper right and the lower left quarter of A exchanged, as the second and the third item are."""
    if (*A.shape, B.shape[1]) != (ROWS, DEPTH, COLUMNS):
        return None
    quarters = A.reshape(2, ROWS // 2, 2, DEPTH // 2)
    return quarters.transpose(2, 1, 0, 3).reshape(ROWS, DEPTH) @ B


_EXCHANGED_ITEMS = result_is(
    _quarters_exchanged,
    "two items of A are exchanged: the second item is 8 rows below the first, the third is 4 columns to the right of "
    "the first.",
    lines=load_lines("A"),
)

#: A lane supplies B[q, t] and B[q, t + 4] instead of B[t, q] and B[t + 4, q].
_LANES_OF_B_EXCHANGED = result_is(
    lambda A, B: A @ B.T if (*A.shape, B.shape[1]) == (ROWS, DEPTH, COLUMNS) else None,
    "in the items of B, t counts rows, along K, and q counts columns: B[k + t, left + q].",
    lines=load_lines("B"),
)

#: The fragments of A and B that each lane of a warp supplies to a tensor core.
FRAGMENTS = fill_in(
    "fragments",
    _BY_WARPS,
    global_loads("6·K/8", "for each 8 steps along K a lane loads four elements of A and two of B."),
    hints={
        "out-of-bounds": "A is M×K: its rows begin at top, its columns at k. B is K×N: its rows begin at k, its "
        "columns at left.",
    }
    | _ALL_LANES,
    diagnoses=(_ONE_STEP_OVER_AND_OVER, _fragments_of_first_tile, _EXCHANGED_ITEMS, _LANES_OF_B_EXCHANGED),
)

FEWER_DIGITS = Explanation(
    name="fewer-digits",
    model="It multiplies on tensor cores. They take each element of A and B with fewer digits, as TF32 or in a still "
    "shorter format. 11 of 24 binary digits are left, so expect errors of a few 10⁻⁴. I would ask how exact the result "
    "must be for its use. And I would compare with cuBLAS in TF32: the comparison with float32 is not fair.",
    ideas=(
        "tensor cores multiply",
        "the operands have fewer digits",
        "the use decides whether that is enough",
    ),
)


def _normal(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[Array, Array]:
    return rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)


def _three_digits(outcome: Outcome) -> str | None:
    """C has the error of TF32."""
    A, B = outcome.inputs
    error = np.max(np.abs(outcome.got - outcome.want) / (np.abs(A) @ np.abs(B)))
    if outcome.differs.any() and error < 2.0**-9:
        return (
            "C is right in about three decimal digits only: tensor cores cut off the rest of A and of B. Split each "
            "element of both into a high part, to_tf32(x), and a low part, x - to_tf32(x). The products of a high and "
            "a low part count, too."
        )
    return None


#: Three products of tensor cores in TF32 instead of one give nearly the digits of float32.
MORE_DIGITS = fill_in(
    "more-digits",
    _BY_WARPS.replace(
        inputs=_normal, answer=lambda A, B: A.astype(np.float64) @ B.astype(np.float64), larger_sizes="one"
    ),
    global_loads("6·K/8", "the elements are in a and b already: split those, and load nothing again."),
    hints=_ALL_LANES,
    diagnoses=(_three_digits,),
    given_lines=("a_high = to_tf32(a[0]), to_tf32(a[1]), to_tf32(a[2]), to_tf32(a[3])",),
)

EXERCISES = (LANE_OF, FRAGMENTS, FEWER_DIGITS)
OPTIONAL = (MORE_DIGITS,)
