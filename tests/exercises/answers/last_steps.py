"""Answers to the exercises on the last steps: plausible wrong ones with the first hint they meet, and right ones."""

GAIN = "return (busy_after / executed_after) / (busy_before / executed_before)"
SECOND = "        B_tile[ty, tx + 8] = B[start + ty, col + 8] if start + ty < K and col + 8 < N else float32(0)\n"
BARRIER = "        cuda.syncthreads()\n"
RIGHT_SUM = "            right += a * B_tile[k, tx + 8]\n"

FITS = "height * width + sets * (height + width) + others <= registers"

WRONG = {
    "gain": {
        "upside down": ((GAIN, "return (busy_before / executed_before) / (busy_after / executed_after)"), "half the"),
        "instructions alone": ((GAIN, "return executed_before / executed_after"), "twice as many busy cycles"),
        "busy cycles alone": ((GAIN, "return busy_after / busy_before"), "half the instructions"),
        "multiplied": (
            (GAIN, "return (busy_after * executed_after) / (busy_before * executed_before)"),
            "half the instructions",
        ),
        "the speed alone": ((GAIN, "return busy_after / executed_after"), "half the instructions"),
        "added": (
            (GAIN, "return executed_before / executed_after + busy_after / busy_before - 1"),
            "both numbers are halved",
        ),
    },
    "rectangular-tiles": {
        "the same column of B": (("B[start + ty, col + 8]", "B[start + ty, col]"), "8 columns to the right"),
        "A's element read twice": (
            [("right += a *", "right += A_tile[ty, k] *"), ("left += a *", "left += A_tile[ty, k] *")],
            "keep A's element in a variable",
        ),
    },
    "fewest-reads": {
        "results alone": ((FITS, "height * width <= registers"), "the fragments too"),
        "squares": ((FITS, FITS + " and height == width"), "more than 255"),
        "not to the last register": ((FITS, FITS.replace("<=", "<")), "just fit"),
        "others forgotten": ((FITS, FITS.replace(" + others", "")), "4×8 is the best"),
        "not per multiplication": (("(height + width) / (height * width)", "height + width"), "8×16 results"),
        "the last that fits": (
            ("min(fewest, (height + width) / (height * width))", "(height + width) / (height * width)"),
            "8×16",
        ),
    },
}

NIGHTLY = {
    "rectangular-tiles": {
        "half of B's tile": ((SECOND, ""), "B's tile has 16 columns"),
        "the same column of the tile": ((RIGHT_SUM, RIGHT_SUM.replace(" + 8", "")), "8 columns"),
        "one guard for both": (("col + 8 < N else", "col < N else"), "its own guard"),
        "no second barrier": (("tx + 8]\n" + BARRIER, "tx + 8]\n"), "again before the next pair"),
        "no first barrier": ((BARRIER + "        for k", "        for k"), "when the tiles are full"),
        "= for +=": (("right += a", "right = a"), "add to it with `right += …`"),
    },
    "fewest-reads": {
        "one set": ((FITS, FITS.replace("sets * ", "")), "4×8 is the best"),
    },
}

RIGHT = {
    "gain": {
        "two factors": (GAIN, "return executed_before / executed_after * busy_after / busy_before"),
    },
    "rectangular-tiles": {
        "a loop over the halves": (
            "        B_tile[ty, tx] = B[start + ty, col] if start + ty < K and col < N else float32(0)\n" + SECOND,
            (
                "        for j in range(0, 16, 8):\n            B_tile[ty, tx + j] = 0\n"
                "            if start + ty < K and col + j < N:\n"
                "                B_tile[ty, tx + j] = B[start + ty, col + j]\n"
            ),
        ),
    },
    "fewest-reads": {
        "a list": (
            "                fewest = min(fewest, (height + width) / (height * width))",
            "                fewest = min([fewest, 1 / height + 1 / width])",
        ),
    },
}
