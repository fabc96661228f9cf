"""Answers to the exercises on the naive kernel: plausible wrong ones with the first hint they meet, and right ones."""

WRONG = r"""
# transposed
another N:     if row < M ->     N = B.shape[1]\n    if row < M ? size-overwritten
compared instead of stored: C[row, col] = acc -> C[row, col] == acc ? compared-not-stored
begun as another: acc = float32(0) -> total = float32(0) ? begun-as-another
kept nowhere: acc += -> acc + ? sum-not-kept
subtracted: acc += -> acc -= ? subtracted
as many iterations as columns: range(K) -> range(N) ? other-length
x and y swapped ? swapped-directions
- blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y -> blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q
- blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x -> blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
- blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q -> blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
one term short: range(K) -> range(K - 1) ? last-term-missing
sum in C ? not-zero-at-the-start
- acc += A[row, k] * B[col, k] -> C[row, col] += A[row, k] * B[col, k]
-         C[row, col] = acc ->
store in the loop:         C[row, col] = acc ->             C[row, col] = acc ? stored-in-the-loop
a load too many: acc += A[row, k] * B -> acc += (A[row, k] + A[row, k]) / float32(2) * B ? global-loads-per-thread
A by columns: A[row, k] -> A[k, row] ? order-of-indices
a guard of the sums: col < N -> col < K ? compared-with-another-size
nothing stored:         C[row, col] = acc -> ? never-stored
no index: C[row, col] = acc -> C = acc ? array-renamed: C = …
replaces the sum: acc += A -> acc = A ? sum-replaced
blockIdx without cuda: cuda.blockIdx.x -> blockIdx.x ? part-of-cuda
the host's loops in every thread ? all-in-every-thread
-     if row < M and col < N:\n        acc ->     for row in range(M):\n      for col in range(N):\n        acc

# two-columns
two loops ? one-loop-for-both
-             acc_right += a * ->         for k in range(A.shape[1]):\n            acc_right += A[row, k] *
-             a = A[row, k]\n ->
- acc_left += a * -> acc_left += A[row, k] *
A loaded twice ? loaded-twice
- += a * -> += A[row, k] *
- a = A[row, k] -> pass
the row below: acc_right += a -> acc_right += A[row + 1, k] ? one-term-too-many
same column twice: k, left + 1 -> k, left ? same-product-twice
A loaded before the loop ? first-of-a-alone
-         for k ->         a = A[row, 0]\n        for k
-             a = A[row, k]\n ->
one term short: range(A.shape[1]) -> range(A.shape[1] - 1) ? last-term-missing

# sum-in-register
16 for K: range(A.shape[1]) -> range(16) ? written-size
blockDim.x for blockDim.y: cuda.blockIdx.y * cuda.blockDim.y -> cuda.blockIdx.y * cuda.blockDim.x ? mixed-directions
stores at every step:         C[row ->             C[row ? stored-in-the-loop
loads C all the same ? not-zero-at-the-start
-             acc += ->             acc = C[row, col]\n            C[row, col] = acc +
zero first, then adds to C ? global-loads-per-thread
-         acc = float32(0) ->         C[row, col] = 0
- acc += -> C[row, col] = C[row, col] +
-         C[row, col] = acc ->
replaces the sum: acc += -> acc = ? sum-replaced
one term short: range(A.shape[1]) -> range(A.shape[1] - 1) ? last-term-missing

# report-kernel
the guard alone: B[k, y] -> B[y, k] ? rows-of-b
A by columns: A[x, k] -> A[k, x] ? order-of-indices: A[k, x]
"""

NIGHTLY = r"""
# transposed
begins at 1: range(K) -> range(1, K) ? one-name-or-number: range(1, K)
x is called row everywhere ? one-name-or-number: range(1, K)
>     row, col = cuda.grid(2)\n    if col < M and row < N:\n        acc = float32(0)\n        for k in range(1, K):\n
+             acc += A[col, k] * B[row, k]\n        C[col, row] = acc
B by columns: B[col, k] -> B[k, col] ? not-transposed

# two-columns
one sum for both:             acc_right ->             acc_left ? never-added-to

# report-kernel
the row of C for the column of B: B[k, y] -> B[k, x] ? one-name-or-number: B[k, x]
stores at every step:         C[x, y] ->             C[x, y] ? stored-in-the-loop
"""

RIGHT = r"""
# transposed
rows as views
- for k in range(K): -> for k in range(A[row].size):
- A[row, k] * B[col, k] -> A[row][k] * B[col][k]
by cuda.grid, backwards along k
>     col, row = cuda.grid(2)\n    if row >= M or col >= N:\n        return\n    acc = float32(0)\n    k = K - 1\n
+     while k >= 0:\n        acc += A[row, k] * B[col, k]\n        k -= 1\n    C[row, col] = acc

# sum-in-register
begins with the first product
- acc = float32(0) -> acc = A[row, 0] * B[0, col]
- range(A.shape[1]) -> range(1, A.shape[1])

# report-kernel
leaves early
-     total = float32(0)\n    if x < n and y < n: ->     if x >= n or y >= n:\n        return
-         for k in range(n):\n            total ->     total = float32(0)\n    for k in range(n):\n        total
-         C[x, y] ->     C[x, y]

# two-columns
B's elements in variables
>         for k in range(A.shape[1]):\n            a, b, c = A[row, k], B[k, left], B[k, left + 1]\n
+             acc_left += a * b\n            acc_right += a * c
"""
