"""Answers on many shapes and tensor cores: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nfrom course_lib.kernels.tensor_core import mma_tf32\n\nTILE, SHARES = 8, 4\n\n\n"

RANGE = "share * K // SHARES, (share + 1) * K // SHARES"
LOOP = f"        for k in range({RANGE}):\n"
SUM = "            acc += A[row, k] * B[k, col]\n"
STORE = "        P[share, row, col] = acc"
A_ITEMS = "        a = A[top + q, k + t], A[top + q + 8, k + t], A[top + q, k + t + 4], A[top + q + 8, k + t + 4]\n"
B_ITEMS = "        b = B[k + t, left + q], B[k + t + 4, left + q]"

WRONG = [
    (
        "busy",
        "rounded down",
        ["    waves = tiles // at_once\n    return tiles / (waves * at_once)"],
        "raised ZeroDivisionError",
    ),
    (
        "busy",
        "always one more",
        ["    waves = tiles // at_once + 1\n    return tiles / (waves * at_once)"],
        "everybody works",
    ),
    ("busy", "the waves themselves", ["    return tiles / at_once"], "the waves up"),
    ("busy", "the number of waves", ["    return -(-tiles // at_once)"], "only 8 of its 132 places"),
    (
        "busy",
        "upside down",
        ["    waves = -(-tiles // at_once)\n    return waves * at_once / tiles"],
        "only 8 of its 132",
    ),
    ("busy", "132 for every GPU", ["    waves = -(-tiles // 132)\n    return tiles / (waves * 132)"], "on any GPU"),
    ("share-of-k", "all of K", ["        for k in range(K):\n" + SUM + STORE], "sums all of K"),
    (
        "share-of-k",
        "the rest is nobody's",
        ["        for k in range(share * (K // SHARES), (share + 1) * (K // SHARES)):\n" + SUM + STORE],
        "Multiply first",
    ),
    (
        "share-of-k",
        "the first share in each",
        ["        for k in range(K // 4):\n" + SUM + STORE],
        "every block sums the first share",
    ),
    ("share-of-k", "every fourth element", [LOOP.replace(RANGE, "share, K, SHARES") + SUM + STORE], "is contiguous"),
    (
        "share-of-k",
        "no parentheses",
        [LOOP.replace("(share + 1)", "share + 1") + SUM + STORE],
        "a product comes before a sum",
    ),
    ("share-of-k", "one less", [LOOP.replace(" // SHARES):", " // SHARES - 1):") + SUM + STORE], "look at `range("),
    ("share-of-k", "a true division", ["        for k in range(K / 4):\n" + SUM + STORE], "//"),
    ("share-of-k", "into one matrix", [LOOP + SUM + "        P[0, row, col] = acc"], "into its own matrix"),
    ("share-of-k", "the share last", [LOOP + SUM + "        P[row, col, share] = acc"], "the share comes first"),
    ("share-of-k", "= for +=", [LOOP + SUM.replace("+=", "=") + STORE], "replaces the sum in every"),
    ("share-of-k", "stored in the loop", [LOOP + SUM + "    " + STORE], "were never stored", "nightly"),
    ("share-of-k", "no store", [LOOP + SUM], "never stores into P"),
    (
        "fragments",
        "k forgotten",
        [(A_ITEMS, A_ITEMS.replace("k + ", "")), (B_ITEMS, B_ITEMS.replace("k + ", ""))],
        "at k",
    ),
    ("fragments", "the first tile of A", [(A_ITEMS, A_ITEMS.replace("top + ", ""))], "begin at top"),
    ("fragments", "the first tile of B", [(B_ITEMS, B_ITEMS.replace("left + ", ""))], "begin at left", "nightly"),
    (
        "fragments",
        "B's indices exchanged",
        [(B_ITEMS, "        b = B[left + q, k + t], B[left + q, k + t + 4]")],
        "t counts the rows, along K",
    ),
    (
        "fragments",
        "A's middle items exchanged",
        [
            (
                A_ITEMS,
                "        a = A[top + q, k + t], A[top + q, k + t + 4], A[top + q + 8, k + t], A[top + q + 8, k + t + 4]\n",
            )
        ],
        "second item",
    ),
    (
        "fragments",
        "q and t exchanged in B",
        [(B_ITEMS, "        b = B[k + q, left + t], B[k + q, left + t + 4]")],
        "t counts",
        "nightly",
    ),
]

RIGHT = [
    (
        "busy",
        "by the remainder",
        ["    idle = -tiles % at_once\n    return tiles / (tiles + idle)"],
    ),
    (
        "share-of-k",
        "the bounds named",
        [
            "        first, last = share * K // SHARES, (share + 1) * K // SHARES\n"
            "        for k in range(first, last):\n" + SUM + STORE
        ],
    ),
    (
        "fragments",
        "rows and columns named",
        [
            (
                A_ITEMS,
                "        y, x = top + q, k + t\n        a = A[y, x], A[y + 8, x], A[y, x + 4], A[y + 8, x + 4]\n",
            )
        ],
    ),
]
