"""Answers to the exercises on unrolling: plausible wrong ones with the first hint they meet, and right ones."""

LAST = "            acc += A[row, k + 3] * B[k + 3, col]\n"
REST = "        for k in range(whole, K):\n            acc += A[row, k] * B[k, col]\n"

LEAST = "min(by_registers, by_shared, 64 // warps, 32)"

WRONG = {
    "blocks-that-fit": {
        "no limit of blocks": ((LEAST, "min(by_registers, by_shared, 64 // warps)"), "32-threads-16-registers-0-bytes"),
        "no limit of warps": ((LEAST, "min(by_registers, by_shared, 32)"), "256-threads-16-registers-0-bytes"),
        "by registers alone": ((LEAST, "by_registers"), "256-threads-16-registers-0-bytes"),
        "without the KiB of the driver": (("(shared + 1024)", "max(shared, 1)"), "32-threads-16-registers-8-192-bytes"),
        "registers not rounded up": (
            ("-(-32 * registers // 256) * 256", "32 * registers"),
            "128-threads-34-registers-0-bytes",
        ),
        "warps rounded down": (("-(-threads // 32)", "threads // 32"), "80-threads-40-registers-0-bytes"),
        "one file of 65,536": (
            ("4 * (16_384 // of_a_warp) // warps", "65_536 // of_a_warp // warps"),
            "80-threads-40-registers-0-bytes",
        ),
        "whole blocks in each file": (
            ("4 * (16_384 // of_a_warp) // warps", "4 * (16_384 // (of_a_warp * warps))"),
            "64-threads-56-registers-4-096-bytes",
        ),
        "a list": ((LEAST, "[by_registers, by_shared]"), "returns-many"),
    },
    "by-four": {
        "a loop inside, whose length no compiler knows": (
            ["            for i in range(k, min(k + 4, K)):\n                acc += A[row, i] * B[i, col]"],
            "loop-iterations",
        ),
        "only A goes on": ([(f"B[k + {i}, col]", "B[k, col]") for i in (1, 2, 3)], "one-matrix-stays"),
        "B's indices exchanged": (("B[k + 1, col]", "B[col, k + 1]"), "out-of-bounds"),
    },
    "hoisted": {
        "the guard stays inside": (
            [
                (
                    "    if row < C.shape[0] and col < C.shape[1]:\n        for k in range(A.shape[1]):\n            acc",
                    "    inside = row < C.shape[0] and col < C.shape[1]\n    for k in range(A.shape[1]):\n        if inside:\n            acc",
                ),
                ("        C[row, col] = acc", "    if inside:\n        C[row, col] = acc"),
            ],
            "statements-per-warp-that-compute-what-is-known-already",
        ),
        "stored in the loop": (("        C[row, col] = acc", "            C[row, col] = acc"), "stores-of-c"),
        "one term short": (("range(A.shape[1])", "range(A.shape[1] - 1)"), "last-term-missing"),
        "begun in the loop": (
            [
                ("    acc = float32(0)\n", ""),
                ("            acc +=", "            acc = float32(0)\n            acc +="),
            ],
            "sum-begins-again",
        ),
        "grid exchanged": (
            [
                ("    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y\n", "    row, col = cuda.grid(2)\n"),
                ("    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x\n", ""),
            ],
            "grid-by-rows",
        ),
        "= for +=": (("acc += ", "acc = "), "sum-replaced"),
    },
    "remainder": {
        "not unrolled": ([("range(0, whole, 4)", "range(0)"), ("range(whole, K)", "range(K)")], "loop-iterations"),
        "fours counted": (("K // 4 * 4", "K // 4"), "diagnosis: the number of fours"),
    },
}

NIGHTLY = {
    "by-four": {
        "k four times": (["            acc += A[row, k] * B[k, col]\n" * 4], "first-four-times"),
        "one too far": ((LAST, "            acc += A[row, k + 4] * B[k + 4, col]\n"), "out-of-bounds"),
        "= for +=": (("acc += A[row, k] *", "acc = A[row, k] *"), "sum-replaced"),
        "in steps of one": (("range(0, K, 4)", "range(0, K - 3)"), "pencil"),
        "a term forgotten": (("            acc += A[row, k + 2] * B[k + 2, col]\n", ""), "diagnosis"),
        "only k": (["            acc += A[row, k] * B[k, col]"], "every-fourth"),
    },
    "hoisted": {
        "no guard": (("    if row < C.shape[0] and col < C.shape[1]:", "    if row >= 0:"), "out-of-bounds"),
    },
    "remainder": {
        "as many iterations as whole fours": (
            ("range(0, whole, 4)", "range(0, K // 4, 4)"),
            "diagnosis: ends at K // 4 * 4",
        ),
        "the rest twice": (("range(whole, K)", "range(whole - 1, K)"), "one-name-or-number: range(whole - 1, K)"),
        "the rest from 0": (("range(whole, K)", "range(K % 4)"), "diagnosis: begin at 0 again"),
        "the rest from k": (("range(whole, K)", "range(k + 4, K)"), "uninitialized-read"),
        "whole rounded up": (("K // 4 * 4", "(K + 3) // 4 * 4"), "out-of-bounds"),
        "the rest with the last whole k": (
            ("acc += A[row, k] * B[k, col]\n        C", "acc += A[row, whole] * B[whole, col]\n        C"),
            "one-name-or-number: acc += A[row, whole] * B[whole, col]",
        ),
        "a guard and clamped loads": ([("range(0, whole, 4)", "range(0, K, 4)"), (REST, "")], "out-of-bounds"),
        "as many iterations as whole fours, and no rest": (
            [("range(0, whole, 4)", "range(0, K // 4, 4)"), (REST, "")],
            "diagnosis: ends at K // 4 * 4",
        ),
        "the rest left out": ((REST, ""), "rest-missing"),
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
    "by-four": {
        "a loop of constant length, which a compiler unrolls": [
            "            for i in range(4):\n                acc += A[row, k + i] * B[k + i, col]"
        ],
        "one sum of four products": [
            "            a, b = A[row, k] * B[k, col], A[row, k + 1] * B[k + 1, col]\n"
            "            acc += a + b\n"
            "            acc += A[row, k + 3] * B[k + 3, col] + A[row, k + 2] * B[k + 2, col]"
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
    "hoisted": {
        "an early return": (
            "    if row < C.shape[0] and col < C.shape[1]:\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = acc",
            "    if row >= C.shape[0] or col >= C.shape[1]:\n        return\n    for k in range(A.shape[1]):\n        acc += A[row, k] * B[k, col]\n    C[row, col] = acc",
        ),
    },
}
