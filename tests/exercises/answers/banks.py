"""Answers to the exercises on bank conflicts: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nSIDE, LONGER = 16, 17\n\n\n"

PADDED = "(32, 33)"
A_OWN = "cuda.shared.array((SIDE, SIDE), float32)\n    B"
B_PADDED = "B_tile = cuda.shared.array((SIDE, LONGER)"

BANK = "return (row * width + col) % 32"

STORED = "B_tile[ty, tx ^ ty] = b"
READ = "B_tile[tx, k ^ tx]"
FREE = "len({i * (T + p) % 32 for i in range(T)}) == T"

WRONG = {
    "swizzle": {
        "stored with it, read without": ((READ, "B_tile[tx, k]"), "another column than the store"),
        "read with the row of C": ((READ, "B_tile[tx, k ^ ty]"), "look at `B_tile[tx, k ^ ty]`"),
        "A·B": ((READ, "B_tile[k, tx ^ k]"), "this is A·B"),
    },
    "free-paddings": {
        "of 32 rows": ((FREE, "len({i * (T + p) % 32 for i in range(32)}) == T"), "only p = 30"),
        "odd rows alone": ((FREE, "(T + p) % 2"), "only p = 30"),
        "all banks": (("== T", "== 32"), "only p = 30"),
        "the padding alone": (("(T + p)", "p"), "rows are T + p words apart, not p"),
        "paddings that leave one": (("== T", "!= T"), "only p = 30"),
        "up to the most alone": (("range(most + 1)", "range(most)"), "`most` count too"),
        "without none": (("range(most + 1):", "range(1, most + 1):"), "only p = 30"),
        "rows that share no factor of 4": (
            (FREE, "(p != 30 if T == 2 else (T + p) % 2)"),
            "16 different banks, not 32",
        ),
        "powers of two": (("range(T)}) == T", "range(T)}) == (T if T in (2, 8, 10, 16) else 32)"), "power of two"),
        "a list": (("return conflict_free", "return [conflict_free]"), "many answers"),
        "printed": (("return conflict_free", "print(conflict_free)"), "returns nothing"),
    },
    "skewed": {
        "modulo 31": (("% 32]", "% 31]"), "look at `acc += tile[tx, (k + tx) % 31]`"),
    },
    "which-bank": {
        "the column alone": ((BANK, "return col % 32"), "with word 33"),
        "the word": ((BANK, "return row * width + col"), "modulo 32"),
        "by columns": ((BANK, "return (col * width + row) % 32"), "its column 5 is word 5"),
        "the quotient": ((BANK, "return (row * width + col) // 32"), "its column 5 is word 5"),
        "modulo the width": ((BANK, "return (row * width + col) % width"), "modulo 32"),
        "rows of 32": ((BANK, "return (row * 32 + col) % 32"), "with word 33"),
        "printed": ((BANK, "print((row * width + col) % 32)"), "returns nothing"),
    },
    "wrong-tile": {
        "none padded": ((B_PADDED, "B_tile = cuda.shared.array((SIDE, SIDE)"), "down a column"),
    },
}

NIGHTLY = {
    "swizzle": {
        "read with it, stored without": ((STORED, "B_tile[ty, tx] = b"), "another column than the store"),
        "added without a remainder": (
            [(STORED, "B_tile[ty, tx + ty] = b"), (READ, "B_tile[tx, k + tx]")],
            "within 0 to 15",
        ),
        "one column for all": (
            [(STORED, "B_tile[ty, tx & ty] = b"), (READ, "B_tile[tx, k & tx]")],
            "different k need different columns",
        ),
        "without the tile": (
            (READ, "(B[left + tx, start + k] if left + tx < N and start + k < K else float32(0))"),
            "b already",
        ),
        "transposed at the store": (
            [(STORED, "B_tile[tx, ty] = b"), (READ, "B_tile[k, tx]")],
            "16 lanes store to",
        ),
        "no swizzle": ([(STORED, "B_tile[ty, tx] = b"), (READ, "B_tile[tx, k]")], "in one column"),
        "padded": (
            [
                ("B_tile = cuda.shared.array((SIDE, SIDE)", "B_tile = cuda.shared.array((SIDE, LONGER)"),
                (STORED, "B_tile[ty, tx] = b"),
                (READ, "B_tile[tx, k]"),
            ],
            "without padding",
        ),
    },
    "which-bank": {
        "without end": ((BANK, "while width:\n        col = row"), "was still running"),
    },
    "skewed": {
        "padded": ([("(32, 32)", "(32, 33)"), ("(k + tx) % 32", "k")], "the tile stays 32×32"),
        "twice the step": (("(k + tx) % 32", "(k + 2 * tx) % 32"), "a k of its own"),
        "beyond the row": (("(k + tx) % 32", "k + tx"), "the whole index returns"),
        "without parentheses": (("(k + tx) % 32", "k + tx % 32"), "computed before +"),
        "only half round": (("(k + tx) % 32", "(k + tx) % 16"), "pencil"),
        "sums of columns": (("tile[tx, (k + tx) % 32]", "tile[(k + tx) % 32, tx]"), "the wrong way round"),
        "uncoalesced": (
            [("tile[i, tx]", "tile[tx, i]"), ("* 32 + i, start + tx", "* 32 + tx, start + i"), ("(k + tx) % 32", "k")],
            "a k of its own",
        ),
    },
    "wrong-tile": {
        "both padded": ((A_OWN, "cuda.shared.array((SIDE, LONGER), float32)\n    B"), "the other tile needs none"),
        "two words": ((B_PADDED, "B_tile = cuda.shared.array((SIDE, 18)"), "the other tile needs none"),
        "a row more": ((B_PADDED, "B_tile = cuda.shared.array((LONGER, SIDE)"), "down a column"),
        "stored as it lies, read as before": (("B_tile[tx, ty]", "B_tile[ty, tx]"), "the wrong way round"),
    },
}

RIGHT = {
    "swizzle": {
        "a skewed index": [(STORED, "B_tile[ty, (tx + ty) % SIDE] = b"), (READ, "B_tile[tx, (k + tx) % SIDE]")],
        "backwards": [(STORED, "B_tile[ty, 15 - (tx ^ ty)] = b"), (READ, "B_tile[tx, 15 - (k ^ tx)]")],
    },
    "free-paddings": {
        "by the greatest common divisor": (
            "def free_paddings(T, most):\n    def divisor(a, b):\n        return a if b == 0 else divisor(b, a % b)\n\n"
            "    return sum(32 // divisor(T + p, 32) >= T for p in range(most + 1))\n"
        ),
    },
    "skewed": {
        "exclusive or": ("(k + tx) % 32", "k ^ tx"),
        "backwards, and with a mask of bits": ("(k + tx) % 32", "(tx - k) & 31"),
    },
    "which-bank": {
        "the last five bits": (BANK, "word = width * row + col\n    return word & 31"),
    },
    "wrong-tile": {
        "not transposed at all": [("B_tile[tx, ty]", "B_tile[ty, tx]"), ("B_tile[tx, k]", "B_tile[k, tx]")],
    },
}
