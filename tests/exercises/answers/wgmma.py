"""Answers to the exercises on wgmma: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = (
    "from numba import cuda, float32\n\n"
    "from course_lib.kernels import fence_proxy, fence_registers, multiply_tiles, store_64, store_tiles, wait_64\n\n\n"
)

PLACE = "return 32 * row + (4 * (k // 4 ^ row % 8) + k % 4)"
PAIRS = "return shared // ((rows + columns) * depth * itemsize)"
FENCE, BARRIER = "        fence_proxy()\n", "        cuda.syncthreads()\n"
STORED = "        store_tiles(A, B, A_tile, B_tile, 0, start)\n"
LATER = "        wait_64(acc, 1)\n"
LAST = "    wait_64(acc, 0)\n"

WRONG = {
    "swizzled-place": {
        "no swizzle": ((PLACE, "return 32 * row + k"), "piece 0 is where piece 1 would be"),
        "moved on": ((PLACE, "return 32 * row + (k + 4 * row) % 32"), "exchange their places"),
        "elements": ((PLACE, "return 32 * row + (k ^ row % 8)"), "piece 0 is where piece 1 would be"),
        "no remainder": ((PLACE, "return 32 * row + (k ^ 4 * row)"), "row 8 is like row 0"),
        "pieces only": ((PLACE, "return 32 * row + 4 * (k // 4 ^ row % 8)"), "nothing changes"),
        "no row": ((PLACE, "return k ^ row % 8 * 4"), "row 1 begins at 32"),
    },
    "missing-fence": {
        "after the barrier": ((FENCE + BARRIER, BARRIER + FENCE), "before the barrier"),
        "no first barrier": ((FENCE + BARRIER, FENCE), "keep both barriers"),
    },
    "stages": {
        "one tile": ((PAIRS, "return shared // (rows * depth * itemsize)"), "a pair takes 49,152 bytes"),
        "elements": ((PAIRS, "return shared // ((rows + columns) * depth)"), "49,152 bytes"),
        "two bytes": ((PAIRS, "return shared // ((rows + columns) * depth * 2)"), "itemsize bytes"),
        "not rounded": ((PAIRS, "return shared / ((rows + columns) * depth * itemsize)"), "49,152 bytes"),
        "at least one": ((PAIRS, PAIRS.replace("return ", "return max(1, ") + ")"), "round down"),
        "less than all": ((PAIRS, PAIRS.replace("shared //", "(shared - 1) //")), "just fits"),
    },
    "early-wait": {
        "none after the loop": ((LAST, ""), "none when the results are stored"),
        "as it was": ((LATER, LATER.replace("1", "0")), "is done already"),
    },
    "own-stores": {
        "no swizzle": ([("k // 4 ^ row % 8", "k // 4"), ("k // 4 ^ col % 8", "k // 4")], "are not swizzled"),
        "columns of B by a warp": (("i % 8 + i // 256 * 8, i // 8 % 32", "i % 64, i // 64"), "32 different banks"),
    },
}

NIGHTLY = {
    "missing-fence": {
        "before the stores": ((STORED + FENCE, FENCE + STORED), "before the barrier"),
        "another barrier": ((FENCE, BARRIER), "before the barrier"),
        "one thread": ((FENCE, "        if cuda.threadIdx.x == 0:\n    " + FENCE), "each thread that stored"),
        "the other fence": ((FENCE, "        fence_registers()\n"), "before the barrier"),
    },
    "early-wait": {
        "two in flight": ((LATER, LATER.replace("1", "2")), "allow one group in flight"),
        "no wait in the loop": ((LATER, ""), "allow one group in flight"),
        "before the products": (
            [(LATER, ""), ("        fence_registers()\n", "        wait_64(acc, 0)\n        fence_registers()\n")],
            "is done already",
        ),
        "one barrier": ((LATER + BARRIER, LATER), "allow one group in flight"),
    },
    "own-stores": {
        "rows of B's tile by a warp": (
            ("i % 8 + i // 256 * 8, i // 8 % 32", "i // 32, i % 32"),
            "neighbouring columns of B",
        ),
        "A by columns": (("row, k = i // 32, i % 32", "row, k = i % 64, i // 64"), "one row of A"),
        "start forgotten in A": (("A[top + row, start + k]", "A[top + row, k]"), "look at `A["),
    },
}

RIGHT = {
    "swizzled-place": {
        "elements of a piece exchanged together": (PLACE, "return 32 * row + (k ^ row % 8 * 4)"),
    },
    "missing-fence": {
        "twice": (FENCE, FENCE + FENCE),
    },
    "stages": {
        "step by step": (PAIRS, "pair = (rows + columns) * depth * itemsize\n    return shared // pair"),
    },
    "early-wait": {
        "the last wait twice": (LAST, "    wait_64(acc, 1)\n" + LAST),
    },
    "own-stores": {
        "16 columns by two values of k": (
            "i % 8 + i // 256 * 8, i // 8 % 32",
            "i % 8 + i // 32 % 8 * 8, i // 256 * 4 + i // 8 % 4",
        ),
    },
}
