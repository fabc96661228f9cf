"""Answers to the exercises on unrolling: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32, uint64\n\n\n"

REST = "        for k in range(whole, K):\n            acc += A[row, k] * B[k, col]\n"

LEAST = "min(by_registers, by_shared, 64 // warps, 32)"

WRONG = {
    "blocks-that-fit": {
        "no limit of blocks": ((LEAST, "min(by_registers, by_shared, 64 // warps)"), "at most 32"),
        "no limit of warps": ((LEAST, "min(by_registers, by_shared, 32)"), "64 warps are used up"),
        "by registers alone": ((LEAST, "by_registers"), "64 warps are used up"),
        "without the KiB of the driver": (("(shared + 1024)", "max(shared, 1)"), "1 KiB more"),
        "registers not rounded up": (("-(-32 * registers // 256) * 256", "32 * registers"), "1,280"),
        "warps rounded down": (("-(-threads // 32)", "threads // 32"), "3 whole warps"),
        "one file of 65,536": (
            ("4 * (16_384 // of_a_warp) // warps", "65_536 // of_a_warp // warps"),
            "12 warps of 32·40",
        ),
        "whole blocks in each file": (
            ("4 * (16_384 // of_a_warp) // warps", "4 * (16_384 // (of_a_warp * warps))"),
            "a file holds 9 warps of 32·56",
        ),
        "a list": ((LEAST, "[by_registers, by_shared]"), "many answers"),
    },
    "by-sixteen": {
        "an inner loop whose length no compiler knows": (("range(16)", "range(min(16, K))"), "of constant length"),
        "only A goes on": (("B[k, col]", "B[uint64(start), col]"), "B stays at the first"),
        "B's indices exchanged": (("B[k, col]", "B[col, k]"), "The first index of B is its row"),
        "start multiplied": (("start + i", "16 * start + i"), "start already grows by 16"),
    },
    "remainder": {
        "not unrolled": (
            [("range(0, whole, 4)", "range(0)"), ("range(whole, K)", "range(K)")],
            "keep the unrolled loop",
        ),
        "fours counted": (("K // 4 * 4", "K // 4"), "the number of fours"),
    },
}

NIGHTLY = {
    "by-sixteen": {
        "start sixteen times": (("uint64(start + i)", "uint64(start)"), "both stay at the first"),
        "= for +=": (("acc += ", "acc = "), "add to it with `acc += …`"),
        "a term short": (("range(16)", "range(15)"), "the sixteenth"),
        "only start": (("range(16)", "range(1)"), "only every sixteenth term"),
        "beyond": (("range(16)", "range(17)"), "start already grows by 16"),
    },
    "remainder": {
        "as many iterations as whole fours": (("range(0, whole, 4)", "range(0, K // 4, 4)"), "ends at K // 4 * 4"),
        "the rest twice": (("range(whole, K)", "range(whole - 1, K)"), "look at `range(whole - 1, K)`"),
        "the rest from 0": (("range(whole, K)", "range(K % 4)"), "begin at 0 again"),
        "the rest from k": (("range(whole, K)", "range(k + 4, K)"), "whatever k is"),
        "whole rounded up": (("K // 4 * 4", "(K + 3) // 4 * 4"), "how many whole fours"),
        "the rest with the last whole k": (
            ("acc += A[row, k] * B[k, col]\n        C", "acc += A[row, whole] * B[whole, col]\n        C"),
            "look at `acc += A[row, whole]",
        ),
        "a guard and clamped loads": ([("range(0, whole, 4)", "range(0, K, 4)"), (REST, "")], "how many whole fours"),
        "as many iterations as whole fours, and no rest": (
            [("range(0, whole, 4)", "range(0, K // 4, 4)"), (REST, "")],
            "ends at K // 4 * 4",
        ),
        "the rest left out": ((REST, ""), "need a loop of their own"),
    },
}

RIGHT = {
    "blocks-that-fit": {
        "block by block": (
            "def blocks_that_fit(threads, registers, shared):\n    warps = (threads + 31) // 32\n"
            "    fit = 16384 // ((32 * registers + 255) // 256 * 256) * 4\n    blocks = 0\n"
            "    while blocks < 32 and (blocks + 1) * warps <= min(fit, 64) and "
            "(blocks + 1) * (shared + 1024) <= 228 * 1024:\n        blocks += 1\n    return blocks\n"
        ),
    },
    "by-sixteen": {
        "signed indices, which check cannot see": ("uint64(start + i)", "start + i"),
        "two sums": [
            (
                "                acc += A[row, k] * B[k, col]\n",
                "                if i % 2:\n                    odd += A[row, k] * B[k, col]\n                else:\n"
                "                    acc += A[row, k] * B[k, col]\n",
            ),
            ("acc = float32(0)", "acc = odd = float32(0)"),
            ("C[row, col] = acc", "C[row, col] = acc + odd"),
        ],
    },
    "remainder": {
        "the rest first": [("range(whole, K)", "range(K % 4)"), ("range(0, whole, 4)", "range(K % 4, K, 4)")],
        "guards inside the iteration": [
            ("range(0, whole, 4)", "range(0, K, 4)"),
            (REST, ""),
            ("            acc += A[row, k + 1]", "            if k + 1 < K:\n                acc += A[row, k + 1]"),
            ("            acc += A[row, k + 2]", "            if k + 2 < K:\n                acc += A[row, k + 2]"),
            ("            acc += A[row, k + 3]", "            if k + 3 < K:\n                acc += A[row, k + 3]"),
        ],
    },
}
