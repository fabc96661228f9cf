"""Answers to the exercises on the naive kernel: plausible wrong ones with the first hint they meet, and right ones."""

WRONG = [
    ("transposed", "no guard", [("if row < M and col < N", "if row >= 0 or col >= 0")], "reach beyond C"),
    ("transposed", "B by columns", [("B[col, k]", "B[k, col]")], "order of B's indices"),
    (
        "transposed",
        "x and y swapped",
        [
            ("blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y", "blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q"),
            ("blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x", "blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y"),
            ("blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q", "blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
        ],
        "x and y look swapped",
    ),
    ("transposed", "one term short", [("range(K)", "range(K - 1)")], "last term"),
    (
        "transposed",
        "sum in C",
        [("acc += A[row, k] * B[col, k]", "C[row, col] += A[row, k] * B[col, k]"), ("        C[row, col] = acc", "")],
        "holds no zeros",
    ),
    (
        "transposed",
        "store in the loop",
        [("        C[row, col] = acc", "            C[row, col] = acc")],
        "store it once",
    ),
    (
        "transposed",
        "a load too many",
        [("acc += A[row, k] * B", "acc += (A[row, k] + A[row, k]) / float32(2) * B")],
        "one element of A and one of B",
    ),
    (
        "two-columns",
        "A loaded twice",
        [("+= a *", "+= A[row, k] *"), ("a = A[row, k]", "pass")],
        "keep it in a variable",
    ),
    ("two-columns", "same column twice", [("k, left + 1", "k, left")], "both columns hold the same"),
    ("two-columns", "two columns further", [("left + 1", "left + 2")], "left and left + 1"),
    ("transposed", "nothing stored", [("        C[row, col] = acc", "")], "never stores into C"),
    ("transposed", "forgets the sum", [("acc += A", "acc = A")], "add to it with `acc += …`"),
    ("transposed", "blockIdx without cuda", [("cuda.blockIdx.x", "blockIdx.x")], "write cuda.blockIdx"),
    (
        "transposed",
        "the host's loops in every thread",
        [
            (
                "    if row < M and col < N:\n        acc",
                "    for row in range(M):\n      for col in range(N):\n        acc",
            ),
        ],
        "make every thread compute all of C",
    ),
    (
        "two-columns",
        "forgets the sums",
        [("acc_left += ", "acc_left = "), ("acc_right += ", "acc_right = ")],
        "forgets",
    ),
    ("two-columns", "one term short", [("range(A.shape[1])", "range(A.shape[1] - 1)")], "last term"),
]

RIGHT = [
    (
        "transposed",
        "by cuda.grid, backwards along k",
        [
            "    col, row = cuda.grid(2)\n    if row >= M or col >= N:\n        return\n    acc = float32(0)\n"
            "    k = K - 1\n    while k >= 0:\n        acc += A[row, k] * B[col, k]\n        k -= 1\n"
            "    C[row, col] = acc",
        ],
    ),
    (
        "two-columns",
        "B's elements in variables",
        [
            "        for k in range(A.shape[1]):\n            a, b, c = A[row, k], B[k, left], B[k, left + 1]\n"
            "            acc_left += a * b\n            acc_right += a * c",
        ],
    ),
]
