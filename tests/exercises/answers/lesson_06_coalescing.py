"""Answers to the exercises on coalescing: plausible wrong ones with the first hint they meet, and right ones."""

BY_Y = "cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y"
BY_X = "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"
SIDE = "i = cuda.blockIdx.x * 128 + 32 * step + cuda.threadIdx.x"

WRONG = r"""
# gram
rows by tx: other = cuda.blockIdx.x * TILE + ty -> other = cuda.blockIdx.x * TILE + tx ? one-row-for-a-column-of-threads

# side-by-side
four neighbours each: {SIDE} -> i = 4 * cuda.grid(1) + step ? sectors-per-load-request-of-a
without the iteration: {SIDE} -> i = cuda.blockIdx.x * 128 + cuda.threadIdx.x ? one-iteration-alone
an iteration of 128: {SIDE} -> i = cuda.grid(1) + 128 * step ? out-of-bounds

# along-the-row
the blocks by the wrong direction ? only-in-square-grids
- row = {BY_Y} -> row = cuda.blockIdx.x * 16 + cuda.threadIdx.y
- col = {BY_X} -> col = cuda.blockIdx.y * 16 + cuda.threadIdx.x
the load alone: A[row, col] -> A[col, row] ? turned
exchanged where the matrix is accessed ? sizes-exchanged
- row = {BY_Y} -> row = {BY_X}\n    col = {BY_Y}
-     col = {BY_X}\n ->
- C[row, col] = float32(2) * A[row, col] -> C[col, row] = float32(2) * A[col, row]
the threads alone ? sectors-per-load-request-of-a
- row = {BY_Y} -> row = cuda.blockIdx.y * 16 + cuda.threadIdx.x
- threadIdx.x\n    if -> threadIdx.y\n    if

# turn-a-tile
directly ? sectors-per-store-request-of-c
- C[to_row, to_col] = tile[tx, ty] -> C[col, row] = tile[ty, tx]
- if to_row < C.shape[0] and to_col < C.shape[1] -> if row < A.shape[0] and col < A.shape[1]
the tile not turned: tile[tx, ty] -> tile[ty, tx] ? swapped-indices
the tile in its old place ? directions-of-a-statement
- cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx\n
+     if -> cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx\n    if
loaded down the columns ? sectors-per-load-request-of-a
- tile[ty, tx] = A[row, col] -> tile[tx, ty] = A[row, col]
- row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx -> row, col = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty
"""

NIGHTLY = r"""
# side-by-side
without the block: {SIDE} -> i = 32 * step + cuda.threadIdx.x ? race
"""

RIGHT = r"""
# side-by-side
all the grid's threads side by side: {SIDE} -> i = step * cuda.gridsize(1) + cuda.grid(1)
counted in warps: {SIDE} -> i = (4 * cuda.blockIdx.x + step) * cuda.warpsize + cuda.laneid

# along-the-row
by cuda.grid:     row = {BY_Y}\n    col = {BY_X} ->     col, row = cuda.grid(2)

# turn-a-tile
turned when the tile is filled
- tile[ty, tx] = A -> tile[tx, ty] = A
- = tile[tx, ty] -> = tile[ty, tx]
"""
