"""Answers to the exercises on debugging: repairs that are not enough with the first hint they meet, and others that are."""

HEADER = "from numba import cuda, float32\n\nTILE, THREADS = 8, 64\n\n\n"

STORE = "        C[row, col] = acc"
LOADS = "            A_tiles[1 - now, ty, tx] = A[row, start + TILE + tx]\n            B_tiles[1 - now, ty, tx] = B[start + TILE + ty, col]\n"
IF = "        if start + TILE < A.shape[1]:\n"

USED = "            acc += A_tile[ty, k] * B_tile[k, tx]\n"
ADDED = "        if row < M and col < N:\n            acc += D[row, col]\n"

WRONG = {
    "rows-of-b": {
        "only the guard fixed": (("B[k, col]", "B[col, k]"), "the loop goes along a row of B"),
        "only B fixed": ((STORE, "    C[row, col] = acc"), "a store that the guard does not cover"),
        "stored in the loop": ((STORE, "            C[row, col] = acc"), "stored once"),
        "a name misspelt": (("B[k, col]", "B[k, coll]"), "did you mean col?"),
        "A by columns": (("A[row, k]", "A[k, row]"), "beyond an array"),
    },
    "too-far": {
        "one round too few": (
            ("range(0, A.shape[1], TILE)", "range(0, A.shape[1] - TILE, TILE)"),
            "last pair of tiles",
        ),
        "a barrier more": (
            ("        now = 1 - now", "        cuda.syncthreads()\n        now = 1 - now"),
            "one in each iteration are enough",
        ),
    },
    "unseen-add": {
        "only the guard": ([("acc + D[row, col]", "acc"), (USED, USED + ADDED)], "should not?"),
        "D as the first value of each tile": (
            [
                (
                    "        cuda.syncthreads()\n        for k",
                    "        acc = D[row, col] if row < M and col < N else float32(0)\n        cuda.syncthreads()\n        for k",
                ),
                ("acc + D[row, col]", "acc"),
            ],
            "acc begins anew with each pair",
        ),
    },
    "unseen-sums": {
        "only the step": (("= acc\n    cuda.syncthreads()", "= acc"), "of the other warp"),
        "a barrier of the warp": (("= acc\n    cuda.syncthreads()", "= acc\n    cuda.syncwarp()"), "of the other warp"),
        "the barrier under the condition": (
            ("half]\n        cuda.syncthreads()", "half]\n            cuda.syncthreads()"),
            "also those that add nothing",
        ),
        "ends at 1": (("while half > 0", "while half > 1"), "odd numbers are missing"),
        "too many barriers": (
            [
                ("t < half:", "t < half:\n            parts[t] += 0"),
                ("        half //= 2", "        cuda.syncthreads()\n        half //= 2"),
            ],
            "one barrier before the loop",
        ),
    },
    "unseen-counts": {
        "only the barrier": (("cuda.atomic.add(counts, int(X[i]), 1)", "counts[int(X[i])] += 1"), "which operation"),
        "only the atomic": (("counts[t] = 0\n    cuda.syncthreads()", "counts[t] = 0"), "what orders"),
    },
}

NIGHTLY = {
    "rows-of-b": {
        "the row of C in B": (("B[k, col]", "B[k, row]"), "look at `B[k, row]`"),
        "one row too many": (("row < C.shape[0]", "row <= C.shape[0]"), "one row or column too many"),
        "half a guard": (("row < C.shape[0] and col < C.shape[1]", "row < C.shape[0]"), "a store that the guard"),
    },
    "too-far": {
        "the barrier under the question": (
            [
                (
                    "        cuda.syncthreads()\n        now",
                    "        if start + TILE < A.shape[1]:\n            cuda.syncthreads()\n        now",
                ),
                ("            A_tiles[1 - now", "            A_tiles[now"),
            ],
            "keep the barrier in every iteration",
        ),
        "the test is one too late": (
            ("if start + TILE < A.shape[1]", "if start + TILE <= A.shape[1]"),
            "start + TILE < K",
        ),
        "no barrier in the loop": (
            ("        cuda.syncthreads()\n        now", "        now"),
            "keep the barrier in every iteration",
        ),
    },
    "unseen-add": {
        "only D": (("if start + ty < K and", "if start + tx < K and"), "does the guard ask"),
        "D twice": (("acc + D[row, col]", "acc + D[row, col] + D[row, col]"), "C"),
        "no second barrier": (("k, tx]\n        cuda.syncthreads()", "k, tx]"), "when they have been used"),
        "the barrier under the guard": (
            ("k, tx]\n        cuda.syncthreads()", "k, tx]\n        if row < M:\n            cuda.syncthreads()"),
            "keep it out of the if",
        ),
    },
    "unseen-counts": {
        "the barrier under the condition": (
            ("counts[t] = 0\n    cuda.syncthreads()", "counts[t] = 0\n        cuda.syncthreads()"),
            "also those without an element",
        ),
        "a barrier of the warp": (("= 0\n    cuda.syncthreads()", "= 0\n    cuda.syncwarp()"), "what orders"),
        "three barriers": (("    if i <", "    cuda.syncthreads()\n    if i <"), "are enough"),
        "stored too early": (("1)\n    cuda.syncthreads()", "1)"), "what orders"),
    },
    "unseen-sums": {
        "only the barrier": (("A.shape[1], THREADS", "A.shape[1], 32"), "in the sum twice"),
    },
}

RIGHT = {
    "rows-of-b": {
        "an early return": (
            "    acc = float32(0)\n    if row < C.shape[0] and col < C.shape[1]:\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = acc",
            "    if row >= C.shape[0] or col >= C.shape[1]:\n        return\n    acc = float32(0)\n    for k in range(A.shape[1]):\n        acc += A[row, k] * B[k, col]\n    C[row, col] = acc",
        ),
    },
    "too-far": {
        "a shorter loop, and the last pair after it": [
            ("range(0, A.shape[1], TILE)", "range(TILE, A.shape[1], TILE)"),
            (IF, ""),
            (
                LOADS,
                "        A_tiles[1 - now, ty, tx] = A[row, start + tx]\n        B_tiles[1 - now, ty, tx] = B[start + ty, col]\n",
            ),
            (
                "    C[row, col] = acc",
                "    for k in range(TILE):\n        acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]\n    C[row, col] = acc",
            ),
        ],
    },
    "unseen-add": {
        "begins with D": [
            ("    acc = float32(0)\n", "    acc = D[row, col] if row < M and col < N else float32(0)\n"),
            ("acc + D[row, col]", "acc"),
        ],
    },
    "unseen-sums": {
        "the barrier at the top of the loop": [
            ("= acc\n    cuda.syncthreads()", "= acc"),
            ("half > 0:\n", "half > 0:\n        cuda.syncthreads()\n"),
            ("half]\n        cuda.syncthreads()", "half]"),
        ],
    },
    "unseen-counts": {
        "zeros in a loop of one thread": (
            "    if t < 40:\n        counts[t] = 0\n",
            "    if t == 0:\n        for j in range(40):\n            counts[j] = 0\n",
        ),
    },
}
