"""The exercises of the lesson on the compiler: unrolling, bytes in flight, and compact warps."""

import numpy as np

from ..grading.budgets import global_loads, iterations_not_unrolled, unsigned_indices
from ..grading.exercise import FILL_IN, Outcome, fill_in, find_bug
from ..grading.explain import Explanation
from ..grading.lines import index_computation_lines, last_sum_loop, lines_matching, load_lines, with_lines
from ..grading.lines import sum_lines as lines_of_sums
from ..grading.matrix_product import PRODUCT, sums_take
from ..grading.routines import Case, routine

#: Steps of an iteration of the loops in these exercises.
TIMES, SIXTEEN = 4, 16


_EVERY_FOURTH = sums_take(
    lambda K: range(0, K, TIMES),
    "only every fourth term is in the sums: k, k + 1, k + 2 and k + 3 belong to one iteration.",
)

_REST_MISSING = sums_take(
    lambda K: range(K // TIMES * TIMES),
    "where 4 does not divide K, the last one to three terms are missing: a loop of their own goes from the end of the "
    "whole fours to K.",
)


def _one_stays(outcome: Outcome) -> str | None:
    """A's elements of an iteration are all multiplied with B's first one, or B's with A's; or both stay."""
    A, B = outcome.inputs
    a, b = A[:, ::SIXTEEN], B[::SIXTEEN]
    all_a, all_b = A.reshape(*a.shape, SIXTEEN).sum(axis=2), B.reshape(len(b), SIXTEEN, -1).sum(axis=1)
    sums = {"B stays": all_a @ b, "A stays": a @ all_b, "both stay": SIXTEEN * a @ b}
    for name, got in sums.items():
        if np.array_equal(outcome.got, got):
            advice = f"{name} at the first of the sixteen terms: term i is A[row, start + i] * B[start + i, col]."
            return with_lines(lines_of_sums(outcome), advice)
    return None


def _in_fours(K: int) -> list[int]:
    """The terms of a loop in steps of four that ends at the number of fours, K // 4, not at their end."""
    return [k + i for k in range(0, K // TIMES, TIMES) for i in range(TIMES)]


#: The lines with K // 4 that is not multiplied by 4.
_NUMBER_OF_FOURS = lines_matching(r"// 4(?! \* 4)")
_FOURS_COUNTED = (
    "K // 4 is the number of whole fours, and k grows by 4: the loop over the whole fours ends at K // 4 * 4."
)


#: The naive kernel's loop, with unsigned indices, in steps that a compiler unrolls.
BY_SIXTEEN = fill_in(
    "by-sixteen",
    PRODUCT.replace(
        shapes=((16, 16, 16), (13, 21, 48), (5, 9, 32), (1, 1, 16))
    ),  # 16 divides K, as the exercise promises
    iterations_not_unrolled("K/16", "add sixteen terms in each iteration, by a loop of constant length: range(16)."),
    global_loads("2·K", "each term needs one element of A and one of B."),
    unsigned_indices(
        "k has a signed type, so numba tests in every load whether it is negative, and the loop is hardly faster: make "
        "it unsigned, k = uint64(start + i)."
    ),
    given_lines=("for start in range(0, K, 16):",),
    hints={
        "out-of-bounds": "start already grows by 16: an iteration uses start, start + 1, … start + 15. The first index "
        "of B is its row.",
    },
    diagnoses=(
        sums_take(
            lambda K: range(0, K, SIXTEEN),
            "only every sixteenth term is in the sums: i runs over range(16).",
            "first of sixteen",
        ),
        sums_take(
            lambda K: [k for k in range(K) if k % SIXTEEN != SIXTEEN - 1],
            "a term is missing in every iteration, the sixteenth: range(16) ends at 15.",
            "fifteen of sixteen",
        ),
        sums_take(
            lambda K: [*range(SIXTEEN)] * (K // SIXTEEN),
            "every iteration adds the first sixteen terms again: k is start + i.",
            "sixteen again and again",
            index_computation_lines(load_lines("A", "B")),
        ),
        _one_stays,
    ),
)

#: An unrolled loop that is wrong if 4 does not divide K.
REMAINDER = find_bug(
    "remainder",
    PRODUCT.replace(shapes=((16, 16, 16), (13, 21, 26), (5, 9, 19), (6, 7, 3), (1, 1, 1))),
    """def remainder(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    (M, K), N = A.shape, B.shape[1]
    if row < M and col < N:
        acc = float32(0)
        for k in range(0, K, 4):
            acc += A[row, k] * B[k, col]
            acc += A[row, k + 1] * B[k + 1, col]
            acc += A[row, k + 2] * B[k + 2, col]
            acc += A[row, k + 3] * B[k + 3, col]
        C[row, col] = acc
""",
    iterations_not_unrolled(
        "⌊K/4⌋ + 3", "keep the unrolled loop for the whole fours, and use a loop of single steps only for the rest."
    ),
    global_loads("2·K", "each term needs one element of A and one of B."),
    hints={
        "out-of-bounds": "with K = 26 the last iteration starts at 24 and reads k = 26 and 27: how many whole fours "
        "are there, and what is left?",
        "uninitialized-read": "if K is less than 4 the first loop has no iteration and gives k no value: the rest "
        "begins at K // 4 * 4, whatever k is.",
    },
    diagnoses=(
        sums_take(lambda K: _in_fours(K) or None, _FOURS_COUNTED, "fours counted", _NUMBER_OF_FOURS),
        sums_take(
            lambda K: _in_fours(K) + list(range(K // TIMES * TIMES, K)),
            _FOURS_COUNTED,
            "fours counted",
            _NUMBER_OF_FOURS,
        ),
        _REST_MISSING,
        _EVERY_FOURTH,
        sums_take(
            lambda K: [*range(K // TIMES * TIMES), *range(K % TIMES)],
            "the single steps begin at 0 again: the rest begins after the whole fours, at K // 4 * 4.",
            "rest from 0",
            last_sum_loop,
        ),
        sums_take(
            lambda K: _in_fours(K) + list(range(K // TIMES, K)),
            "the single steps begin at K // 4, which is the number of fours. The fours end at K // 4 * 4.",
            "rest from the number of fours",
            _NUMBER_OF_FOURS,
        ),
    ),
)

#: How many requests must be under way to use all of a bandwidth.
REQUESTS_IN_FLIGHT = routine(
    "requests-in-flight",
    ("cycles", "bytes_per_cycle", "request_bytes"),
    Case(
        (100, 8, 128),
        7,
        "8 bytes in each of 100 cycles, 100·8 = 800 bytes, must be under way: 800 / 128 = 6.25 requests, so 7. Round "
        "up, and only at the end.",
    ),
    Case((100, 128, 128), 100, "12,800 bytes are exactly 100 requests: round up only where a part is left over."),
    Case((128, 1, 128), 1, "128 bytes are exactly one request, not two."),
    Case((600, 16, 512), 19, "larger requests: divide by request_bytes."),
    Case((1, 1, 128), 1, "a part of a request is a request."),
    kind=FILL_IN,
)


WARP_TILES = Explanation(
    name="warp-tiles",
    model="A request costs wavefronts, not different elements. Lanes that ask for the same element can get it in one "
    "wavefront, but only within the groups of lanes that the hardware answers together. In both arrangements a step "
    "takes the same twelve wavefronts, so shared memory has as much to do as before. The number of instructions is the "
    "same, too. What did change is how the compiler assigns registers, and with them the dispatch stalls.",
    ideas=(
        "the wavefronts are as many as before",
        "fewer different elements do not make a request cheaper",
        "instructions and requests are as many as before",
    ),
)

EXERCISES = (BY_SIXTEEN, REQUESTS_IN_FLIGHT, REMAINDER, WARP_TILES)
OPTIONAL = ()
