"""Answers on many shapes: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nTILE, SHARES = 8, 4\n\n\n"

RANGE = "share * K // SHARES, (share + 1) * K // SHARES"
LOOP = f"        for k in range({RANGE}):\n"
SUM = "            acc += A[row, k] * B[k, col]\n"
STORE = "        P[share, row, col] = acc"

WRONG = {
    "busy": {
        "rounded down": (["    waves = tiles // at_once\n    return tiles / (waves * at_once)"], "raised"),
        "always one more": (
            ["    waves = tiles // at_once + 1\n    return tiles / (waves * at_once)"],
            "132-tiles-132-at-once",
        ),
        "the waves themselves": (["    return tiles / at_once"], "133-tiles-132-at-once"),
        "the number of waves": (["    return -(-tiles // at_once)"], "8-tiles-132-at-once"),
        "upside down": (
            ["    waves = -(-tiles // at_once)\n    return waves * at_once / tiles"],
            "8-tiles-132-at-once",
        ),
        "132 for every GPU": (
            ["    waves = -(-tiles // 132)\n    return tiles / (waves * 132)"],
            "100-tiles-40-at-once",
        ),
    },
    "share-of-k": {
        "all of K": (["        for k in range(K):\n" + SUM + STORE], "diagnosis: sums all of K"),
        "the rest is nobody's": (
            ["        for k in range(share * (K // SHARES), (share + 1) * (K // SHARES)):\n" + SUM + STORE],
            "diagnosis: Multiply first",
        ),
        "the first share in each": (
            ["        for k in range(K // 4):\n" + SUM + STORE],
            "diagnosis: every block sums the first share",
        ),
        "equal shares, rounded up": (
            [LOOP.replace(RANGE, "share * -(-K // 4), min(K, (share + 1) * -(-K // 4))") + SUM + STORE],
            "diagnosis: are as good",
        ),
        "every fourth element": ([LOOP.replace(RANGE, "share, K, SHARES") + SUM + STORE], "diagnosis: is contiguous"),
        "no parentheses": (
            [LOOP.replace("(share + 1)", "share + 1") + SUM + STORE],
            "diagnosis: multiplies before it adds",
        ),
        "a true division": (["        for k in range(K / 4):\n" + SUM + STORE], "diagnosis: //"),
        "into one matrix": ([LOOP + SUM + "        P[0, row, col] = acc"], "race"),
        "the share last": ([LOOP + SUM + "        P[row, col, share] = acc"], "out-of-bounds"),
        "= for +=": ([LOOP + SUM.replace("+=", "=") + STORE], "sum-replaced"),
        "no store": ([LOOP + SUM], "never-stored"),
    },
    "add-shares": {
        "one share": (["        acc += P[0, row, col]\n        C[row, col] = acc"], "one-share-alone"),
        "the share last": (
            ["        for share in range(SHARES):\n            acc += P[row, col, share]\n        C[row, col] = acc"],
            "out-of-bounds",
        ),
        "one share too few": (
            [
                "        for share in range(SHARES - 1):\n            acc += P[share, row, col]\n        C[row, col] = acc"
            ],
            "one-name-or-number",
        ),
        "= for +=": (
            ["        for share in range(SHARES):\n            acc = P[share, row, col]\n        C[row, col] = acc"],
            "sum-replaced",
        ),
        "stored in the loop": (
            [
                "        for share in range(SHARES):\n            acc += P[share, row, col]\n            C[row, col] = acc"
            ],
            "stores-of-c",
        ),
        "added in memory": (
            ["        for share in range(SHARES):\n            C[row, col] += P[share, row, col]"],
            "not-zero-at-the-start",
        ),
    },
    "sliced": {
        "no barrier": (("= acc\n    cuda.syncthreads()", "= acc"), "race"),
        "slice 0 alone": (("range(1, SHARES)", "range(1, 1)"), "diagnosis: the sums of slice 0 only"),
    },
}

NIGHTLY = {
    "share-of-k": {
        "stored in the loop": ([LOOP + SUM + "    " + STORE], "some-never-stored"),
        "one less": ([LOOP.replace(" // SHARES):", " // SHARES - 1):") + SUM + STORE], "one-name-or-number"),
    },
    "sliced": {
        "the barrier inside C": (
            ("    cuda.syncthreads()\n", "    if row < M and col < N:\n        cuda.syncthreads()\n"),
            "barrier-divergence",
        ),
        "all of K in each": (
            ("range(part * K // SHARES, (part + 1) * K // SHARES)", "range(K)"),
            "diagnosis: sums all of K",
        ),
        "divided first": (
            (
                "range(part * K // SHARES, (part + 1) * K // SHARES)",
                "range(part * (K // SHARES), (part + 1) * (K // SHARES))",
            ),
            "diagnosis: in no slice",
        ),
        "all four store": (("part == 0 and row", "row"), "race"),
        "its own sum again": (
            ("acc += parts[other, ty, tx]", "acc += parts[other, ty, tx] + 0 * parts[0, ty, tx]"),
            "shared-loads-per-thread",
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
