"""Answers to the exercises on the way to cuBLAS: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nfrom course_lib.kernels.vector import load4, store4\n\n\n"

VECTOR = "        if A.shape[1] % 4 == 0:\n            store4(C, row, col, load4(A, row, col))\n        else:\n"
SINGLE = "            for c in range(col, min(col + 4, A.shape[1])):\n                C[row, c] = A[row, c]\n"

GAIN = "return (busy_after / executed_after) / (busy_before / executed_before)"
SECOND = "        B_tile[ty, tx + 8] = B[start + ty, col + 8] if start + ty < K and col + 8 < N else float32(0)\n"
FITS = "height * width + sets * (height + width) + others <= registers"

WRONG = r"""
# four-at-once
four scalar copies ? global-loads-per-thread
>         for e in range(4):\n            C[row, col + e] = A[row, col + e]
stored one by one ? stores-of-c
>         a, b, c, d = load4(A, row, col)\n        C[row, col] = a\n        C[row, col + 1] = b\n
+         C[row, col + 2] = c\n        C[row, col + 3] = d
only the first: >         C[row, col] = A[row, col] ? every-fourth-column
one further: >         store4(C, row, col, load4(A, row, col + 1)) ? one-term-too-many
an element stored as four: >         store4(C, row, col, A[row, col]) ? : in a tuple

# any-width
only whole fours ? misaligned-access
- {VECTOR} ->         if col + 3 < A.shape[1]:\n            store4(C, row, col, load4(A, row, col))\n
- {SINGLE} ->
one by one, always ? global-loads-per-thread
- {VECTOR}{SINGLE} ->         for c in range(col, min(col + 4, A.shape[1])):\n            C[row, c] = A[row, c]\n
the rest not at all ? rest-not-stored
- {SINGLE} ->             for c in range(col, col + 4):\n                if c < A.shape[1] // 4 * 4:\n
+                     C[row, c] = A[row, c]\n

# wide
all with b[0] ? same-product-twice
- b[1] -> b[0]
- b[2] -> b[0]
- b[3] -> b[0]
the tile's column in B: load4(B, start + ty, col) -> load4(B, start + ty, n) ? columns-of-first-block

# tall
no padding: array((8, 36) -> array((8, 32) ? bank-conflicts
all with a[0] ? same-product-twice
- a[1] * b -> a[0] * b
- a[2] * b -> a[0] * b
- a[3] * b -> a[0] * b

# gain
upside down: {GAIN} -> return (busy_before / executed_before) / (busy_after / executed_after) ? upside-down
instructions alone: {GAIN} -> return executed_before / executed_after ? parameter-not-used
the speed alone: {GAIN} -> return busy_after / executed_after ? parameter-not-used
added: {GAIN} -> return executed_before / executed_after + busy_after / busy_before - 1 ? executed-before-2-0-busy-before-60-executed-after-1-0-busy-after-30

# rectangular-tiles
the same column of B: B[start + ty, col + 8] -> B[start + ty, col] ? one-half-for-both
A's element read twice ? shared-loads-per-thread
- right += a * -> right += A_tile[ty, k] *
- left += a * -> left += A_tile[ty, k] *

# fewest-reads
results alone: {FITS} -> height * width <= registers ? parameter-not-used
squares: {FITS} -> {FITS} and height == width ? one-condition-too-many
not to the last register ? just-fits
- {FITS} -> height * width + sets * (height + width) + others < registers
others forgotten: {FITS} -> height * width + sets * (height + width) <= registers ? parameter-missing
"""

NIGHTLY = r"""
# any-width
one by one without a guard: min(col + 4, A.shape[1]) -> col + 4 ? range-beyond-the-size

# wide
B's tile still read one by one ? shared-loads-per-thread
-             b = load4(B_tile, k, n)\n
+  ->             b = B_tile[k, n], B_tile[k, n + 1], B_tile[k, n + 2], B_tile[k, n + 3]\n
tx for n: store4(B_tile, ty, n, -> store4(B_tile, ty, tx, ? misaligned-access
stored one by one ? stores-of-c
-         store4(C, row, col, (acc[0], acc[1], acc[2], acc[3]))\n ->         for e in range(4):\n
+             C[row, col + e] = acc[e]\n

# tall
padded by one: array((8, 36) -> array((8, 33) ? misaligned-access
B's element four times: * b\n -> * B_tile[k, tx]\n ? shared-loads-per-thread

# rectangular-tiles
half of B's tile: {SECOND} -> ? uninitialized-read
= for +=: right += a -> right = a ? sum-replaced
"""

RIGHT = r"""
# four-at-once
through four names: >         a, b, c, d = load4(A, row, col)\n        store4(C, row, col, (a, b, c, d))

# any-width
four guarded lines
- {SINGLE} ->             for e in range(4):\n                if col + e < A.shape[1]:\n
+                     C[row, col + e] = A[row, col + e]\n

# wide
four names
-             b = load4(B_tile, k, n)\n ->             b0, b1, b2, b3 = load4(B_tile, k, n)\n
- b[0] -> b0
- b[1] -> b1
- b[2] -> b2
- b[3] -> b3

# tall
a warp loads 32 rows: (8 * ty + tx) // 2, tx % 2 * 4 -> (8 * ty + tx) % 32, (8 * ty + tx) // 32 * 4

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
