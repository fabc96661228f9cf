"""The exercises of the lesson on speed tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..grading.exercise import FILL_IN, FIND, Array
from ..grading.explain import Explanation
from ..grading.routines import Case, Routine


def _matrix(value: float = 1.0, shape: tuple[int, int] = (3, 4)) -> Array:
    return np.full(shape, value, np.float32)


def _with(value: float, matrix: Array, *places: tuple[int, int]) -> Array:
    changed = matrix.copy()
    for place in places:
        changed[place] = value
    return changed


_COUNTED = np.arange(12, dtype=np.float32).reshape(3, 4)


def _another_pair(rng: np.random.Generator) -> tuple[tuple[Array, Array], bool]:
    want = rng.integers(-9, 10, (5, 6)).astype(np.float32)
    same = bool(rng.integers(2))
    return (want if same else _with(20.0, want, (int(rng.integers(5)), int(rng.integers(6)))), want), same


#: A comparison that NaN cannot pass.
SAME_RESULT = Routine(
    name="same-result",
    another=_another_pair,
    parameters=("C", "want"),
    cases=(
        Case("two equal matrices", (_COUNTED, _COUNTED), True, "equal matrices are the same, also where both hold 0."),
        Case(
            "one element off by 1",
            (_with(4.0, _COUNTED, (0, 3)), _COUNTED),
            False,
            "one wrong element is enough to be wrong: ask about all of them, not about some.",
        ),
        Case(
            "two errors, +1 and -1",
            (_with(2.0, _with(0.0, _matrix(), (0, 0)), (2, 3)), _matrix()),
            False,
            "the two errors cancel in a sum: compare element by element.",
        ),
        Case(
            "one element NaN",
            (_with(np.nan, _COUNTED, (1, 1)), _COUNTED),
            False,
            "every comparison with NaN is False, also `nan > 0.001`: ask whether elements are close, and not whether "
            "they are far.",
        ),
        Case("C full of NaN", (_matrix(np.nan), _matrix()), False, "a C that nobody stored must not pass."),
        Case(
            "NaN in C and in want",
            (_with(np.nan, _COUNTED, (1, 1)), _with(np.nan, _COUNTED, (1, 1))),
            False,
            "where the truth is NaN nothing can be compared: NaN is not close to NaN either.",
        ),
        Case("one element infinite", (_with(np.inf, _COUNTED, (1, 1)), _COUNTED), False, "infinity is not close."),
        Case(
            "one element 1 % too large",
            (_with(8.08, _COUNTED, (2, 0)), _COUNTED),
            False,
            "1 % is no rounding: float32 keeps about seven decimal digits.",
        ),
        Case(
            "small numbers, each twice as large",
            (_matrix(0.002), _matrix(0.001)),
            False,
            "what is a small difference depends on the number: 0.001 is small beside 1,000, and not beside 0.001.",
        ),
        Case(
            "float32's rounding, near 1",
            (_matrix(1 + 2.0**-20), _matrix()),
            True,
            "sums in another order differ in the last digits: allow a small difference.",
        ),
        Case(
            "float32's rounding, near a million",
            (_matrix(1_000_000.25), _matrix(1_000_000.0)),
            True,
            "the last digit of a large number is larger: allow a difference relative to the number.",
        ),
        Case(
            "a row in place of the matrix",
            (_matrix(1.0, (1, 4)), _matrix()),
            False,
            "NumPy stretches a single row over a whole matrix before it compares: look at the shapes first.",
        ),
    ),
)


def _another_rate(rng: np.random.Generator) -> tuple[tuple[Any, ...], float]:
    M, N, K, milliseconds = rng.integers(200, 900, 4).tolist()
    return (M, N, K, milliseconds / 64), 2 * M * N * K / (milliseconds / 64) / 1e6


#: From a time to a rate.
RATE = Routine(
    name="rate",
    another=_another_rate,
    kind=FILL_IN,
    parameters=("M", "N", "K", "milliseconds"),
    cases=(
        Case(
            "1000×1000 times 1000×1000 in 1 ms",
            (1000, 1000, 1000, 1.0),
            2000.0,
            "an element of C takes K multiplications and K additions, and a GFLOP/s is a thousand million flop in a "
            "second: 1 ms is 0.001 s.",
        ),
        Case("the same in 2 ms", (1000, 1000, 1000, 2.0), 1000.0, "twice the time is half the rate."),
        Case(
            "M, N, K = 100, 50, 400 in 0.75 ms",
            (100, 50, 400, 0.75),
            16 / 3,
            "M·N elements, each of them K long: all three sizes count, and a rate need not be a whole number.",
        ),
    ),
)

_TYPICAL = """
def typical(milliseconds, warmups):
    total = 0.0
    for repeat in milliseconds:
        total += repeat
    return total / len(milliseconds)
"""


def _another_series(rng: np.random.Generator) -> tuple[tuple[list[float], int], float]:
    milliseconds, warmups = rng.integers(20, 90, 12).astype(float).tolist(), int(rng.integers(1, 5))
    return (milliseconds, warmups), float(np.median(milliseconds[warmups:]))


#: A mean over everything, where a median of the launches after the warm-ups is wanted.
TYPICAL = Routine(
    name="typical",
    another=_another_series,
    kind=FIND,
    parameters=("milliseconds", "warmups"),
    given=_TYPICAL,
    cases=(
        Case(
            "[4, 2, 3] without warm-ups",
            ([4.0, 2.0, 3.0], 0),
            3.0,
            "without warm-ups every repeat counts, and the median is the one in the middle once they are sorted.",
        ),
        Case(
            "[900, 2, 2, 2] with 1 warm-up",
            ([900.0, 2.0, 2.0, 2.0], 1),
            2.0,
            "the first launch compiles the kernel: leave out the first `warmups` repeats.",
        ),
        Case(
            "[2, 2, 50, 2, 3] without warm-ups",
            ([2.0, 2.0, 50.0, 2.0, 3.0], 0),
            2.0,
            "one disturbed repeat of 50 moves a mean, and not a median.",
        ),
        Case("[3, 1, 6, 2] without warm-ups", ([3.0, 1.0, 6.0, 2.0], 0), 2.5, "the median of four is between two."),
        Case(
            "[9, 1, 2, 3] with 1 warm-up",
            ([9.0, 1.0, 2.0, 3.0], 1),
            2.0,
            "leave out the first `warmups` repeats and no others; sort after that, or the least ones are gone.",
        ),
        Case(
            "[1, 2, 8, 6, 7] with 2 warm-ups",
            ([1.0, 2.0, 8.0, 6.0, 7.0], 2),
            7.0,
            "sort only after the warm-ups are gone: they are the first repeats, not the largest.",
        ),
    ),
)

TOO_FAST = Explanation(
    name="too-fast",
    question="Two 8192×8192 matrices, multiplied in 0.256 ms: how do you see that this is not the kernel's time?",
    model="The product takes 2·8192³, about 1.1·10¹², flop. In 0.256 ms that would be 4,295 TFLOP/s, nearly seventy "
    "times what the GPU of our recordings can do in float32. A launch only puts the kernel into a queue and "
    "returns at once; the clock was stopped before the kernel had run. One must wait for the GPU, or use its events.",
    ideas=(
        "the rate that follows is beyond any GPU",
        "a launch returns before the kernel has run",
        "one must wait: synchronise, or use events",
    ),
)

EXERCISES = (RATE, SAME_RESULT, TYPICAL, TOO_FAST)
