"""Answers to the exercises on the way to the limit: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nfrom course_lib.kernels.vector import load4, store4\n\n\n"

VECTOR = "        if A.shape[1] % 4 == 0:\n            store4(C, row, col, load4(A, row, col))\n        else:\n"
SINGLE = "            for c in range(col, min(col + 4, A.shape[1])):\n                C[row, c] = A[row, c]\n"

WRONG = {
    "four-at-once": {
        "four scalar copies": (
            ["        for e in range(4):\n            C[row, col + e] = A[row, col + e]"],
            "load4 loads all",
        ),
        "stored one by one": (
            [
                "        a, b, c, d = load4(A, row, col)\n"
                "        C[row, col] = a\n        C[row, col + 1] = b\n        C[row, col + 2] = c\n        C[row, col + 3] = d"
            ],
            "store4 stores",
        ),
        "only the first": (["        C[row, col] = A[row, col]"], "every fourth column"),
        "one further": (["        store4(C, row, col, load4(A, row, col + 1))"], "do not multiply it again"),
        "columns for rows": (["        store4(C, col, row, load4(A, col, row))"], "the first index is the row"),
        "an element stored as four": (["        store4(C, row, col, A[row, col])"], "items in parentheses"),
    },
    "any-width": {
        "only whole fours": (
            [
                (VECTOR, "        if col + 3 < A.shape[1]:\n            store4(C, row, col, load4(A, row, col))\n"),
                (SINGLE, ""),
            ],
            "37 is not a multiple of 4",
        ),
        "one by one, always": (
            (
                VECTOR + SINGLE,
                SINGLE.replace("            for", "        for").replace("                C", "            C"),
            ),
            "one load4 for each thread",
        ),
        "the rest not at all": (
            (
                SINGLE,
                "            for c in range(col, col + 4):\n                if c < A.shape[1] // 4 * 4:\n                    C[row, c] = A[row, c]\n",
            ),
            "never stored",
        ),
    },
    "wide": {
        "all with b[0]": (
            [("b[1]", "b[0]"), ("b[2]", "b[0]"), ("b[3]", "b[0]")],
            "all four results of a thread are the same",
        ),
        "the tile's column in B": (("load4(B, start + ty, col)", "load4(B, start + ty, n)"), "the first 32 columns"),
    },
    "tall": {
        "no padding": (("array((8, 36)", "array((8, 32)"), "4 more columns"),
        "all with a[0]": (
            [("a[1] * b", "a[0] * b"), ("a[2] * b", "a[0] * b"), ("a[3] * b", "a[0] * b")],
            "element e of the four elements of A",
        ),
    },
}

NIGHTLY = {
    "four-at-once": {
        "col times four again": (["        store4(C, row, col, load4(A, row, 4 * col))"], "do not multiply it again"),
    },
    "any-width": {
        "to the end of the row": (
            ("range(col, min(col + 4, A.shape[1]))", "range(col, A.shape[1])"),
            "Other threads copy the rest",
        ),
        "one by one without a guard": (("min(col + 4, A.shape[1])", "col + 4"), "do not exist"),
        "the wrong size asked": (("A.shape[1] % 4 == 0", "col % 4 == 0"), "do not exist"),
        "even widths": (("A.shape[1] % 4 == 0", "A.shape[1] % 2 == 0"), "do not exist"),
    },
    "wide": {
        "B's tile still read one by one": (
            (
                "            b = load4(B_tile, k, n)\n",
                "            b = B_tile[k, n], B_tile[k, n + 1], B_tile[k, n + 2], B_tile[k, n + 3]\n",
            ),
            "of B's tile with one load4",
        ),
        "A's element four times": (
            [
                ("            a = A_tile[ty, k]\n", ""),
                ("acc[0] += a ", "acc[0] += A_tile[ty, k] "),
                ("acc[1] += a ", "acc[1] += A_tile[ty, k] "),
                ("acc[2] += a ", "acc[2] += A_tile[ty, k] "),
                ("acc[3] += a ", "acc[3] += A_tile[ty, k] "),
            ],
            "reads one element of A's tile once",
        ),
        "= for +=": (("] += a", "] = a"), "replaces the sum in every"),
        "one barrier": (("b[3]\n        cuda.syncthreads()", "b[3]"), "both barriers must stay"),
        "four elements of A": (
            ("            a = A_tile[ty, k]\n", "            a = load4(A_tile, ty, k)[0]\n"),
            "one element, not four",
        ),
        "no guard below B": (("start + ty < B.shape[0] and col", "col"), "a guard for its rows"),
        "tx for n": (("store4(B_tile, ty, n,", "store4(B_tile, ty, tx,"), "n in the tile"),
        "stored one by one": (
            (
                "        store4(C, row, col, (acc[0], acc[1], acc[2], acc[3]))\n",
                "        for e in range(4):\n            C[row, col + e] = acc[e]\n",
            ),
            "one store4",
        ),
    },
    "tall": {
        "padded by one": (("array((8, 36)", "array((8, 33)"), "not by 1"),
        "B's element four times": (("* b\n", "* B_tile[k, tx]\n"), "element of B's tile, once"),
        "no guard": (("top + row < A.shape[0] and start + first", "start + first"), "a guard of the row"),
        "half the columns": (("tx % 2 * 4", "0"), "each thread stores its own"),
    },
}

RIGHT = {
    "four-at-once": {
        "through four names": ["        a, b, c, d = load4(A, row, col)\n        store4(C, row, col, (a, b, c, d))"],
    },
    "any-width": {
        "four guarded lines": (
            SINGLE,
            "            for e in range(4):\n                if col + e < A.shape[1]:\n                    C[row, col + e] = A[row, col + e]\n",
        ),
    },
    "wide": {
        "four names": [
            ("            b = load4(B_tile, k, n)\n", "            b0, b1, b2, b3 = load4(B_tile, k, n)\n"),
            ("b[0]", "b0"),
            ("b[1]", "b1"),
            ("b[2]", "b2"),
            ("b[3]", "b3"),
        ],
    },
    "tall": {
        "a warp loads 32 rows": ("(8 * ty + tx) // 2, tx % 2 * 4", "(8 * ty + tx) % 32, (8 * ty + tx) // 32 * 4"),
    },
}
