"""Answers to the exercises on unrolling: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32, uint64\n\n\n"

REST = "        for k in range(whole, K):\n            acc += A[row, k] * B[k, col]\n"

LEAST = "min(by_registers, by_shared, 64 // warps, 32)"

WRONG = r"""
# blocks-that-fit
no limit of blocks: {LEAST} -> min(by_registers, by_shared, 64 // warps) ? threads-32-registers-16-shared-0
no limit of warps: {LEAST} -> min(by_registers, by_shared, 32) ? threads-256-registers-16-shared-0
without the KiB of the driver: (shared + 1024) -> max(shared, 1) ? threads-32-registers-16-shared-8192
registers not rounded up: -(-32 * registers // 256) * 256 -> 32 * registers ? threads-128-registers-34-shared-0
warps rounded down: -(-threads // 32) -> threads // 32 ? threads-80-registers-40-shared-0
whole blocks in each file ? threads-64-registers-56-shared-4096
- 4 * (16_384 // of_a_warp) // warps -> 4 * (16_384 // (of_a_warp * warps))
a list: {LEAST} -> [by_registers, by_shared] ? returns-many

# by-sixteen
an inner loop whose length no compiler knows: range(16) -> range(min(16, K)) ? loop-iterations
only A goes on: B[k, col] -> B[uint64(start), col] ? one-stays: B stays at the first
B's indices exchanged: B[k, col] -> B[col, k] ? out-of-bounds
the same in every iteration: uint64(start + i) -> uint64(i) ? sixteen-again-and-again
all of K in every iteration: range(16) -> range(K) ? out-of-bounds

# remainder
not unrolled ? loop-iterations
- range(0, whole, 4) -> range(0)
- range(whole, K) -> range(K)
fours counted: K // 4 * 4 -> K // 4 ? rest-from-the-number-of-fours
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
# blocks-that-fit
block by block
@ def blocks_that_fit(threads, registers, shared):\n    warps = (threads + 31) // 32\n
+     fit = 16384 // ((32 * registers + 255) // 256 * 256) * 4\n    blocks = 0\n
+     while blocks < 32 and (blocks + 1) * warps <= min(fit, 64) and (blocks + 1) * (shared + 1024) <= 228 * 1024:\n
+         blocks += 1\n    return blocks\n

# by-sixteen
signed indices, which check cannot see: uint64(start + i) -> start + i
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
"""
