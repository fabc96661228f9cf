"""Answers to the exercises on the last steps: plausible wrong ones with the first hint they meet, and right ones."""

GAIN = "return (busy_after / executed_after) / (busy_before / executed_before)"
SECOND = "        B_tile[ty, tx + 8] = B[start + ty, col + 8] if start + ty < K and col + 8 < N else float32(0)\n"
FITS = "height * width + sets * (height + width) + others <= registers"

WRONG = r"""
# gain
upside down: {GAIN} -> return (busy_before / executed_before) / (busy_after / executed_after) ? executed-before-2-0-busy-before-50-executed-after-1-0-busy-after-50
instructions alone: {GAIN} -> return executed_before / executed_after ? executed-before-2-0-busy-before-40-executed-after-2-0-busy-after-80
the speed alone: {GAIN} -> return busy_after / executed_after ? executed-before-2-0-busy-before-50-executed-after-1-0-busy-after-50
added: {GAIN} -> return executed_before / executed_after + busy_after / busy_before - 1 ? executed-before-2-0-busy-before-60-executed-after-1-0-busy-after-30

# rectangular-tiles
the same column of B: B[start + ty, col + 8] -> B[start + ty, col] ? one-half-for-both
A's element read twice ? shared-loads-per-thread
- right += a * -> right += A_tile[ty, k] *
- left += a * -> left += A_tile[ty, k] *

# fewest-reads
results alone: {FITS} -> height * width <= registers ? registers-128-sets-2-others-31
squares: {FITS} -> {FITS} and height == width ? registers-255-sets-2-others-31
not to the last register ? registers-255-sets-4-others-31
- {FITS} -> height * width + sets * (height + width) + others < registers
others forgotten: {FITS} -> height * width + sets * (height + width) <= registers ? registers-128-sets-2-others-40
"""

NIGHTLY = r"""
# rectangular-tiles
half of B's tile: {SECOND} -> ? uninitialized-read
= for +=: right += a -> right = a ? sum-replaced
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
