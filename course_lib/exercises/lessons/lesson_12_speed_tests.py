"""The exercises of the lesson on speed tests."""

import numpy as np

from ..grading.exercise import FILL_IN, FIND, Array
from ..grading.explain import Explanation
from ..grading.routines import Case, routine


def _matrix(value: float = 1.0, shape: tuple[int, int] = (3, 4)) -> Array:
    return np.full(shape, value, np.float32)


def _with(value: float, matrix: Array, *places: tuple[int, int]) -> Array:
    changed = matrix.copy()
    for place in places:
        changed[place] = value
    return changed


_COUNTED = np.arange(12, dtype=np.float32).reshape(3, 4)


#: A comparison that NaN cannot pass.
SAME_RESULT = routine(
    "same-result",
    ("C", "want"),
    Case((_COUNTED, _COUNTED), True, "equal matrices are the same, also where both contain 0.", "two equal matrices"),
    Case(
        (_with(4.0, _COUNTED, (0, 3)), _COUNTED),
        False,
        "a single wrong element makes C wrong: compare all elements, not some of them.",
        "one element off by 1",
    ),
    Case(
        (_with(2.0, _with(0.0, _matrix(), (0, 0)), (2, 3)), _matrix()),
        False,
        "the two errors cancel in a sum: compare element by element.",
        "two errors, +1 and -1",
    ),
    Case(
        (_with(np.nan, _COUNTED, (1, 1)), _COUNTED),
        False,
        "every comparison with NaN is False, also `nan > 0.001`: ask whether elements are close, not whether they are "
        "far.",
        "one element NaN",
    ),
    Case(
        (_with(np.nan, _COUNTED, (1, 1)), _with(np.nan, _COUNTED, (1, 1))),
        False,
        "NaN is not close to NaN either: an element that is NaN on both sides cannot be compared.",
        "NaN in C and in want",
    ),
    Case((_with(np.inf, _COUNTED, (1, 1)), _COUNTED), False, "infinity is not close.", "one element infinite"),
    Case(
        (_with(8.08, _COUNTED, (2, 0)), _COUNTED),
        False,
        "an error of 1 % is more than rounding: float32 keeps about seven decimal digits.",
        "one element 1 % too large",
    ),
    Case(
        (_COUNTED * np.float32(1 + 2.0**-11), _COUNTED),
        False,
        "an error of 0.0005 is what TF32 leaves, with 11 binary digits: float32 has 24, so allow a few millionths.",
        "every element 0.05 % too large, as from fewer digits",
    ),
    Case(
        (_matrix(0.002), _matrix(0.001)),
        False,
        "whether a difference is small depends on the number: 0.001 is small beside 1,000, but not beside 0.001.",
        "small numbers, each twice as large",
    ),
    Case(
        (_matrix(1 + 2.0**-20), _matrix()),
        True,
        "sums in another order differ in the last digits: allow a small difference.",
        "float32's rounding, near 1",
    ),
    Case(
        (_matrix(1_000_000.25), _matrix(1_000_000.0)),
        True,
        "the last digit of a large number is larger: allow a difference relative to the number.",
        "float32's rounding, near a million",
    ),
    Case(
        (_matrix(1.0, (1, 4)), _matrix()),
        False,
        "NumPy repeats a single row to the size of the matrix before it compares: compare the shapes first.",
        "a row in place of the matrix",
    ),
    Case(
        (_with(6e-6, _COUNTED, (0, 0)), _with(1e-6, _COUNTED, (0, 0))),
        True,
        "where terms cancel an element is near 0, and its rounding error is as large as that of others. No such "
        "element is close by itself: compare the length of the difference with the length of `want`.",
        "float32's rounding, where terms cancel",
    ),
)


