"""Answers to the exercises on unrolling and bytes in flight: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32, uint64\n\n\n"

REST = "        for k in range(whole, K):\n            acc += A[row, k] * B[k, col]\n"

REQUESTS = "return -(-cycles * bytes_per_cycle // request_bytes)"

WRONG = r"""
# by-sixteen
signed indices: uint64(start + i) -> start + i ? loads-with-a-signed-index
an inner loop whose length no compiler knows: range(16) -> range(min(16, K)) ? loop-iterations
only A goes on: B[k, col] -> B[uint64(start), col] ? one-stays: B stays at the first
B's indices exchanged: B[k, col] -> B[col, k] ? order-of-indices
the same in every iteration: uint64(start + i) -> uint64(i) ? sixteen-again-and-again
all of K in every iteration: range(16) -> range(K) ? longer-than-the-step

# remainder
not unrolled ? loop-iterations
- range(0, whole, 4) -> range(0)
- range(whole, K) -> range(K)
fours counted: K // 4 * 4 -> K // 4 ? rest-from-the-number-of-fours

# requests-in-flight
rounded down: {REQUESTS} -> return cycles * bytes_per_cycle // request_bytes ? cycles-100-bytes-per-cycle-8-request-bytes-128
one more: {REQUESTS} -> return cycles * bytes_per_cycle // request_bytes + 1 ? one-too-many-if-exact
divided: {REQUESTS} -> return -(-cycles // bytes_per_cycle // request_bytes) ? other-operator
128 always: {REQUESTS} -> return -(-cycles * bytes_per_cycle // 128) ? stands-for-a-parameter
"""

NIGHTLY = r"""
# by-sixteen
a term short: range(16) -> range(15) ? fifteen-of-sixteen
only start: range(16) -> range(1) ? first-of-sixteen

# remainder
the rest from 0: range(whole, K) -> range(K % 4) ? rest-from-0
the rest from k: range(whole, K) -> range(k + 4, K) ? uninitialized-read
the rest with the last whole k ? one-name-or-number: acc += A[row, whole] * B[whole, col]
- acc += A[row, k] * B[k, col]\n        C -> acc += A[row, whole] * B[whole, col]\n        C
as many iterations as whole fours, and no rest ? fours-counted
- range(0, whole, 4) -> range(0, K // 4, 4)
- {REST} ->
the rest left out: {REST} -> ? rest-missing
"""

RIGHT = r"""
# by-sixteen
two sums
-                 acc += A[row, k] * B[k, col]\n ->                 if i % 2:\n
+                     odd += A[row, k] * B[k, col]\n                else:\n
+                     acc += A[row, k] * B[k, col]\n
- acc = float32(0) -> acc = odd = float32(0)
- C[row, col] = acc -> C[row, col] = acc + odd

# remainder
the rest first
- range(whole, K) -> range(K % 4)
- range(0, whole, 4) -> range(K % 4, K, 4)
guards inside the iteration
- range(0, whole, 4) -> range(0, K, 4)
- {REST} ->
-             acc += A[row, k + 1] ->             if k + 1 < K:\n                acc += A[row, k + 1]
-             acc += A[row, k + 2] ->             if k + 2 < K:\n                acc += A[row, k + 2]
-             acc += A[row, k + 3] ->             if k + 3 < K:\n                acc += A[row, k + 3]

# requests-in-flight
the remainder
- {REQUESTS} -> whole, rest = divmod(cycles * bytes_per_cycle, request_bytes)\n    return whole + (rest > 0)
"""
