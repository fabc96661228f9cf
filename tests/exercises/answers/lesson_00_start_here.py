"""Answers to the exercises of the first lesson: plausible wrong ones with the first hint they meet, and right ones."""

LINE = "                "

WRONG = r"""
# triple-loop
a sum of two names: > {LINE}sum += A[row, k] * B[k, col] ? two-names-of-a-sum
NumPy's product of a row and a column: > {LINE}acc = A[row, :] @ B[:, col] ? whole-arrays
the sign behind the equals: > {LINE}acc =+ A[row, k] * B[k, col] ? plus-behind
the place in C for the place in A and B: > {LINE}acc += A[row, col] * B[row, col] ? out-of-bounds
adds instead: > {LINE}acc += A[row, k] + B[k, col] ? added
each element twice: > {LINE}acc += float32(0.5) * (A[row, k] + A[row, k]) * B[k, col] ? global-loads-per-thread

# lost-term
begins at 2: range(A.shape[1]) -> range(2, A.shape[1]) ? first-terms-missing
the other end: range(A.shape[1]) -> range(A.shape[1] - 1) ? last-term-missing
another loop ? first-terms-missing
- range(A.shape[1]) -> range(1, A.shape[1])
- float32(0) -> float32(0) * A[row, 0]
starts anew ? last-term-of-many
-             acc = float32(0)\n ->
-                 acc += ->                 acc = float32(0)\n                acc +=
stores in the loop:             C[ ->                 C[ ? stored-in-the-loop

# mirrored
every element by itself ? global-loads-per-thread
- range(row + 1) -> range(M)
- if col < row:\n                    b -> if col != row:\n                    b
-             if col < row:\n                C[col, row] = acc\n ->
one half:             if col < row:\n                C[col, row] = acc\n -> ? one-half-stored: only one half of C
adds instead: a * b -> a + b ? other-operator
two loads for each square ? global-loads-per-thread: only the diagonal costs too much
- b = a\n                if col < row:\n                    b = A[col, k] -> b = A[col, k]
no diagonal: range(row + 1) -> range(row) ? one-half-stored: the diagonal was never stored
stores the diagonal twice ? stores-of-c
-             if col < row:\n                C[col, row] = acc\n ->             C[col, row] = acc\n
columns of A ? out-of-bounds
- A[row, k] -> A[k, row]
- A[col, k] -> A[k, col]
"""

NIGHTLY = r"""
# triple-loop
sums in C: > {LINE}C[row, col] += A[row, k] * B[k, col] ? all-zero

# lost-term
over the rows of A: range(A.shape[1]) -> range(A.shape[0]) ? other-length
"""

RIGHT = r"""
# triple-loop
the other way round: > {LINE}acc = acc + B[k, col] * A[row, k]

# lost-term
begins with the first product
- float32(0) -> A[row, 0] * B[0, col]
- range(A.shape[1]) -> range(1, A.shape[1])

# mirrored
the diagonal by itself, the upper half
@ def mirrored(A, C):\n    M, K = A.shape\n    for i in range(M):\n        acc = float32(0)\n
+         for k in range(K):\n            acc += A[i, k] ** 2\n        C[i, i] = acc\n
+         for j in range(i + 1, M):\n            acc = float32(0)\n            for k in range(K):\n
+                 acc += A[j, k] * A[i, k]\n            C[i, j] = C[j, i] = acc\n
"""
