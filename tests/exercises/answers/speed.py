"""Answers to the exercises on speed tests: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "import numpy as np\n\n\n"

CLOSE = "    return C.shape == want.shape and bool(np.linalg.norm(C - want) <= 1e-5 * np.linalg.norm(want))"
RATE = "    return 2 * M * N * K / (milliseconds / 1000) / 1e9"
MEDIAN = "    return float(np.median(milliseconds[warmups:]))"

RATIOS = "np.array(a) / np.array(b)"

WRONG = {
    "rate": {
        "flop counted once": (
            (RATE, "    return M * N * K / (milliseconds / 1000) / 1e9"),
            "K multiplications and K additions",
        ),
        "milliseconds for seconds": ((RATE, "    return 2 * M * N * K / milliseconds / 1e9"), "1 ms is 0.001 s"),
        "only squares": ((RATE, "    return 2 * M**3 / milliseconds / 1e6"), "all three sizes count"),
        "upside down": ((RATE, "    return 2 * M * N * K * milliseconds / 1e6"), "half the rate"),
        "TFLOP/s": ((RATE, "    return 2 * M * N * K / milliseconds / 1e9"), "a thousand million flop"),
        "printed": ((RATE, "    print(2 * M * N * K / milliseconds / 1e6)"), "returns nothing"),
        "another name": ((RATE, "    return 2 * size**3 / milliseconds / 1e6"), "name 'size' is not defined"),
        "a power by ^": ((RATE, "    return 2 * M * N * K / (milliseconds / 1000) / 10^9"), "10**9, or 1e9"),
        "a text": ((RATE, "    return f'{2e-6 * M * N * K / milliseconds} GFLOP/s'"), "returns a text"),
        "whole numbers": ((RATE, "    return 2 * M * N * K // (milliseconds * 10**6)"), "whole number"),
    },
    "same-result": {
        "half a unit": (
            (CLOSE, "    return C.shape == want.shape and bool((np.abs(C - want) < 0.5).all())"),
            "1 % is more than rounding",
        ),
        "a thousandth, for all numbers": (
            (CLOSE, "    return C.shape == want.shape and bool(np.isclose(C, want, rtol=1e-5, atol=1e-3).all())"),
            "depends on the number",
        ),
        "NaN equal to NaN": (
            (CLOSE, "    return C.shape == want.shape and bool(np.isclose(C, want, equal_nan=True).all())"),
            "not close to NaN either",
        ),
        "not made one": ((CLOSE, "    return np.isclose(C, want)"), "many answers"),
        "raised, not returned": (
            (CLOSE, "    np.testing.assert_allclose(C, want, rtol=1e-5)\n    return True"),
            "it raised AssertionError",
        ),
        "far is asked": (
            (
                CLOSE,
                "    if C.shape != want.shape:\n        return False\n    return not (np.abs(C - want) > 1e-3 * np.abs(want) + 1e-6).any()",
            ),
            "every comparison with NaN is False",
        ),
        "a sum": (
            (CLOSE, "    return C.shape == want.shape and bool(abs((C - want).sum()) <= 1e-3 * abs(want.sum()))"),
            "cancel in a sum",
        ),
        "equal": ((CLOSE, "    return np.array_equal(C, want)"), "differ in the last digits"),
        "absolute": (
            (CLOSE, "    return C.shape == want.shape and bool((np.abs(C - want) < 1e-4).all())"),
            "relative to the number",
        ),
        "any instead of all": (
            (CLOSE, "    return C.shape == want.shape and bool(np.isclose(C, want).any())"),
            "compare all elements",
        ),
        "no look at the shapes": ((CLOSE, "    return bool(np.allclose(C, want))"), "compare the shapes first"),
        "NaN counts as equal": (
            (
                CLOSE,
                "    return C.shape == want.shape and bool(np.isclose(np.nan_to_num(C, nan=1.0), np.nan_to_num(want)).mean() > 0.9)",
            ),
            "compare all elements",
        ),
    },
    "typical": {
        "mean without the warm-ups": (
            (MEDIAN, "    return sum(milliseconds[warmups:]) / len(milliseconds[warmups:])"),
            "changes the mean",
        ),
        "median of all": ((MEDIAN, "    return float(np.median(milliseconds))"), "and no others"),
        "sorted before the cut": (
            (MEDIAN, "    return float(np.median(sorted(milliseconds)[warmups:]))"),
            "leave out the smallest ones",
        ),
        "the least": ((MEDIAN, "    return min(milliseconds[warmups:])"), "in the middle after sorting"),
        "one too many": ((MEDIAN, "    return np.median(milliseconds[warmups + 1:])"), "every repeat counts"),
        "not sorted": (
            (MEDIAN, "    rest = milliseconds[warmups:]\n    return rest[len(rest) // 2]"),
            "in the middle after sorting",
        ),
        "the largest left out": (
            (MEDIAN, "    return float(np.median(sorted(milliseconds)[: len(milliseconds) - warmups]))"),
            "not the largest",
        ),
        "the last left out": (
            (MEDIAN, "    return float(np.median(milliseconds[: len(milliseconds) - warmups]))"),
            "sort only after",
        ),
        "the upper of the middle two": (
            (MEDIAN, "    rest = sorted(milliseconds[warmups:])\n    return rest[len(rest) // 2]"),
            "halfway between",
        ),
    },
    "times-as-fast": {
        "upside down": ((RATIOS, "np.array(b) / np.array(a)"), "half the time"),
        "ratio of the medians": (("np.median(ratios)", "np.median(a) / np.median(b)"), "compare neighbours first"),
        "the mean": (("np.median(ratios)", "np.mean(ratios)"), "compare neighbours first"),
        "always": (("if clear else 1.0", "if True else 1.0"), "only eight of ten"),
        "only if b is faster": (
            ("max((ratios > 1).mean(), (ratios < 1).mean())", "(ratios > 1).mean()"),
            "half as fast",
        ),
        "more than nine of ten": ((">= 0.9", "> 0.9"), "that is enough"),
    },
}

RIGHT = {
    "rate": {
        "in another order": (RATE, "    return 2e-6 * K * N * M / milliseconds"),
    },
    "same-result": {
        "by NumPy's own": (
            CLOSE,
            "    if C.shape != want.shape:\n        return False\n    return bool(np.isclose(C, want, rtol=1e-4).all())",
        ),
    },
    "typical": {
        "sorted by hand": (
            MEDIAN,
            "    rest = sorted(milliseconds[warmups:])\n    half = len(rest) // 2\n    return (rest[half] + rest[-half - 1]) / 2",
        ),
    },
    "times-as-fast": {
        "counted in a loop": (
            "    clear = max((ratios > 1).mean(), (ratios < 1).mean()) >= 0.9\n",
            (
                "    faster = sum(1 for ratio in ratios if ratio > 1)\n    slower = sum(1 for ratio in ratios if ratio < 1)\n"
                "    clear = 10 * max(faster, slower) >= 9 * len(ratios)\n"
            ),
        ),
    },
}
