"""Answers to the exercises on tiling: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nTILE = 8\nT = 4\n\n\n"

FROM_GLOBAL = "(A[row, start + k] * B[start + k, col] if row < M and col < N and start + k < K else float32(0))"

WRONG = r"""
# gram
rows of the block's own row: cuda.blockIdx.x * TILE + ty -> row ? diagonal-tiles-only

# barriers
stored for each tile:     if row < M and col < N:\n        C[ ->         if row < M and col < N:\n            C[ ? stored-again
k stays:         for k in range(TILE):\n ->         k = 0\n        while k < TILE:\n ? nothing-ends-it
on where the tile begins: range(TILE) -> range(start, start + TILE) ? begins-inside-the-tile
leaves the iteration:         cuda.syncthreads()\n        for k ->         if row >= M:\n            continue\n        cuda.syncthreads()\n        for k ? leaves-before-a-barrier
an unknown T: range(TILE) -> range(BLOCK_SIZE) ? unknown-width
no zeros:         A_tile[tx, ty] = 0\n        B_tile[ty, tx] = 0\n -> ? stored-by-some-threads
no parentheses: cuda.syncthreads() -> cuda.syncthreads ? call-without-parentheses
syncthreads without cuda: cuda.syncthreads() -> syncthreads() ? part-of-cuda
bits are combined, but a barrier is missing ? barrier-before-overwriting
- k, tx]\n        cuda.syncthreads() -> k, tx]
-             acc += A_tile ->             if (k & 1) == 0 or 0 <= (k & 3) < 4:\n                acc += A_tile
a tile has two names, but a barrier is missing ? barrier-before-overwriting
- k, tx]\n        cuda.syncthreads() -> k, tx]
-         for k in range(TILE) ->         other = A_tile\n        A_tile = other\n        for k in range(TILE)

# tiles-of-transpose
a counter of tiles: range(0, At.shape[0], TILE) -> range(At.shape[0] // TILE) ? counts-tiles
as if it were A: At[start + tx, row] -> At[row, start + tx] ? not-transposed
the first pair in every iteration ? first-pair-again
- At[start + tx, row] -> At[tx, row]
- B[start + ty, col] -> B[ty, col]
B by rows: B[start + ty, col] -> B[col, start + ty] ? order-of-indices

# too-deep
three of them ? barrier-not-needed
- k, tx]\n        cuda.syncthreads() -> k, tx]\n        cuda.syncthreads()\n        cuda.syncthreads()
syncwarp instead: k, tx]\n        cuda.syncthreads() -> k, tx]\n        cuda.syncwarp() ? barrier-of-a-warp

# report-tiled
the barrier alone:     C[row, col] ->         C[row, col] ? stored-in-the-loop
the barrier in the inner loop ? barrier-in-a-loop
- i, tx]\n        cuda.syncthreads() -> i, tx]\n            cuda.syncthreads()
"""

NIGHTLY = r"""
# barriers
stops one short: range(TILE) -> range(TILE - 1) ? one-short-of-the-tile
from global memory: A_tile[k, ty] * B_tile[k, tx] -> {FROM_GLOBAL} ? loads-beside-a-tile
starts over:         for k ->         acc = float32(0)\n        for k ? sum-begins-again
range(K) for range(TILE): range(TILE) -> range(K) ? not-along-the-tile
T for TILE: range(TILE) -> range(T) ? other-width
all indices swapped: A_tile[k, ty] * B_tile[k, tx] -> A_tile[ty, k] * B_tile[tx, k] ? swapped-indices: B_tile[tx, k]
only silences the finding ? loop-iterations
- range(TILE) -> range(K)
-             acc += A_tile[k, ty] ->             if k < TILE:\n                acc += A_tile[k, ty]

# gram
uncoalesced ? sectors-per-load-request-of-a
- other = cuda.blockIdx.x * TILE + ty -> pass
- if other < M and start + tx < K -> if col < M and start + ty < K
- A[other, start + tx] -> A[col, start + ty]
- cols[tx, k] -> cols[k, tx]
second tile unused ? loads-beside-a-tile
- cols[tx, k] -> (A[col, start + k] if col < M and start + k < K else float32(0))
the second tile stored transposed: cols[ty, tx] = A -> cols[tx, ty] = A ? sides-do-not-match
columns of A: A[other, start + tx] -> A[start + tx, other] ? square
the second tile's indices: cols[tx, k] -> cols[k, tx] ? swapped-indices: cols[k, tx]

# tiles-of-transpose
loads its tile's transpose: At[start + tx, row] -> At[start + ty, cuda.blockIdx.y * TILE + tx] ? sides-do-not-match
B's tile forgotten:         B_tile[ty, tx] = B[start + ty, col]\n -> ? never-filled
the tile turned, and not the row ? transposed-in-the-tile
- A_tile[ty, tx] = At[start + tx, row] -> A_tile[tx, ty] = At[start + ty, row]

# too-deep
none at the start: col]\n        cuda.syncthreads() -> col] ? barrier-before-use
only the last thread's turn ? barrier-in-an-if
- k, tx]\n        cuda.syncthreads() -> k, tx]\n            if k == tx:\n                cuda.syncthreads()

# report-tiled
= for +=: Cv +=  -> Cv =  ? sum-replaced
"""

RIGHT = r"""
# barriers
a while loop
-         for k in range(TILE):\n ->         k = 0\n        while k < TILE:\n
- * B_tile[k, tx]\n -> * B_tile[k, tx]\n            k += 1\n
a sum of the tile in between
>         cuda.syncthreads()\n        part = float32(0)\n        for k in range(TILE - 1, -1, -1):\n
+             part += A_tile[k, ty] * B_tile[k, tx]\n        acc += part\n        cuda.syncthreads()

# tiles-of-transpose
a step further in a variable
>         k_of_A, k_of_B = start + tx, start + ty\n
+         B_tile[ty, tx], A_tile[ty, tx] = B[k_of_B, col], At[k_of_A, row]

# too-deep
waits before the tiles are laid again
- k, tx]\n        cuda.syncthreads() -> k, tx]
-         A_tile[ty, tx] = ->         cuda.syncthreads()\n        A_tile[ty, tx] =

# report-tiled
waits before the tiles are laid again
- i, tx]\n        cuda.syncthreads() -> i, tx]
-         As[ty, tx] = ->         cuda.syncthreads()\n        As[ty, tx] =

# gram
a conditional expression, and backwards along the tile
>         other = cuda.blockIdx.x * TILE + ty\n
+         cols[ty, tx] = A[other, start + tx] if other < M and start + tx < K else 0\n        cuda.syncthreads()\n
+         for k in range(TILE - 1, -1, -1):\n            acc += cols[tx, k] * rows[ty, k]\n        cuda.syncthreads()
"""
