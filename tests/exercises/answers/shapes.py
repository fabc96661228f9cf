"""Answers on many shapes: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nTILE, SHARES = 8, 4\n\n\n"

RANGE = "share * K // SHARES, (share + 1) * K // SHARES"
LOOP = f"        for k in range({RANGE}):\n"
SUM = "            acc += A[row, k] * B[k, col]\n"
STORE = "        P[share, row, col] = acc"

WRONG = {
    "busy": {
        "rounded down": (
            ["    waves = tiles // at_once\n    return tiles / (waves * at_once)"],
            "raised ZeroDivisionError",
        ),
        "always one more": (
            ["    waves = tiles // at_once + 1\n    return tiles / (waves * at_once)"],
            "all multiprocessors work",
        ),
        "the waves themselves": (["    return tiles / at_once"], "the waves up"),
        "the number of waves": (["    return -(-tiles // at_once)"], "only 8 of its 132 places"),
        "upside down": (["    waves = -(-tiles // at_once)\n    return waves * at_once / tiles"], "only 8 of its 132"),
        "132 for every GPU": (["    waves = -(-tiles // 132)\n    return tiles / (waves * 132)"], "on any GPU"),
    },
    "share-of-k": {
        "all of K": (["        for k in range(K):\n" + SUM + STORE], "sums all of K"),
        "the rest is nobody's": (
            ["        for k in range(share * (K // SHARES), (share + 1) * (K // SHARES)):\n" + SUM + STORE],
            "Multiply first",
        ),
        "the first share in each": (
            ["        for k in range(K // 4):\n" + SUM + STORE],
            "every block sums the first share",
        ),
        "every fourth element": ([LOOP.replace(RANGE, "share, K, SHARES") + SUM + STORE], "is contiguous"),
        "no parentheses": ([LOOP.replace("(share + 1)", "share + 1") + SUM + STORE], "multiplies before it adds"),
        "a true division": (["        for k in range(K / 4):\n" + SUM + STORE], "//"),
        "into one matrix": ([LOOP + SUM + "        P[0, row, col] = acc"], "into its own matrix"),
        "the share last": ([LOOP + SUM + "        P[row, col, share] = acc"], "the share comes first"),
        "= for +=": ([LOOP + SUM.replace("+=", "=") + STORE], "replaces the sum in every"),
        "no store": ([LOOP + SUM], "never stores into P"),
    },
    "add-shares": {
        "one share": (["        acc += P[0, row, col]\n        C[row, col] = acc"], "only the partial sums of share 0"),
        "the share last": (
            ["        for share in range(SHARES):\n            acc += P[row, col, share]\n        C[row, col] = acc"],
            "the share comes first",
        ),
        "one share too few": (
            [
                "        for share in range(SHARES - 1):\n            acc += P[share, row, col]\n        C[row, col] = acc"
            ],
            "look at `range(SHARES - 1)`",
        ),
        "= for +=": (
            ["        for share in range(SHARES):\n            acc = P[share, row, col]\n        C[row, col] = acc"],
            "add to it with `acc += …`",
        ),
        "stored in the loop": (
            [
                "        for share in range(SHARES):\n            acc += P[share, row, col]\n            C[row, col] = acc"
            ],
            "after the loop",
        ),
        "added in memory": (
            ["        for share in range(SHARES):\n            C[row, col] += P[share, row, col]"],
            "C is not zero when the kernel starts",
        ),
    },
    "sliced": {
        "no barrier": (("= acc\n    cuda.syncthreads()", "= acc"), "all must wait in between"),
        "slice 0 alone": (("range(1, SHARES)", "range(1, 1)"), "the sums of slice 0 only"),
    },
}

NIGHTLY = {
    "share-of-k": {
        "stored in the loop": ([LOOP + SUM + "    " + STORE], "were never stored"),
        "one less": ([LOOP.replace(" // SHARES):", " // SHARES - 1):") + SUM + STORE], "look at `range("),
    },
    "sliced": {
        "the barrier inside C": (
            ("    cuda.syncthreads()\n", "    if row < M and col < N:\n        cuda.syncthreads()\n"),
            "keep it out",
        ),
        "all of K in each": (("range(part * K // SHARES, (part + 1) * K // SHARES)", "range(K)"), "sums all of K"),
        "divided first": (
            (
                "range(part * K // SHARES, (part + 1) * K // SHARES)",
                "range(part * (K // SHARES), (part + 1) * (K // SHARES))",
            ),
            "in no slice",
        ),
        "all four store": (("part == 0 and row", "row"), "only one of the four"),
        "its own sum again": (
            ("acc += parts[other, ty, tx]", "acc += parts[other, ty, tx] + 0 * parts[0, ty, tx]"),
            "those of the others",
        ),
    },
}

RIGHT = {
    "busy": {
        "by the remainder": ["    idle = -tiles % at_once\n    return tiles / (tiles + idle)"],
    },
    "share-of-k": {
        "the bounds named": [
            "        first, last = share * K // SHARES, (share + 1) * K // SHARES\n"
            "        for k in range(first, last):\n" + SUM + STORE
        ],
    },
    "add-shares": {
        "all in one line": ["        C[row, col] = P[0, row, col] + P[1, row, col] + P[2, row, col] + P[3, row, col]"],
    },
    "sliced": {
        "an early store": ("    parts[part, ty, tx] = acc\n", "    if part > 0:\n        parts[part, ty, tx] = acc\n"),
    },
}
