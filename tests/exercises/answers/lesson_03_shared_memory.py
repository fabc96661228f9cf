"""Answers to the exercises on shared memory: plausible wrong ones with the first hint they meet, and right ones."""

CARRY_A, CARRY_B = "    A_shared[row, col] = A[row, col]\n", "    B_shared[row, col] = B[row, col]\n"
BARRIER = "    cuda.syncthreads()\n"

IN_THE_LOOP = "            part[t] += part[t + w]\n        cuda.syncthreads()\n"

WRONG = r"""
# block-sums
two barriers in a step: {IN_THE_LOOP} -> {IN_THE_LOOP}        cuda.syncthreads()\n ? barrier-not-needed
one thread loads all ? global-loads-per-thread
@ @cuda.jit\ndef block_sums(A, C):\n    first = cuda.blockIdx.x * 64\n    if cuda.threadIdx.x == 0:\n
+         acc = float32(0)\n        for i in range(first, min(first + 64, A.size)):\n            acc += A[i]\n
+         C[cuda.blockIdx.x] = acc\n
all add to what is there ? not-zero-at-the-start
@ @cuda.jit\ndef block_sums(A, C):\n    i = cuda.grid(1)\n    if i < A.size:\n
+         cuda.atomic.add(C, cuda.blockIdx.x, A[i])\n

# to-shared-memory
B turned as it is carried ? two-orders-in-a-copy: B_shared[row, col] = B[col, row]
- B_shared[row, col] = B[row, col] -> B_shared[row, col] = B[col, row]
another thing by the table's name ? array-renamed: B_shared = …
- B_shared[row, col] = B[row, col] -> B_shared = B[row, col]
the matrix for the table: >     A_shared = A\n    B_shared = B ? array-renamed: A_shared = …
A transposed: A_shared[row, col] = -> A_shared[col, row] = ? two-orders-in-a-copy: A_shared[col, row] = A[row, col]
both transposed ? sides-do-not-match
- A_shared[row, col] = -> A_shared[col, row] =
- B_shared[row, col] = -> B_shared[col, row] =
B forgotten: {CARRY_B} -> ? never-filled
multiplies from global memory: A_shared[row, k] * B_shared[k, col] -> A[row, k] * B[k, col] ? loads-beside-a-tile

# neighbours
from global memory again ? loads-beside-a-tile
- near[t] + near[t + 1] + near[t + 2] -> near[t] + near[t + 1] + (A[i + 1] if i + 1 < n else float32(0))
one place off: near[t] + near[t + 1] + near[t + 2] -> near[t] + near[t] + near[t + 1] ? same-element-twice

# divergent
no barrier at all: {BARRIER} -> ? barrier-before-use
a barrier for each guard:     if row < K and col < N: -> {BARRIER}    if row < K and col < N: ? barrier-not-needed
"""

NIGHTLY = r"""
# neighbours
asked of the thread: if i > 0 -> if t > 0 ? one-name-or-number
the first one's neighbour:         if i > 0:\n     -> ? negative-index
zeros at the edges of a block ? without-ends
- near[0] = A[i - 1] -> near[0] = 0
- near[65] = A[i + 1] -> near[65] = 0

# to-shared-memory
both from A: = B[row, col] -> = A[row, col] ? one-name-or-number

# divergent
barrier in another guard ? barrier-out-of-an-if
- {BARRIER} ->
- B_shared[row, col] = B[row, col]\n -> B_shared[row, col] = B[row, col]\n        cuda.syncthreads()\n
leaves before it: {BARRIER} ->     if row >= M or col >= N:\n        return\n{BARRIER} ? leaves-before-a-barrier: threads that return

# block-sums
one thread adds all ? shared-loads-per-thread
- w = 32\n -> w = 0\n
-     if t == 0:\n ->     if t == 0:\n        for j in range(1, 64):\n            part[0] += part[j]\n
"""

RIGHT = r"""
# block-sums
neighbours first
- w = 32\n -> w = 1\n
- while w > 0 -> while w < 64
- if t < w -> if t % (2 * w) == 0
- w //= 2 -> w *= 2

# to-shared-memory
B first, in one line each
>     B_shared[row, col], A_shared[row, col] = B[row, col], A[row, col]\n    cuda.syncwarp()\n

# neighbours
with conditional expressions
>     near[t + 1] = A[i] if i < n else float32(0)\n    if t == 0:\n        near[0] = A[i - 1] if i > 0 else float32(0)\n
+         near[65] = A[i + 64] if i + 64 < n else float32(0)\n    cuda.syncthreads()\n    if i >= n:\n        return\n
+     acc = float32(0)\n    for k in range(t, t + 3):\n        acc += near[k]\n    C[i] = acc

# divergent
zeros on the whole table
-     if row < M and col < K:\n ->     A_shared[row, col] = 0\n    B_shared[row, col] = 0\n    if row < M and col < K:\n
"""