#: From a time to a rate.
RATE = routine(
    "rate",
    ("M", "N", "K", "milliseconds"),
    Case(
        (1000, 1000, 1000, 1.0),
        2000.0,
        "an element of C takes K multiplications and K additions. A GFLOP/s is a thousand million flop in a second, "
        "and 1 ms is 0.001 s.",
    ),
    Case((1000, 1000, 1000, 2.0), 1000.0, "twice the time is half the rate."),
    Case(
        (100, 50, 400, 0.75),
        16 / 3,
        "there are M·N elements, each the sum of K products: all three sizes count. A rate need not be a whole number.",
    ),
    kind=FILL_IN,
)


#: A mean over everything, where a median of the launches after the warm-ups is wanted.
TYPICAL = routine(
    "typical",
    ("milliseconds", "warmups"),
    Case(
        ([4.0, 2.0, 3.0], 0),
        3.0,
        "without warm-ups every repeat counts. The median is the one in the middle after sorting.",
    ),
    Case(
        ([900.0, 2.0, 2.0, 2.0], 1),
        2.0,
        "the first launch compiles the kernel: leave out the first `warmups` repeats.",
    ),
    Case(([2.0, 2.0, 50.0, 2.0, 3.0], 0), 2.0, "one disturbed repeat of 50 changes the mean, but not the median."),
    Case(([3.0, 1.0, 6.0, 2.0], 0), 2.5, "the median of four is halfway between the two in the middle."),
    Case(
        ([9.0, 1.0, 2.0, 3.0], 1),
        2.0,
        "leave out the first `warmups` repeats and no others. Sort after that, or you leave out the smallest ones.",
    ),
    Case(
        ([1.0, 2.0, 8.0, 6.0, 7.0], 2),
        7.0,
        "sort only after you have left out the warm-ups: they are the first repeats, not the largest.",
    ),
    kind=FIND,
    given="""def typical(milliseconds, warmups):
    total = 0.0
    for repeat in milliseconds:
        total += repeat
    return total / len(milliseconds)
""",
)

TOO_FAST = Explanation(
    name="too-fast",
    model="The product takes 2·8192³, about 1.1·10¹², flop. In 0.256 ms that would be 4,295 TFLOP/s, nearly seventy "
    "times what the GPU of our recordings can do in float32. A launch only puts the kernel into a queue and "
    "returns at once. The clock was stopped before the kernel had run. Wait for the GPU before you stop the clock, or "
    "use the GPU's events.",
    ideas=(
        "the rate that follows exceeds the limit of the GPU",
        "a launch returns before the kernel has run",
        "the right way: synchronise before the clock stops, or use events",
    ),
)


#: Two kernels that were launched alternately, while the clock changed.
TIMES_AS_FAST = routine(
    "times-as-fast",
    ("a", "b"),
    Case(([4.0] * 3, [2.0] * 3), 2.0, "half the time: b is twice as fast."),
    Case(([2.0] * 2, [4.0] * 2), 0.5, "b takes twice the time: half as fast."),
    Case(
        ([10.0, 12.0, 40.0], [8.0, 10.0, 20.0]),
        1.25,
        "the clock fell, and both became slower: compare neighbours first, and take the median of the ratios.",
    ),
    Case(
        ([6.0, 6.0, 60.0, 6.0, 6.0], [3.0] * 5),
        2.0,
        "one disturbed launch changes a mean of the ratios, but not their median.",
    ),
    Case(
        ([3.0] * 8 + [1.0] * 2, [2.0] * 10),
        1.0,
        "only eight of ten launches are faster, so the order is not clear: return 1.0.",
        "eight ratios of 1.5, two of 0.5",
    ),
    Case(
        ([3.0] * 9 + [1.0], [2.0] * 10),
        1.5,
        "nine of ten launches are faster: that is enough.",
        "nine ratios of 1.5, one of 0.5",
    ),
    Case(([1.0] * 10, [2.0] * 10), 0.5, "all launches of b are slower: a clear order, too.", "ten ratios of 0.5"),
)

EXERCISES = (RATE, SAME_RESULT, TYPICAL, TOO_FAST)
OPTIONAL = (TIMES_AS_FAST,)
