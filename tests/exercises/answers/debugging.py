"""Answers to the exercises on debugging: repairs that are not enough with the first hint they meet, and others that are."""

STORE = "        C[row, col] = acc"
LOADS = "            A_tiles[1 - now, ty, tx] = A[row, start + TILE + tx]\n            B_tiles[1 - now, ty, tx] = B[start + TILE + ty, col]\n"
IF = "        if start + TILE < A.shape[1]:\n"

WRONG = [
    ("rows-of-b", "only the guard mended", [("B[k, col]", "B[col, k]")], "the loop goes along a row of B"),
    ("rows-of-b", "only B mended", [(STORE, "    C[row, col] = acc")], "a store that the guard does not cover"),
    ("rows-of-b", "stored in the loop", [(STORE, "            C[row, col] = acc")], "stored once"),
    ("rows-of-b", "a name misspelt", [("B[k, col]", "B[k, coll]")], "did you mean col?"),
    ("rows-of-b", "A by columns", [("A[row, k]", "A[k, row]")], "beyond an array"),
    ("rows-of-b", "the row of C in B", [("B[k, col]", "B[k, row]")], "look at `B[k, row]`", "nightly"),
    ("rows-of-b", "one row too many", [("row < C.shape[0]", "row <= C.shape[0]")], "one row or column too many"),
    (
        "rows-of-b",
        "half a guard",
        [("row < C.shape[0] and col < C.shape[1]", "row < C.shape[0]")],
        "a store that the guard",
        "nightly",
    ),
    (
        "wrong-tile-of-b",
        "only the loop mended",
        [
            (
                "B[start + ty, col] if start + ty < K and col < N",
                "B[start + ty, left + tx] if start + ty < K and left + tx < N",
            ),
            ("    (M, K)", "    left = cuda.blockIdx.y * TILE\n    (M, K)"),
        ],
        "must come from blockIdx.x",
    ),
    ("wrong-tile-of-b", "only the column mended", [("range(TILE)", "range(TILE - 1)")], "already stops at TILE - 1"),
    ("wrong-tile-of-b", "one too many", [("range(TILE)", "range(TILE + 1)")], "is not the length of a tile", "nightly"),
    (
        "wrong-tile-of-b",
        "the guard forgotten",
        [("if start + ty < K and col < N", "if start + ty < K and row < N")],
        "the row and the column that are loaded",
        "nightly",
    ),
    (
        "wrong-tile-of-b",
        "row and column exchanged",
        [
            (
                "cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx",
                "cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx",
            )
        ],
        "x and y look swapped",
    ),
    (
        "wrong-tile-of-b",
        "tiles not synchronised",
        [("k, tx]\n        cuda.syncthreads()", "k, tx]")],
        "when they have been used",
        "nightly",
    ),
    (
        "one-barrier",
        "barrier only",
        [
            (
                "    if row < M and col < N:\n        C[row, col] = acc",
                "        if row < M and col < N:\n            C[row, col] = acc",
            )
        ],
        "Store after the loop",
    ),
    (
        "one-barrier",
        "store only",
        [("k, tx]\n        cuda.syncthreads()", "k, tx]")],
        "what keeps it from doing so",
        "nightly",
    ),
    (
        "one-barrier",
        "a barrier of the warp",
        [("k, tx]\n        cuda.syncthreads()", "k, tx]\n        cuda.syncwarp()")],
        "not two warps",
        "nightly",
    ),
    (
        "one-barrier",
        "the barrier under the guard",
        [
            (
                "k, tx]\n        cuda.syncthreads()",
                "k, tx]\n        if row < M and col < N:\n            cuda.syncthreads()",
            )
        ],
        "keep it out of the if",
        "nightly",
    ),
    (
        "one-barrier",
        "the barrier in the inner loop",
        [("k, tx]\n        cuda", "k, tx]\n            cuda")],
        "two barriers for each pair",
        "nightly",
    ),
    (
        "one-barrier",
        "moved instead of added",
        [("        cuda.syncthreads()\n        for k", "        for k")],
        "what keeps it from doing so",
        "nightly",
    ),
    (
        "too-far",
        "one round too few",
        [("range(0, A.shape[1], TILE)", "range(0, A.shape[1] - TILE, TILE)")],
        "last pair of tiles",
    ),
    (
        "too-far",
        "the barrier under the question",
        [
            (
                "        cuda.syncthreads()\n        now",
                "        if start + TILE < A.shape[1]:\n            cuda.syncthreads()\n        now",
            ),
            ("            A_tiles[1 - now", "            A_tiles[now"),
        ],
        "keep the barrier in every iteration",
        "nightly",
    ),
    (
        "too-far",
        "the test is one too late",
        [("if start + TILE < A.shape[1]", "if start + TILE <= A.shape[1]")],
        "start + TILE < K",
        "nightly",
    ),
    (
        "too-far",
        "no barrier in the loop",
        [("        cuda.syncthreads()\n        now", "        now")],
        "keep the barrier in every iteration",
        "nightly",
    ),
    (
        "too-far",
        "a barrier more",
        [("        now = 1 - now", "        cuda.syncthreads()\n        now = 1 - now")],
        "one in each iteration are enough",
    ),
]

RIGHT = [
    (
        "rows-of-b",
        "an early return",
        [
            (
                "    acc = float32(0)\n    if row < C.shape[0] and col < C.shape[1]:\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = acc",
                "    if row >= C.shape[0] or col >= C.shape[1]:\n        return\n    acc = float32(0)\n    for k in range(A.shape[1]):\n        acc += A[row, k] * B[k, col]\n    C[row, col] = acc",
            )
        ],
    ),
    (
        "wrong-tile-of-b",
        "left kept, from blockIdx.x",
        [
            ("    (M, K)", "    left = cuda.blockIdx.x * TILE\n    (M, K)"),
            ("B[start + ty, col]", "B[start + ty, left + tx]"),
        ],
    ),
    (
        "one-barrier",
        "the barrier at the top",
        [
            ("k, tx]\n        cuda.syncthreads()", "k, tx]"),
            ("        A_tile[ty, tx] = A", "        cuda.syncthreads()\n        A_tile[ty, tx] = A"),
        ],
    ),
    (
        "too-far",
        "a shorter loop, and the last pair after it",
        [
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
    ),
]
