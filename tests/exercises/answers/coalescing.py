"""Answers to the exercises on coalescing: plausible wrong ones with the first hint they meet, and right ones."""

BY_Y = "cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y"
BY_X = "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"
BARRIER = "    cuda.syncthreads()\n"

SIDE = "i = cuda.blockIdx.x * 128 + 32 * step + cuda.threadIdx.x"

WRONG = {
    "gram": {
        "rows by tx": (
            ("other = cuda.blockIdx.x * TILE + ty", "other = cuda.blockIdx.x * TILE + tx"),
            "so the row must use ty",
        ),
    },
    "side-by-side": {
        "four neighbours each": ((SIDE, "i = 4 * cuda.grid(1) + step"), "four apart, or more"),
        "without the iteration": ((SIDE, "i = cuda.blockIdx.x * 128 + cuda.threadIdx.x"), "the index needs step"),
        "an iteration of 128": ((SIDE, "i = cuda.grid(1) + 128 * step"), "a block has 128 elements"),
    },
    "along-the-row": {
        "the load alone": (("A[row, col]", "A[col, row]"), "this is the transposed matrix"),
        "the threads alone": (
            [
                ("row = " + BY_Y, "row = cuda.blockIdx.y * 16 + cuda.threadIdx.x"),
                ("threadIdx.x\n    if", "threadIdx.y\n    if"),
            ],
            "the column must come from blockIdx.x",
        ),
        "both turned, and the kernel as it was": (
            [("row = " + BY_Y, "row = " + BY_X + " + 0"), ("col = " + BY_X + "\n", "col = " + BY_Y + "\n")],
            "the column must come from blockIdx.x",
        ),
    },
    "turn-a-tile": {
        "directly": (
            [
                ("C[to_row, to_col] = tile[tx, ty]", "C[col, row] = tile[ty, tx]"),
                ("if to_row < C.shape[0] and to_col < C.shape[1]", "if row < A.shape[0] and col < A.shape[1]"),
            ],
            "Let tx count columns of C",
        ),
        "the tile not turned": (("tile[tx, ty]", "tile[ty, tx]"), "the wrong way round"),
        "the tile in its old place": (
            (
                "cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx\n    if",
                "cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx\n    if",
            ),
            "the tile's place in C is blockIdx.x for its rows",
        ),
        "loaded down the columns": (
            [
                ("tile[ty, tx] = A[row, col]", "tile[tx, ty] = A[row, col]"),
                (
                    "row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx",
                    "row, col = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty",
                ),
            ],
            "tx must run along a row of A",
        ),
    },
}

NIGHTLY = {
    "side-by-side": {
        "without the block": ((SIDE, "i = 32 * step + cuda.threadIdx.x"), "the block, the iteration and the thread"),
        "blocks of 32 elements": ((SIDE, "i = cuda.grid(1) + 32 * step"), "each block begins 128 elements after"),
        "no thread": ((SIDE, "i = cuda.blockIdx.x * 128 + step"), "the iteration and the thread"),
    },
    "along-the-row": {
        "the blocks alone": (
            [
                ("row = " + BY_Y, "row = cuda.blockIdx.x * 16 + cuda.threadIdx.y"),
                ("col = " + BY_X, "col = cuda.blockIdx.x * 16 + cuda.threadIdx.x"),
            ],
            "two threads store into the same element",
        ),
        "no guard": (("row < A.shape[0] and col < A.shape[1]", "row >= 0 or col >= 0"), "the guard compares row"),
    },
    "turn-a-tile": {
        "no barrier": ((BARRIER, ""), "all must wait in between"),
        "guarded by A": (
            ("to_row < C.shape[0] and to_col < C.shape[1]", "row < A.shape[0] and col < A.shape[1]"),
            "the store by C's",
        ),
        "the barrier in the guard": (
            ("        tile[ty, tx] = A[row, col]\n" + BARRIER, "        tile[ty, tx] = A[row, col]\n    " + BARRIER),
            "keep it out of any if",
        ),
    },
}

RIGHT = {
    "side-by-side": {
        "all the grid's threads side by side": (SIDE, "i = step * cuda.gridsize(1) + cuda.grid(1)"),
        "counted in warps": (SIDE, "i = (4 * cuda.blockIdx.x + step) * cuda.warpsize + cuda.laneid"),
    },
    "along-the-row": {
        "by cuda.grid": ("    row = " + BY_Y + "\n    col = " + BY_X, "    col, row = cuda.grid(2)"),
    },
    "turn-a-tile": {
        "turned when the tile is filled": [
            ("tile[ty, tx] = A", "tile[tx, ty] = A"),
            ("= tile[tx, ty]", "= tile[ty, tx]"),
        ],
    },
}
