"""Answers to the exercises on debugging: repairs that are not enough with the first hint they meet, and others that are."""

HEADER = "from numba import cuda, float32\n\nTILE, THREADS = 8, 64\n\n\n"

STORE = "        C[row, col] = acc"
LOADS = "            A_tiles[1 - now, ty, tx] = A[row, start + TILE + tx]\n            B_tiles[1 - now, ty, tx] = B[start + TILE + ty, col]\n"
IF = "        if start + TILE < A.shape[1]:\n"

USED = "            acc += A_tile[ty, k] * B_tile[k, tx]\n"
ADDED = "        if row < M and col < N:\n            acc += D[row, col]\n"

WRONG = r"""
# rows-of-b
only the guard fixed: B[k, col] -> B[col, k] ? transposed
only B fixed: {STORE} ->     C[row, col] = acc ? guard-of-other-lines
stored in the loop: {STORE} ->             C[row, col] = acc ? stored-in-the-loop
a name misspelt: B[k, col] -> B[k, coll] ? misspelt-name

# too-far
one round too few: range(0, A.shape[1], TILE) -> range(0, A.shape[1] - TILE, TILE) ? last-tile-missing
a barrier more:         now = 1 - now ->         cuda.syncthreads()\n        now = 1 - now ? barrier-not-needed

# unseen-add
only the guard ? added-for-each-pair
- acc + D[row, col] -> acc
- {USED} -> {USED}{ADDED}
D as the first value of each tile ? last-pair-alone
-         cuda.syncthreads()\n        for k ->         acc = D[row, col] if row < M and col < N else float32(0)\n
+         cuda.syncthreads()\n        for k
- acc + D[row, col] -> acc

# unseen-sums
only the step: = acc\n    cuda.syncthreads() -> = acc ? barrier-before-use
the barrier under the condition ? barrier-out-of-an-if
- half]\n        cuda.syncthreads() -> half]\n            cuda.syncthreads()
ends at 1: while half > 0 -> while half > 1 ? odd-threads-missing
too many barriers ? barrier-not-needed
- t < half: -> t < half:\n            parts[t] += 0
-         half //= 2 ->         cuda.syncthreads()\n        half //= 2

# unseen-counts
only the barrier: cuda.atomic.add(counts, int(X[i]), 1) -> counts[int(X[i])] += 1 ? atomic
only the atomic: counts[t] = 0\n    cuda.syncthreads() -> counts[t] = 0 ? barrier-before-use
"""

NIGHTLY = r"""
# rows-of-b
the row of C in B: B[k, col] -> B[k, row] ? one-name-or-number

# too-far
the barrier under the question ? race
-         cuda.syncthreads()\n        now ->         if start + TILE < A.shape[1]:\n            cuda.syncthreads()\n
+         now
-             A_tiles[1 - now ->             A_tiles[now
the test is one too late: if start + TILE < A.shape[1] -> if start + TILE <= A.shape[1] ? too-many-by-one

# unseen-add
no second barrier: k, tx]\n        cuda.syncthreads() -> k, tx] ? barrier-before-overwriting
the barrier under the guard ? barrier-out-of-an-if
- k, tx]\n        cuda.syncthreads() -> k, tx]\n        if row < M:\n            cuda.syncthreads()

# unseen-counts
the barrier under the condition ? barrier-out-of-an-if
- counts[t] = 0\n    cuda.syncthreads() -> counts[t] = 0\n        cuda.syncthreads()
three barriers:     if i < ->     cuda.syncthreads()\n    if i < ? barrier-not-needed

# unseen-sums
only the barrier: A.shape[1], THREADS -> A.shape[1], 32 ? some-twice
"""

RIGHT = r"""
# rows-of-b
an early return
-     acc = float32(0)\n    if row < C.shape[0] and col < C.shape[1]:\n        for k in range(A.shape[1]):\n
+             acc += A[row, k] * B[k, col]\n
+         C[row, col] = acc ->     if row >= C.shape[0] or col >= C.shape[1]:\n        return\n    acc = float32(0)\n
+     for k in range(A.shape[1]):\n        acc += A[row, k] * B[k, col]\n    C[row, col] = acc

# too-far
a shorter loop, and the last pair after it
- range(0, A.shape[1], TILE) -> range(TILE, A.shape[1], TILE)
- {IF} ->
- {LOADS} ->         A_tiles[1 - now, ty, tx] = A[row, start + tx]\n
+         B_tiles[1 - now, ty, tx] = B[start + ty, col]\n
-     C[row, col] = acc ->     for k in range(TILE):\n        acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]\n
+     C[row, col] = acc

# unseen-add
begins with D
-     acc = float32(0)\n ->     acc = D[row, col] if row < M and col < N else float32(0)\n
- acc + D[row, col] -> acc

# unseen-sums
the barrier at the top of the loop
- = acc\n    cuda.syncthreads() -> = acc
- half > 0:\n -> half > 0:\n        cuda.syncthreads()\n
- half]\n        cuda.syncthreads() -> half]

# unseen-counts
zeros in a loop of one thread
-     if t < 40:\n        counts[t] = 0\n ->     if t == 0:\n        for j in range(40):\n            counts[j] = 0\n
"""
