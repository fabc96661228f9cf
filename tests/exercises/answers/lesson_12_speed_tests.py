"""Answers to the exercises on speed tests: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "import numpy as np\n\n\n"

CLOSE = "    return C.shape == want.shape and bool(np.linalg.norm(C - want) <= 1e-5 * np.linalg.norm(want))"
RATE = "    return 2 * M * N * K / (milliseconds / 1000) / 1e9"
MEDIAN = "    return float(np.median(milliseconds[warmups:]))"

RATIOS = "np.array(a) / np.array(b)"

WRONG = r"""
# rate
flop counted once: {RATE} ->     return M * N * K / (milliseconds / 1000) / 1e9 ? a-constant-factor
only squares: {RATE} ->     return 2 * M**3 / milliseconds / 1e6 ? parameter-not-used
upside down: {RATE} ->     return 2 * M * N * K * milliseconds / 1e6 ? other-operator
printed: {RATE} ->     print(2 * M * N * K / milliseconds / 1e6) ? returns-nothing
another name: {RATE} ->     return 2 * size**3 / milliseconds / 1e6 ? raised
a power by ^: {RATE} ->     return 2 * M * N * K / (milliseconds / 1000) / 10^9 ? power
a text: {RATE} ->     return f'{2e-6 * M * N * K / milliseconds} GFLOP/s' ? returns-text

# same-result
half a unit ? one-element-1-too-large
- {CLOSE} ->     return C.shape == want.shape and bool((np.abs(C - want) < 0.5).all())
a thousandth, for all numbers ? small-numbers-each-twice-as-large
- {CLOSE} ->     return C.shape == want.shape and bool(np.isclose(C, want, rtol=1e-5, atol=1e-3).all())
NaN equal to NaN ? nan-in-c-and-in-want
- {CLOSE} ->     return C.shape == want.shape and bool(np.isclose(C, want, equal_nan=True).all())
by NumPy's own ? float32-s-rounding-where-terms-cancel
- {CLOSE} ->     return C.shape == want.shape and bool(np.isclose(C, want, rtol=1e-4).all())
not made one: {CLOSE} ->     return np.isclose(C, want) ? returns-many
raised, not returned: {CLOSE} ->     np.testing.assert_allclose(C, want, rtol=1e-5)\n    return True ? failed-assertion
far is asked ? one-element-nan
- {CLOSE} ->     if C.shape != want.shape:\n        return False\n
+     return not (np.abs(C - want) > 1e-3 * np.abs(want) + 1e-6).any()
a sum ? two-errors-1-and-1
- {CLOSE} ->     return C.shape == want.shape and bool(abs((C - want).sum()) <= 1e-3 * abs(want.sum()))
equal: {CLOSE} ->     return np.array_equal(C, want) ? float32-s-rounding-near-1
absolute ? float32-s-rounding-near-a-million
- {CLOSE} ->     return C.shape == want.shape and bool((np.abs(C - want) < 1e-4).all())
any instead of all ? one-element-off-by-1
- {CLOSE} ->     return C.shape == want.shape and bool(np.isclose(C, want).any())
no look at the shapes: {CLOSE} ->     return bool(np.allclose(C, want)) ? a-row-in-place-of-the-matrix

# typical
mean without the warm-ups ? milliseconds-2-0-2-0-50-0-2-0-3-0-warmups-0
- {MEDIAN} ->     return sum(milliseconds[warmups:]) / len(milliseconds[warmups:])
median of all: {MEDIAN} ->     return float(np.median(milliseconds)) ? parameter-not-used
the least: {MEDIAN} ->     return min(milliseconds[warmups:]) ? milliseconds-4-0-2-0-3-0-warmups-0
the largest left out ? milliseconds-1-0-2-0-8-0-6-0-7-0-warmups-2
- {MEDIAN} ->     return float(np.median(sorted(milliseconds)[: len(milliseconds) - warmups]))
the upper of the middle two ? milliseconds-3-0-1-0-6-0-2-0-warmups-0
- {MEDIAN} ->     rest = sorted(milliseconds[warmups:])\n    return rest[len(rest) // 2]

# times-as-fast
upside down: {RATIOS} -> np.array(b) / np.array(a) ? upside-down
ratio of the medians: np.median(ratios) -> np.median(a) / np.median(b) ? a-10-0-12-0-40-0-b-8-0-10-0-20-0
always: if clear else 1.0 -> if True else 1.0 ? eight-ratios-of-1-5-two-of-0-5
only if b is faster: max((ratios > 1).mean(), (ratios < 1).mean()) -> (ratios > 1).mean() ? a-2-0-2-0-b-4-0-4-0
more than nine of ten: >= 0.9 -> > 0.9 ? just-fits
"""

RIGHT = r"""
# rate
in another order: {RATE} ->     return 2e-6 * K * N * M / milliseconds

# same-result
by squares: {CLOSE} ->     return C.shape == want.shape and bool(((C - want) ** 2).sum() <= 1e-10 * (want**2).sum())

# typical
sorted by hand
- {MEDIAN} ->     rest = sorted(milliseconds[warmups:])\n    half = len(rest) // 2\n
+     return (rest[half] + rest[-half - 1]) / 2

# times-as-fast
counted in a loop
-     clear = max((ratios > 1).mean(), (ratios < 1).mean()) >= 0.9\n
+  ->     faster = sum(1 for ratio in ratios if ratio > 1)\n    slower = sum(1 for ratio in ratios if ratio < 1)\n
+     clear = 10 * max(faster, slower) >= 9 * len(ratios)\n
"""
