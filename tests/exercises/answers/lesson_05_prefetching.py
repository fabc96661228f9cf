"""Answers to the exercises on prefetching: plausible wrong ones with the first hint they meet, and right ones."""

WRITTEN = "return (iteration + 1) % buffers"

WRONG = r"""
# one-buffer
multiplies before the first pair: start > 0 -> start >= 0 ? not-if-equal
no wait after the stores: b_next\n        cuda.syncthreads() -> b_next ? barrier-before-use
stored before the multiplication ? first-tile-missing
>         if row < M and start + tx < K:\n            a_next = A[row, start + tx]\n
+         if start + ty < K and col < N:\n            b_next = B[start + ty, col]\n        cuda.syncthreads()\n
+         A_tile[ty, tx], B_tile[ty, tx] = a_next, b_next\n        cuda.syncthreads()
>         cuda.syncthreads()
= for +=: acc +=  -> acc =  ? sum-replaced

# written-buffer
two of three wrong: {WRITTEN} -> return (iteration + buffers) % 2 ? two-names-or-numbers
the one that is read: {WRITTEN} -> return iteration % buffers ? off-by-one
no end: {WRITTEN} -> return iteration + 1 ? parameter-missing: `iteration + 1`
two only: {WRITTEN} -> return 1 - iteration % 2 ? parameter-not-used
the other of two: {WRITTEN} -> return 1 - iteration ? parameter-not-used

# last-iteration
no wait:             cuda.syncthreads()\n -> ? barrier-before-use
always the second: now = 1 - now -> now = 1 ? the-same-buffer
no way back: now = 1 - now -> now += 1 ? buffers-in-turn
one pair too few: if start < K -> if start < K - TILE ? one-term-too-many
never exchanged:             now = 1 - now\n -> ? no-turn
no question: if start < K -> if True ? shared-stores-per-thread
a condition of each thread: if start < K -> if row < M and col < N ? condition-of-each-thread
its own column: if start < K -> if start + tx < K and row < M ? condition-of-each-thread
barrier outside:             cuda.syncthreads() ->         cuda.syncthreads() ? barriers-per-warp

# across-tiles
the sums run on:                 acc = float32(0)\n -> ? end-of-first-tile: the sums of the second tile go on
stored at the column of the loads: done = col - TILE -> done = col ? end-of-first-tile: one of the block's two tiles
stored before the multiplication ? end-of-first-tile: the last pair of tiles is missing from the first tile
-             for k in range(TILE):\n                acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]\n
+             if step % pairs == 0:\n                done = col - TILE\n                if row < M and done < N:\n
+                     C[row, done] = acc\n                acc = float32(0)\n ->             if step % pairs == 0:\n
+                 done = col - TILE\n                if row < M and done < N:\n                    C[row, done] = acc\n
+                 acc = float32(0)\n            for k in range(TILE):\n
+                 acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]\n
loads to the end: if step < 2 * pairs -> if True ? global-loads-per-thread
"""

NIGHTLY = r"""
# one-buffer
loads twice ? global-loads-per-thread
- = A[row, start + tx] -> = float32(0.5) * (A[row, start + tx] + A[row, start + tx])
no barrier before:         cuda.syncthreads()\n        A_tile ->         A_tile ? barrier-before-overwriting

# across-tiles
loads after the multiplications ? loads-after-the-first-pair-that-are-used-before-t-multiplications
-         if step < 2 * pairs:\n            if row < M and start + tx < K:\n
+                 a_next = A[row, start + tx]\n            if start + ty < K and col < N:\n
+                 b_next = B[start + ty, col]\n ->
-         now = 1 - now\n ->         if step < 2 * pairs:\n            if row < M and start + tx < K:\n
+                 a_next = A[row, start + tx]\n            if start + ty < K and col < N:\n
+                 b_next = B[start + ty, col]\n        now = 1 - now\n
"""

RIGHT = r"""
# written-buffer
one after the one that is read: {WRITTEN} -> now = iteration % buffers\n    return 0 if now + 1 == buffers else now + 1

# one-buffer
conditional expressions
>         a_next = A[row, start + tx] if row < M and start + tx < K else float32(0)\n
+         b_next = B[start + ty, col] if start + ty < K and col < N else float32(0)
>         cuda.syncthreads()\n        B_tile[ty, tx] = b_next\n        A_tile[ty, tx] = a_next\n
+         cuda.syncthreads()

# last-iteration
stores first, then switches
>         if start < K:\n            A_tiles[1 - now, ty, tx] = a_next\n            B_tiles[1 - now, ty, tx] = b_next\n
+             now = 1 - now\n            cuda.syncthreads()

# across-tiles
both tiles at once
@ @cuda.jit\ndef two_tiles(A, B, C):\n    A_tiles = cuda.shared.array((2, TILE, TILE), float32)\n
+     B_tiles = cuda.shared.array((2, 2, TILE, TILE), float32)\n    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y\n
+     row = cuda.blockIdx.y * TILE + ty\n    col = 2 * cuda.blockIdx.x * TILE + tx\n
+     (M, K), N = A.shape, B.shape[1]\n    left, right, now = float32(0), float32(0), 0\n
+     for start in range(0, K + TILE, TILE):\n        a_next, b_left, b_right = float32(0), float32(0), float32(0)\n
+         if row < M and start + tx < K:\n            a_next = A[row, start + tx]\n
+         if start + ty < K and col < N:\n            b_left = B[start + ty, col]\n
+         if start + ty < K and col + TILE < N:\n            b_right = B[start + ty, col + TILE]\n
+         if start > 0:\n            for k in range(TILE):\n
+                 left += A_tiles[now, ty, k] * B_tiles[now, 0, k, tx]\n
+                 right += A_tiles[now, ty, k] * B_tiles[now, 1, k, tx]\n        now = 1 - now\n
+         A_tiles[now, ty, tx] = a_next\n        B_tiles[now, 0, ty, tx] = b_left\n
+         B_tiles[now, 1, ty, tx] = b_right\n        cuda.syncthreads()\n    if row < M and col < N:\n
+         C[row, col] = left\n    if row < M and col + TILE < N:\n        C[row, col + TILE] = right\n
counts the pairs itself
-         start = step % pairs * TILE\n ->         start = (step if step < pairs else step - pairs) * TILE\n
- step % pairs == 0 -> (step == pairs or step == 2 * pairs)
"""
