"""Answers to the exercises on register tiles: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nROWS, COLUMNS = 8, 64\n\n\n"

B_ELEMENT = "B[start + k, col] if start + k < K and col < N else float32(0)"
STORED = "top + ty + 8 * i, left + tx + 8 * j"

SHARE = 'return mix["FFMA"] / sum(mix.values())'

WRONG = r"""
# useful-share
a table for each mix of the lesson: {SHARE} -> return {1: 0.5, 16: 0.8}.get(mix["FFMA"], 64 / 95) ? other-calls
kinds counted: {SHARE} -> return mix["FFMA"] / len(mix) ? another-whole
upside down: {SHARE} -> return sum(mix.values()) / mix["FFMA"] ? upside-down
without end: {SHARE} -> while mix: pass ? endless
names added: {SHARE} -> return mix["FFMA"] / sum(mix) ? keys-added

# outer
the tile's first row of B: b = B[start + k, col] -> b = B[start, col] ? same-row-of-b
the first rows of B: b = {B_ELEMENT} -> b = B[k, col] if k < K and col < N else float32(0) ? first-rows-of-b
the thread's number for its column ? one-name-or-number
- B[start + k, col] if start + k < K and col < N -> B[start + k, thread] if start + k < K and thread < N

# two-by-two
two sums exchanged ? sums-exchanged
- acc[0, 1] += a0 * b1 -> acc[0, 1] += a1 * b0
- acc[1, 0] += a1 * b0 -> acc[1, 0] += a0 * b1
one sum forgotten:             acc[1, 1] += a1 * b1\n -> ? never-added-to
one product twice: acc[1, 1] += a1 -> acc[1, 1] += a0 ? same-product-twice
neighbours: B_tile[k, tx], B_tile[k, tx + 8] -> B_tile[k, tx], B_tile[k, tx + 1] ? quadrants
A's indices as in the lesson's kernel ? swapped-indices
- A_tile[k, ty], A_tile[k, ty + 8] -> A_tile[ty, k], A_tile[ty + 8, k]
nothing added: >         for k in range(8):\n            pass ? only-zeros

# four-rows
b not kept: A_tile[y + 8 * i, k] * b -> A_tile[y + 8 * i, k] * B_tile[k, x] ? shared-loads-per-thread
neighbouring rows: A_tile[y + 8 * i, k] * b -> A_tile[y + i, k] * b ? other-rows
B's element kept for all k ? same-row-in-all-steps
-         for k in range(32):\n            b = B_tile[k, x]\n ->         b = B_tile[0, x]\n        for k in range(32):\n

# scattered
i and j exchanged: {STORED} -> top + ty + 8 * j, left + tx + 8 * i ? names-exchanged
"""

NIGHTLY = r"""
# outer
B loaded for each result ? global-loads-per-thread
-             b = {B_ELEMENT}\n ->
- A_tile[i, k] * b -> A_tile[i, k] * ({B_ELEMENT})
the tile's indices swapped: A_tile[i, k] * b -> A_tile[k, i] * b ? swapped-indices
a result too few ? one-short-of-the-tile
-             for i in range(ROWS):\n                acc[i] += ->             for i in range(ROWS - 1):\n
+                 acc[i] +=

# two-by-two
results that touch ? in-other-places
- A_tile[k, ty], A_tile[k, ty + 8] -> A_tile[k, 2 * ty], A_tile[k, 2 * ty + 1]
- B_tile[k, tx], B_tile[k, tx + 8] -> B_tile[k, 2 * tx], B_tile[k, 2 * tx + 1]
read for each product ? shared-loads-per-thread
- acc[0, 0] += a0 * b0 -> acc[0, 0] += A_tile[k, ty + 0] * B_tile[k, tx + 0]
- acc[0, 1] += a0 * b1 -> acc[0, 1] += A_tile[k, ty + 0] * B_tile[k, tx + 8]
- acc[1, 0] += a1 * b0 -> acc[1, 0] += A_tile[k, ty + 8] * B_tile[k, tx + 0]
- acc[1, 1] += a1 * b1 -> acc[1, 1] += A_tile[k, ty + 8] * B_tile[k, tx + 8]

# four-rows
one sum for all: acc[i] += A_tile -> acc[0] += A_tile ? other-rows: only one of a thread's four sums
one row of B for a thread: b = B_tile[k, x] -> b = B_tile[y, x] ? one-name-or-number: B_tile[y, x]
B's indices exchanged: b = B_tile[k, x] -> b = B_tile[x, k] ? swapped-indices

# scattered
guard gone ? guard-lacks-an-index
-             if row < M and col < N:\n                C ->             if row < M:\n                C
tx and ty exchanged: {STORED} -> top + tx + 8 * i, left + ty + 8 * j ? names-exchanged
"""

RIGHT = r"""
# useful-share
in a loop: {SHARE} -> total = 0\n    for name in mix:\n        total += mix[name]\n    return mix["FFMA"] / total

# outer
a guarded if, and backwards
>             b = float32(0)\n            if start + k < K and col < N:\n                b = B[start + k, col]\n
+             for i in range(ROWS - 1, -1, -1):\n                acc[i] += b * A_tile[i, k]

# two-by-two
B first
>         for k in range(8):\n            b0, b1 = B_tile[k, tx], B_tile[k, tx + 8]\n            for i in range(2):\n
+                 a = A_tile[k, ty + 8 * i]\n                acc[i, 0] += a * b0\n                acc[i, 1] += a * b1

# four-rows
four lines
-             for i in range(4):\n                acc[i] += A_tile[y + 8 * i, k] * b\n
+  ->             acc[0] += A_tile[y + 0, k] * b\n            acc[1] += A_tile[y + 8, k] * b\n
+             acc[2] += A_tile[y + 16, k] * b\n            acc[3] += A_tile[y + 24, k] * b\n

# scattered
read from neighbours instead
- {STORED} -> top + 2 * ty + i, left + 2 * tx + j
- A_tile[ty + 8 * i, k] * B_tile[k, tx + 8 * j] -> A_tile[2 * ty + i, k] * B_tile[k, 2 * tx + j]
"""
