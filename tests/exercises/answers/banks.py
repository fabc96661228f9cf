"""Answers to the exercises on bank conflicts: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nSIDE, LONGER = 16, 17\n\n\n"

PADDED = "(32, 33)"
A_OWN = "cuda.shared.array((SIDE, SIDE), float32)\n    B"
B_PADDED = "B_tile = cuda.shared.array((SIDE, LONGER)"

BANK = "return (row * width + col) % 32"

WRONG = [
    (
        "transpose",
        "x taken for the row",
        "@cuda.jit\ndef transpose(A, C):\n    row, col = cuda.grid(2)\n"
        "    if row < A.shape[0] and col < A.shape[1]:\n        C[col, row] = A[row, col]\n",
        "gives x first",
    ),
    ("skewed", "modulo 31", [("% 32]", "% 31]")], "look at `acc += tile[tx, (k + tx) % 31]`"),
    ("which-bank", "the column alone", [(BANK, "return col % 32")], "with word 33"),
    ("which-bank", "the word", [(BANK, "return row * width + col")], "modulo 32"),
    ("which-bank", "by columns", [(BANK, "return (col * width + row) % 32")], "its column 5 is word 5"),
    ("which-bank", "the quotient", [(BANK, "return (row * width + col) // 32")], "its column 5 is word 5"),
    ("which-bank", "modulo the width", [(BANK, "return (row * width + col) % width")], "modulo 32"),
    ("which-bank", "rows of 32", [(BANK, "return (row * 32 + col) % 32")], "with word 33"),
    ("which-bank", "without end", [(BANK, "while width:\n        col = row")], "was still running", "nightly"),
    ("which-bank", "printed", [(BANK, "print((row * width + col) % 32)")], "returns nothing"),
    ("row-sums", "no padding", [(PADDED, "(32, 32)")], "puts 32 rows into 32 different banks"),
    ("row-sums", "a row more", [(PADDED, "(33, 32)")], "puts 32 rows into 32 different banks", "nightly"),
    ("row-sums", "two words more", [(PADDED, "(32, 34)")], "puts 32 rows into 32 different banks", "nightly"),
    ("row-sums", "twice as long", [(PADDED, "(32, 64)")], "puts 32 rows into 32 different banks", "nightly"),
    ("row-sums", "odd and wasteful", [(PADDED, "(32, 35)")], "one word more in each of the 32 rows", "nightly"),
    ("row-sums", "too short", [(PADDED, "(32, 31)")], "at least 32 elements", "nightly"),
    ("row-sums", "sums of columns", [("tile[tx, k]", "tile[k, tx]")], "the wrong way round", "nightly"),
    ("skewed", "padded", [("(32, 32)", "(32, 33)"), ("(k + tx) % 32", "k")], "the tile stays 32×32", "nightly"),
    ("skewed", "twice the step", [("(k + tx) % 32", "(k + 2 * tx) % 32")], "begin at a different k", "nightly"),
    ("skewed", "beyond the row", [("(k + tx) % 32", "k + tx")], "return to its start", "nightly"),
    ("skewed", "only half round", [("(k + tx) % 32", "(k + tx) % 16")], "pencil", "nightly"),
    (
        "skewed",
        "sums of columns",
        [("tile[tx, (k + tx) % 32]", "tile[(k + tx) % 32, tx]")],
        "the wrong way round",
        "nightly",
    ),
    (
        "skewed",
        "uncoalesced",
        [("tile[i, tx]", "tile[tx, i]"), ("* 32 + i, start + tx", "* 32 + tx, start + i"), ("(k + tx) % 32", "k")],
        "all lanes read the same k",
        "nightly",
    ),
    (
        "wrong-tile",
        "both padded",
        [(A_OWN, "cuda.shared.array((SIDE, LONGER), float32)\n    B")],
        "the other tile needs none",
        "nightly",
    ),
    ("wrong-tile", "none padded", [(B_PADDED, "B_tile = cuda.shared.array((SIDE, SIDE)")], "down a column"),
    (
        "wrong-tile",
        "two words",
        [(B_PADDED, "B_tile = cuda.shared.array((SIDE, 18)")],
        "the other tile needs none",
        "nightly",
    ),
    ("wrong-tile", "a row more", [(B_PADDED, "B_tile = cuda.shared.array((LONGER, SIDE)")], "down a column", "nightly"),
    (
        "wrong-tile",
        "stored as it lies, read as before",
        [("B_tile[tx, ty]", "B_tile[ty, tx]")],
        "the wrong way round",
        "nightly",
    ),
    ("transpose", "no padding", [(PADDED, "(32, 32)")], "one word more", "nightly"),
    ("transpose", "no barrier", [("    cuda.syncthreads()\n", "")], "the whole block must wait", "nightly"),
    ("transpose", "only copied", [("tile[tx, ty]", "tile[ty, tx]")], "the wrong way round", "nightly"),
    (
        "transpose",
        "straight from global memory",
        [("C[row, col] = tile[tx, ty]", "C[row, col] = A[col, row]")],
        "run along a row of A",
        "nightly",
    ),
    (
        "transpose",
        "the blocks not exchanged",
        [
            (
                "cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx",
                "cuda.blockIdx.y * 32 + ty, cuda.blockIdx.x * 32 + tx",
            )
        ],
        "guard the stores into C",
        "nightly",
    ),
    (
        "transpose",
        "A's guard",
        [("row < C.shape[0] and col < C.shape[1]", "row < A.shape[0] and col < A.shape[1]")],
        "not the one of A",
    ),
]

RIGHT = [
    ("skewed", "exclusive or", [("(k + tx) % 32", "k ^ tx")]),
    ("which-bank", "the last five bits", [(BANK, "word = width * row + col\n    return word & 31")]),
    ("row-sums", "one row more as well", [(PADDED, "(32, 32 + 1)")]),
    ("skewed", "backwards, and with a mask of bits", [("(k + tx) % 32", "(tx - k) & 31")]),
    ("skewed", "exclusive or", [("(k + tx) % 32", "k ^ tx")]),
    ("wrong-tile", "not transposed at all", [("B_tile[tx, ty]", "B_tile[ty, tx]"), ("B_tile[tx, k]", "B_tile[k, tx]")]),
    (
        "transpose",
        "skewed instead of padded",
        [
            (PADDED, "(32, 32)"),
            ("tile[ty, tx] =", "tile[ty, (tx + ty) % 32] ="),
            ("= tile[tx, ty]", "= tile[tx, (tx + ty) % 32]"),
        ],
    ),
]
