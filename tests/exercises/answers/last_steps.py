"""Answers to the exercises on the last steps: plausible wrong ones with the first hint they meet, and right ones."""

GAIN = "return (busy_after / executed_after) / (busy_before / executed_before)"
SECOND = "        B_tile[ty, tx + 8] = B[start + ty, col + 8] if start + ty < K and col + 8 < N else float32(0)\n"
BARRIER = "        cuda.syncthreads()\n"
RIGHT_SUM = "            right += a * B_tile[k, tx + 8]\n"

FITS = "height * width + sets * (height + width) + others <= registers"

WRONG = r"""
# gain
upside down: {GAIN} -> return (busy_before / executed_before) / (busy_after / executed_after) ? 2-0-at-50-then-1-0-at-50
instructions alone: {GAIN} -> return executed_before / executed_after ? 2-0-at-40-then-2-0-at-80
busy cycles alone: {GAIN} -> return busy_after / busy_before ? 2-0-at-50-then-1-0-at-50
multiplied: {GAIN} -> return (busy_after * executed_after) / (busy_before * executed_before) ? 2-0-at-50-then-1-0-at-50
the speed alone: {GAIN} -> return busy_after / executed_after ? 2-0-at-50-then-1-0-at-50
added: {GAIN} -> return executed_before / executed_after + busy_after / busy_before - 1 ? 2-0-at-60-then-1-0-at-30

# rectangular-tiles
the same column of B: B[start + ty, col + 8] -> B[start + ty, col] ? one-half-for-both
A's element read twice ? shared-loads-per-thread
- right += a * -> right += A_tile[ty, k] *
- left += a * -> left += A_tile[ty, k] *

# fewest-reads
results alone: {FITS} -> height * width <= registers ? 128-registers-2-sets-31-others
squares: {FITS} -> {FITS} and height == width ? 255-registers-2-sets-31-others
not to the last register ? 255-registers-4-sets-31-others
- {FITS} -> height * width + sets * (height + width) + others < registers
others forgotten: {FITS} -> height * width + sets * (height + width) <= registers ? 128-registers-2-sets-40-others
not per multiplication: (height + width) / (height * width) -> height + width ? 255-registers-2-sets-31-others
the last that fits ? 255-registers-2-sets-31-others
- min(fewest, (height + width) / (height * width)) -> (height + width) / (height * width)
"""

NIGHTLY = r"""
# rectangular-tiles
half of B's tile: {SECOND} -> ? uninitialized-read
the same column of the tile: {RIGHT_SUM} ->             right += a * B_tile[k, tx]\n ? one-half-for-both
one guard for both: col + 8 < N else -> col < N else ? out-of-bounds
no second barrier: tx + 8]\n{BARRIER} -> tx + 8]\n ? race
no first barrier: {BARRIER}        for k ->         for k ? race
= for +=: right += a -> right = a ? sum-replaced

# fewest-reads
one set: {FITS} -> height * width + (height + width) + others <= registers ? 128-registers-2-sets-40-others
"""

RIGHT = r"""
# gain
two factors: {GAIN} -> return executed_before / executed_after * busy_after / busy_before

# rectangular-tiles
a loop over the halves
-         B_tile[ty, tx] = B[start + ty, col] if start + ty < K and col < N else float32(0)\n
+ {SECOND} ->         for j in range(0, 16, 8):\n            B_tile[ty, tx + j] = 0\n
+             if start + ty < K and col + j < N:\n                B_tile[ty, tx + j] = B[start + ty, col + j]\n

# fewest-reads
a list
-                 fewest = min(fewest, (height + width) / (height * width)) ->                 fewest = min([fewest, 1 / height + 1 / width])
"""
