"""Answers to the exercises on the naive kernel: plausible wrong ones with the first hint they meet, and right ones."""

WRONG = {
    "transposed": {
        "subtracted": (("acc +=", "acc -="), "subtracts; a sum needs"),
        "as many iterations as columns": (("range(K)", "range(N)"), "goes over N, and must go over K"),
        "x and y swapped": (
            [
                ("blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y", "blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q"),
                ("blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x", "blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y"),
                ("blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q", "blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
            ],
            "x and y look swapped",
        ),
        "one term short": (("range(K)", "range(K - 1)"), "last term"),
        "sum in C": (
            [
                ("acc += A[row, k] * B[col, k]", "C[row, col] += A[row, k] * B[col, k]"),
                ("        C[row, col] = acc", ""),
            ],
            "is not zero when",
        ),
        "store in the loop": (("        C[row, col] = acc", "            C[row, col] = acc"), "store it once"),
        "a load too many": (
            ("acc += A[row, k] * B", "acc += (A[row, k] + A[row, k]) / float32(2) * B"),
            "one element of A and one of B",
        ),
        "A by columns": (("A[row, k]", "A[k, row]"), "look at the indices"),
        "the row of A in B, too": (("B[col, k]", "B[row, k]"), "multiplied with row `col` of B"),
        "a guard of the sums": (("col < N", "col < K"), "Which threads does your guard stop?"),
        "nothing stored": (("        C[row, col] = acc", ""), "never stores into C"),
        "replaces the sum": (("acc += A", "acc = A"), "add to it with `acc += …`"),
        "blockIdx without cuda": (("cuda.blockIdx.x", "blockIdx.x"), "write cuda.blockIdx"),
        "the host's loops in every thread": (
            (
                "    if row < M and col < N:\n        acc",
                "    for row in range(M):\n      for col in range(N):\n        acc",
            ),
            "go through all of C",
        ),
    },
    "two-columns": {
        "A loaded twice": ([("+= a *", "+= A[row, k] *"), ("a = A[row, k]", "pass")], "keep it in a variable"),
        "the row below": (("acc_right += a", "acc_right += A[row + 1, k]"), "both sums use row `row` of A"),
        "same column twice": (("k, left + 1", "k, left"), "both columns hold the same"),
        "A loaded before the loop": (
            [("        for k", "        a = A[row, 0]\n        for k"), ("            a = A[row, k]\n", "")],
            "the same element of A",
        ),
        "one term short": (("range(A.shape[1])", "range(A.shape[1] - 1)"), "last term"),
    },
    "sum-in-register": {
        "16 for K": (("range(A.shape[1])", "range(16)"), "use A.shape[1]"),
        "blockDim.x for blockDim.y": (
            ("cuda.blockIdx.y * cuda.blockDim.y", "cuda.blockIdx.y * cuda.blockDim.x"),
            "mixes two directions",
        ),
        "stores at every step": (("        C[row", "            C[row"), "stored more than once"),
        "loads C all the same": (
            ("            acc +=", "            acc = C[row, col]\n            C[row, col] = acc +"),
            "is not zero when",
        ),
        "zero first, then adds to C": (
            [
                ("        acc = float32(0)", "        C[row, col] = 0"),
                ("acc +=", "C[row, col] = C[row, col] +"),
                ("        C[row, col] = acc", ""),
            ],
            "C is still loaded",
        ),
        "replaces the sum": (("acc +=", "acc ="), "add to it with `acc += …`"),
        "one term short": (("range(A.shape[1])", "range(A.shape[1] - 1)"), "last term"),
    },
    "report-kernel": {
        "the guard alone": (("B[k, y]", "B[y, k]"), "this is A·Bᵀ"),
        "A by columns": (("A[x, k]", "A[k, x]"), "look at `A[k, x]`"),
    },
}

NIGHTLY = {
    "transposed": {
        "rows from blockIdx.x": (
            ("row = cuda.blockIdx.y", "row = cuda.blockIdx.x"),
            "look at `row = cuda.blockIdx.x * cuda.blockDim.y",
        ),
        "no guard": (("if row < M and col < N", "if row >= 0 or col >= 0"), "reach beyond C"),
        "begins at 1": (("range(K)", "range(1, K)"), "look at `range(1, K)`"),
        "B by columns": (("B[col, k]", "B[k, col]"), "this is A·B"),
    },
    "two-columns": {
        "one sum for both": (("            acc_right", "            acc_left"), "look at `acc_left += a * B[k, left"),
        "two columns further": (("left + 1", "left + 2"), "left and left + 1"),
        "replaces the sums": ([("acc_left += ", "acc_left = "), ("acc_right += ", "acc_right = ")], "replaces the sum"),
    },
    "report-kernel": {
        "the row of C for the column of B": (("B[k, y]", "B[k, x]"), "look at `B[k, x]`"),
        "B alone": (("        C[x, y]", "    C[x, y]"), "also around the store"),
        "or for and": (("x < n and y < n", "x < n or y < n"), "also around the store"),
        "half a guard": (("x < n and y < n", "x < n"), "also around the store"),
        "stores at every step": (("        C[x, y]", "            C[x, y]"), "stored once"),
    },
    "sum-in-register": {
        "no guard": (("    if row < C.shape[0] and col", "    if row >= 0 or col"), "keep the guard"),
    },
}

RIGHT = {
    "transposed": {
        "rows as views": [
            ("for k in range(K):", "for k in range(A[row].size):"),
            ("A[row, k] * B[col, k]", "A[row][k] * B[col][k]"),
        ],
        "by cuda.grid, backwards along k": [
            "    col, row = cuda.grid(2)\n    if row >= M or col >= N:\n        return\n    acc = float32(0)\n"
            "    k = K - 1\n    while k >= 0:\n        acc += A[row, k] * B[col, k]\n        k -= 1\n"
            "    C[row, col] = acc"
        ],
    },
    "sum-in-register": {
        "begins with the first product": [
            ("acc = float32(0)", "acc = A[row, 0] * B[0, col]"),
            ("range(A.shape[1])", "range(1, A.shape[1])"),
        ],
    },
    "report-kernel": {
        "leaves early": [
            ("    total = float32(0)\n    if x < n and y < n:", "    if x >= n or y >= n:\n        return"),
            (
                "        for k in range(n):\n            total",
                "    total = float32(0)\n    for k in range(n):\n        total",
            ),
            ("        C[x, y]", "    C[x, y]"),
        ],
    },
    "two-columns": {
        "B's elements in variables": [
            "        for k in range(A.shape[1]):\n            a, b, c = A[row, k], B[k, left], B[k, left + 1]\n"
            "            acc_left += a * b\n            acc_right += a * c"
        ],
    },
}
