"""Answers to the exercises on bank conflicts: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nSIDE, LONGER = 16, 17\n\n\n"

A_OWN = "cuda.shared.array((SIDE, SIDE), float32)\n    B"
B_PADDED = "B_tile = cuda.shared.array((SIDE, LONGER)"

BANK = "return (row * width + col) % 32"

STORED = "B_tile[ty, tx ^ ty] = b"
READ = "B_tile[tx, k ^ tx]"
FREE = "len({i * (T + p) % 32 for i in range(T)}) == T"

WRONG = r"""
# swizzle
stored with it, read without: {READ} -> B_tile[tx, k] ? another-column
A·B: {READ} -> B_tile[k, tx ^ k] ? from-other-places

# free-paddings
of 32 rows: {FREE} -> len({i * (T + p) % 32 for i in range(32)}) == T ? stands-for-a-parameter
the padding alone: (T + p) -> p ? t-10-most-9
up to the most alone: range(most + 1) -> range(most) ? off-by-one
rows that share no factor of 4: {FREE} -> (p != 30 if T == 2 else (T + p) % 2) ? t-16-most-4
powers of two: range(T)}) == T -> range(T)}) == (T if T in (2, 8, 10, 16) else 32) ? stands-for-a-parameter
a list: return conflict_free -> return [conflict_free] ? returns-many
printed: return conflict_free -> print(conflict_free) ? returns-nothing

# skewed
two columns further in each lane: k + tx -> k + 2 * tx ? bank-conflicts: lanes 0 and 16 of a warp
past the tile: tile[tx, (k + tx) % 32] -> (A[row, start + k] if row < M and start + k < K else float32(0)) ? loads-beside-a-tile
modulo 31: % 32] -> % 31] ? one-name-or-number

# which-bank
the column alone: {BANK} -> return col % 32 ? parameter-not-used
the word: {BANK} -> return row * width + col ? row-0-col-40-width-64
by columns: {BANK} -> return (col * width + row) % 32 ? names-exchanged
printed: {BANK} -> print((row * width + col) % 32) ? returns-nothing

# wrong-tile
none padded: {B_PADDED} -> B_tile = cuda.shared.array((SIDE, SIDE) ? bank-conflicts-per-request-to-shared-memory
"""

NIGHTLY = r"""
# swizzle
read with the row of C: {READ} -> B_tile[tx, k ^ ty] ? one-name-or-number
without the tile ? loads-beside-a-tile
- {READ} -> (B[left + tx, start + k] if left + tx < N and start + k < K else float32(0))
transposed at the store ? bank-conflicts
- {STORED} -> B_tile[tx, ty] = b
- {READ} -> B_tile[k, tx]
padded ? words-of-shared-memory
- B_tile = cuda.shared.array((SIDE, SIDE) -> B_tile = cuda.shared.array((SIDE, LONGER)
- {STORED} -> B_tile[ty, tx] = b
- {READ} -> B_tile[tx, k]

# which-bank
without end: {BANK} -> while width:\n        col = row ? endless

# skewed
padded ? words-of-shared-memory
- (32, 32) -> (32, 33)
- (k + tx) % 32 -> k
twice the step: (k + tx) % 32 -> (k + 2 * tx) % 32 ? bank-conflicts
only half round: (k + tx) % 32 -> (k + tx) % 16 ? one-name-or-number
sums of columns: tile[tx, (k + tx) % 32] -> tile[(k + tx) % 32, tx] ? sum-of-a-column

# wrong-tile
both padded: {A_OWN} -> cuda.shared.array((SIDE, LONGER), float32)\n    B ? words-of-shared-memory
stored as it lies, read as before: B_tile[tx, ty] -> B_tile[ty, tx] ? sides-do-not-match
"""

RIGHT = r"""
# swizzle
a skewed index
- {STORED} -> B_tile[ty, (tx + ty) % SIDE] = b
- {READ} -> B_tile[tx, (k + tx) % SIDE]
backwards
- {STORED} -> B_tile[ty, 15 - (tx ^ ty)] = b
- {READ} -> B_tile[tx, 15 - (k ^ tx)]

# free-paddings
by the greatest common divisor
@ def free_paddings(T, most):\n    def divisor(a, b):\n        return a if b == 0 else divisor(b, a % b)\n\n
+     return sum(32 // divisor(T + p, 32) >= T for p in range(most + 1))\n

# skewed
exclusive or: (k + tx) % 32 -> k ^ tx
backwards, and with a mask of bits: (k + tx) % 32 -> (tx - k) & 31

# which-bank
the last five bits: {BANK} -> word = width * row + col\n    return word & 31

# wrong-tile
not transposed at all
- B_tile[tx, ty] -> B_tile[ty, tx]
- B_tile[tx, k] -> B_tile[k, tx]
"""
