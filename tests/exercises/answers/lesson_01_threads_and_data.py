"""Answers to the exercises on threads and data: plausible wrong ones with the first hint they meet, and right ones."""

WRONG = r"""
# half-a-guard
bits for and: row < M and col -> row < M & col ? bits-for-and
too careful: col < N -> col < N - 1 ? one-too-few
the rows twice: col < N -> col < M ? compared-with-another-size
three conditions ? bits-for-and
- row < M and col -> row < M & K > 0 & col

# column-thread
nothing numbers the rows: for row in range(A.shape[0]) -> if True ? loop-missing
a row by y: for row in range(A.shape[0]): -> row = cuda.threadIdx.y\n    if True: ? loop-for-a-direction
as many rows as columns: A.shape[0] -> B.shape[1] ? other-length: must go over A.shape[0]
one sum for all rows ? sums-run-on
-     for row ->     acc = float32(0)\n    for row
-         acc = float32(0)\n        for k ->         for k
replaces the sum: acc +=  -> acc =  ? sum-replaced
a loop over the columns too:     for row ->     for col in range(B.shape[1]):\n     for row ? all-in-every-thread
stores behind both loops:         C[ ->     C[ ? stored-after-the-loop
stores in the loop:         C[ ->             C[ ? stored-in-the-loop

# own-element
the blocks of the grid: blockDim.x -> gridDim.x ? thread-and-block: gridDim is the number of blocks
the thread for the block ? in-each-others-place
- cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x -> cuda.threadIdx.x * cuda.blockDim.x + cuda.blockIdx.x
no number of the row:     row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y\n -> ? number-missing
x and y swapped ? swapped-directions
- blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y -> blockIdx.q
- blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x -> blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
- blockIdx.q -> blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
no blocks ? block-missing
- cuda.blockIdx.y * cuda.blockDim.y +  ->
- cuda.blockIdx.x * cuda.blockDim.x +  ->
the height for the width: cuda.blockDim.x -> cuda.blockDim.y ? mixed-directions
blockIdx without cuda: cuda.blockIdx.x -> blockIdx.x ? part-of-cuda
the grid by rows: >     row, col = cuda.grid(2) ? grid-by-rows
width and height exchanged ? out-of-bounds
- blockIdx.y * cuda.blockDim.y -> blockIdx.y * 8
- blockIdx.x * cuda.blockDim.x -> blockIdx.x * 4

# flat
the names of both places: row * width + k] * B[k * width + col -> row * k + width] * B[k * col + width ? names-of-a-place
B by rows: B[k * width + col] -> B[col * width + k] ? other-place: B[k * width + col]
A by columns: A[row * width + k] -> A[k * width + row] ? other-place: A[row * width + k]
both the wrong way ? other-place: both are the wrong way round
- B[k * width + col] -> B[col * width + k]
- A[row * width + k] -> A[k * width + row]
the column of row: B[k * width + col] -> B[k * width + row] ? other-place: the same column of B
B along the thread's row: k * width + col -> row * width + k ? other-place: col is not used
two indices: A[row * width + k] -> A[row, k] ? : A has 1 dimension
the width in neither ? other-place: `* width` is missing
- A[row * width + k] -> A[row + k]
- B[k * width + col] -> B[k + col]
beyond the line: k * width + col -> (k + 1) * width + col ? one-term-too-many
replaces the sum: acc +=  -> acc =  ? sum-replaced

# guarded-rows
the row without its block: cuda.blockIdx.x * cuda.blockDim.x +  -> ? block-missing
the rows of C leave: if row < M: -> if row < M:\n        return\n    if True: ? for-the-others
rows and columns of A exchanged: M, K = -> K, M = ? sizes-of-a-shape
the store outside the if ? guard-of-other-lines
-     if row < M:\n        for col ->     for col
-             for k in ->         if row < M:\n            for k in
-             acc = float32(0)\n ->         acc = float32(0)\n
-             C[row ->         C[row
no block: cuda.blockIdx.x * cuda.blockDim.x +  -> ? block-missing
one row too many: row < M -> row <= M ? too-many-by-one
guard of the columns: row < M -> row < N ? compared-with-another-size
one sum for all columns ? sums-run-on
-     if row ->     acc = float32(0)\n    if row
-             acc = float32(0)\n ->
one term short: range(K) -> range(K - 1) ? last-term-missing

# few-threads
one element each: range(number, M * N, 64) -> range(number, min(M * N, number + 1), 64) ? first-elements-alone
as many as a block has: M * N, 64) -> M * N, 32) ? race
the factors added: A[row, k] * B[k, col] -> A[row, k] + B[k, col] ? other-operator
a row for each thread ? global-loads-per-thread
- range(number, M * N, 64) -> range(number, M, 64)
-         row, col = i // N, i % N\n        acc = float32(0)\n        for k in range(K):\n
+             acc += A[row, k] * B[k, col]\n        C[row, col] = acc ->         for col in range(N):\n
+             acc = float32(0)\n            for k in range(K):\n                acc += A[i, k] * B[k, col]\n
+             C[i, col] = acc
the sums run on ? sums-run-on-by-thread
-         acc = float32(0)\n ->
-     for i ->     acc = float32(0)\n    for i
rows of M elements: i // N, i % N -> i // M, i % M ? length-of-a-row
"""


RIGHT = r"""
# guarded-rows
a loop over the grid's threads
-     row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x\n ->
-     if row < M:\n ->     for row in range(cuda.grid(1), M, cuda.gridsize(1)):\n
leaves early
>     row = cuda.grid(1)\n    if row >= C.shape[0]:\n        return\n    for col in range(N):\n
+         acc = float32(0)\n        for k in range(K):\n            acc += A[row, k] * B[k, col]\n
+         C[row, col] = acc

# column-thread
with a while
>     row = 0\n    while row < C.shape[0]:\n        acc = float32(0)\n        for k in range(B.shape[0]):\n
+             acc += A[row, k] * B[k, col]\n        C[row, col] = acc\n        row += 1

# own-element
by cuda.grid: >     col, row = cuda.grid(2)\n

# flat
products first: >         acc = B[col + k * width] * A[k + width * row] + acc

# half-a-guard
one if inside the other:     if row < M and col < N: ->     if col >= N:\n        return\n    if row < M:

# few-threads
neighbouring elements for each thread
-     for i in range(number, M * N, 64): ->     each = (M * N + 63) // 64\n
+     for i in range(number * each, min(M * N, (number + 1) * each)):
a while loop over rows and columns
@ @cuda.jit\ndef few_threads(A, B, C):\n    M, K = A.shape\n    N = B.shape[1]\n    row, col = 0, cuda.grid(1)\n
+     while True:\n        while col >= N:\n            row += 1\n            col -= N\n        if row >= M:\n
+             return\n        acc = float32(0)\n        for k in range(K):\n            acc += A[row, k] * B[k, col]\n
+         C[row, col] = acc\n        col += cuda.gridsize(1)\n
"""
