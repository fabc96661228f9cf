"""Answers to the exercises on tiling: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nTILE = 8\nT = 4\n\n\n"

FROM_GLOBAL = "(A[row, start + k] * B[start + k, col] if row < M and col < N and start + k < K else float32(0))"

WRONG = {
    "gram": {
        "rows of the block's own row": (("cuda.blockIdx.x * TILE + ty", "row"), "not at blockIdx.y"),
    },
    "barriers": {
        "an unknown T": (("range(TILE)", "range(BLOCK_SIZE)"), "the width of the tiles is called TILE"),
        "no parentheses": (("cuda.syncthreads()", "cuda.syncthreads"), "write cuda.syncthreads()"),
        "syncthreads without cuda": (("cuda.syncthreads()", "syncthreads()"), "write cuda.syncthreads"),
    },
    "tiles-of-transpose": {
        "as if it were A": (("At[start + tx, row]", "At[row, start + tx]"), "At was read as if it were A"),
        "the first pair in every iteration": (
            [("At[start + tx, row]", "At[tx, row]"), ("B[start + ty, col]", "B[ty, col]")],
            "start, where this pair begins, is missing",
        ),
        "B by rows": (("B[start + ty, col]", "B[col, start + ty]"), "In B the first index"),
    },
    "too-deep": {
        "three of them": (
            ("k, tx]\n        cuda.syncthreads()", "k, tx]\n        cuda.syncthreads()\n        cuda.syncthreads()"),
            "after the loop over k",
        ),
        "syncwarp instead": (("k, tx]\n        cuda.syncthreads()", "k, tx]\n        cuda.syncwarp()"), "one when"),
    },
    "report-tiled": {
        "the barrier alone": (("    C[row, col]", "        C[row, col]"), "store it at the end"),
        "the barrier in the inner loop": (
            ("i, tx]\n        cuda.syncthreads()", "i, tx]\n            cuda.syncthreads()"),
            "after the loop over k",
        ),
    },
}

NIGHTLY = {
    "barriers": {
        "no first barrier": (("        cuda.syncthreads()\n        for", "        for"), "need a barrier"),
        "no second barrier": (("k, tx]\n        cuda.syncthreads()", "k, tx]"), "need a barrier"),
        "barrier in the inner loop": (("k, tx]\n        cuda", "k, tx]\n            cuda"), "inside the loop over k"),
        "stops one short": (("range(TILE)", "range(TILE - 1)"), "already stops at TILE - 1"),
        "from global memory": (("A_tile[k, ty] * B_tile[k, tx]", FROM_GLOBAL), "do not load from A and B again"),
        "starts over": (
            ("        for k", "        acc = float32(0)\n        for k"),
            "set it to zero once, before the loop",
        ),
        "barrier in a guard": (
            (
                "        cuda.syncthreads()\n        for",
                "        if row < M and col < N:\n            cuda.syncthreads()\n        for",
            ),
            "out of any if",
        ),
        "range(K) for range(TILE)": (("range(TILE)", "range(K)"), "range(K) is not the length of a tile"),
        "T for TILE": (("range(TILE)", "range(T)"), "T is 4; these tiles are TILE = 8 wide"),
        "= for +=": (("acc += ", "acc = "), "add to it with `acc += …`"),
        "A's indices as in the lesson's kernel": (
            ("A_tile[k, ty]", "A_tile[ty, k]"),
            "`A_tile[ty, k]` are the wrong way round",
        ),
        "all indices swapped": (
            ("A_tile[k, ty] * B_tile[k, tx]", "A_tile[ty, k] * B_tile[tx, k]"),
            "`A_tile[ty, k]` and `B_tile[tx, k]` are the wrong way round",
        ),
        "only silences the finding": (
            [
                ("range(TILE)", "range(K)"),
                ("            acc += A_tile[k, ty]", "            if k < TILE:\n                acc += A_tile[k, ty]"),
            ],
            "only T iterations for each tile",
        ),
        "multiplies from global memory without a guard": (
            ["        for k in range(K):\n            acc += A[row, k] * B[k, col]"],
            "the tiles are in shared memory already",
        ),
    },
    "gram": {
        "uncoalesced": (
            [
                ("other = cuda.blockIdx.x * TILE + ty", "pass"),
                ("if other < M and start + tx < K", "if col < M and start + ty < K"),
                ("A[other, start + tx]", "A[col, start + ty]"),
                ("cols[tx, k]", "cols[k, tx]"),
            ],
            "tx run along the row",
        ),
        "wrong guard": (("if other < M and", "if row < M and"), "not `row`"),
        "no second barrier": (("[tx, k]\n        cuda.syncthreads()", "[tx, k]"), "finished with them"),
        "A times A": (
            [
                ("A[other, start + tx]", "A[start + ty, col]"),
                ("if other < M and start + tx < K", "if start + ty < M and col < K"),
                ("cols[tx, k]", "cols[k, tx]"),
            ],
            "this is A·A",
        ),
        "second tile unused": (
            ("cols[tx, k]", "(A[col, start + k] if col < M and start + k < K else float32(0))"),
            "one element of each tile",
        ),
        "barrier in the inner loop": (("[tx, k]\n        cuda", "[tx, k]\n            cuda"), "two barriers per pair"),
        "the second tile stored transposed": (("cols[ty, tx] = A", "cols[tx, ty] = A"), "do not match"),
        "the first tile transposed": (("rows[ty, k] *", "rows[k, ty] *"), "`rows[k, ty]` are the wrong way round"),
        "columns of A": (("A[other, start + tx]", "A[start + tx, other]"), "this is A·A"),
        "= for +=": (("acc += ", "acc = "), "add to it with `acc += …`"),
        "the second tile's indices": (("cols[tx, k]", "cols[k, tx]"), "`cols[k, tx]` are the wrong way round"),
    },
    "tiles-of-transpose": {
        "loads its tile's transpose": (
            ("At[start + tx, row]", "At[start + ty, cuda.blockIdx.y * TILE + tx]"),
            "the wrong way round",
        ),
        "B's tile forgotten": (("        B_tile[ty, tx] = B[start + ty, col]\n", ""), "no thread stored"),
        "all into one row": (("A_tile[ty, tx] =", "A_tile[0, tx] ="), "each fills its own"),
        "the tile turned, and not the row": (
            ("A_tile[ty, tx] = At[start + tx, row]", "A_tile[tx, ty] = At[start + ty, row]"),
            "row depends on ty",
        ),
    },
    "too-deep": {
        "none at the end": (("k, tx]\n        cuda.syncthreads()", "k, tx]"), "one after the loop along them"),
        "none before": (("        cuda.syncthreads()\n        for k", "        for k"), "needs two barriers"),
        "none at the start": (("col]\n        cuda.syncthreads()", "col]"), "one when the tiles are full"),
        "only the last thread's turn": (
            (
                "k, tx]\n        cuda.syncthreads()",
                "k, tx]\n            if k == tx:\n                cuda.syncthreads()",
            ),
            "keep it out of any if",
        ),
    },
    "report-tiled": {
        "the store alone": (("i, tx]\n        cuda.syncthreads()", "i, tx]"), "one after the loop along them"),
        "the barrier moved instead of added": (
            ("col]\n        cuda.syncthreads()", "col]"),
            "one when the tiles are full",
        ),
        "= for +=": (("Cv += ", "Cv = "), "add to it with `Cv += …`"),
    },
}

RIGHT = {
    "barriers": {
        "a while loop": [
            ("        for k in range(TILE):\n", "        k = 0\n        while k < TILE:\n"),
            ("* B_tile[k, tx]\n", "* B_tile[k, tx]\n            k += 1\n"),
        ],
        "a sum of the tile in between": [
            "        cuda.syncthreads()\n        part = float32(0)\n        for k in range(TILE - 1, -1, -1):\n"
            "            part += A_tile[k, ty] * B_tile[k, tx]\n        acc += part\n        cuda.syncthreads()"
        ],
    },
    "tiles-of-transpose": {
        "a step further in a variable": [
            "        k_of_A, k_of_B = start + tx, start + ty\n        B_tile[ty, tx], A_tile[ty, tx] = B[k_of_B, col], At[k_of_A, row]"
        ],
    },
    "too-deep": {
        "waits before the tiles are laid again": [
            ("k, tx]\n        cuda.syncthreads()", "k, tx]"),
            ("        A_tile[ty, tx] =", "        cuda.syncthreads()\n        A_tile[ty, tx] ="),
        ],
    },
    "report-tiled": {
        "waits before the tiles are laid again": [
            ("i, tx]\n        cuda.syncthreads()", "i, tx]"),
            ("        As[ty, tx] =", "        cuda.syncthreads()\n        As[ty, tx] ="),
        ],
    },
    "gram": {
        "a conditional expression, and backwards along the tile": [
            "        other = cuda.blockIdx.x * TILE + ty\n"
            "        cols[ty, tx] = A[other, start + tx] if other < M and start + tx < K else 0\n"
            "        cuda.syncthreads()\n        for k in range(TILE - 1, -1, -1):\n"
            "            acc += cols[tx, k] * rows[ty, k]\n        cuda.syncthreads()"
        ],
    },
}
