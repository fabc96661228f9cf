"""Answers to the exercises on prefetching: plausible wrong ones with the first hint they meet, and right ones."""

TURN = "return (turn + 1) % buffers"

WRONG = [
    (
        "one-buffer",
        "stored before the multiplication",
        [
            "        if row < M and start + tx < K:\n            a_next = A[row, start + tx]\n"
            "        if start + ty < K and col < N:\n            b_next = B[start + ty, col]\n"
            "        cuda.syncthreads()\n        A_tile[ty, tx], B_tile[ty, tx] = a_next, b_next\n"
            "        cuda.syncthreads()",
            "        cuda.syncthreads()",
        ],
        "the first pair of tiles is missing",
    ),
    ("buffer-of-a-round", "the one that is read", [(TURN, "return turn % buffers")], "writes the other one"),
    ("buffer-of-a-round", "no end", [(TURN, "return turn + 1")], "they change places"),
    ("buffer-of-a-round", "two only", [(TURN, "return 1 - turn % 2")], "with three buffers"),
    ("buffer-of-a-round", "the other of two", [(TURN, "return 1 - turn")], "there is no buffer 5"),
    ("buffer-of-a-round", "the quotient", [(TURN, "return (turn + 1) // buffers")], "writes the other one"),
    (
        "one-buffer",
        "loads twice",
        [("= A[row, start + tx]", "= float32(0.5) * (A[row, start + tx] + A[row, start + tx])")],
        "each tile, once",
        "nightly",
    ),
    (
        "one-buffer",
        "a barrier too many",
        [("= a_next\n", "= a_next\n        cuda.syncthreads()\n")],
        "two barriers per round",
        "nightly",
    ),
    (
        "one-buffer",
        "one tile too many",
        [("row < M and start + tx < K", "row < M")],
        "a tile that does not exist",
        "nightly",
    ),
    (
        "one-buffer",
        "no barrier before",
        [("        cuda.syncthreads()\n        A_tile", "        A_tile")],
        "must wait twice",
        "nightly",
    ),
    (
        "one-buffer",
        "no barrier after",
        [("b_next\n        cuda.syncthreads()", "b_next")],
        "must wait twice",
        "nightly",
    ),
    (
        "last-round",
        "asks per thread",
        [("if start < K", "if start + tx < K")],
        "use start, which is the same",
        "nightly",
    ),
    ("last-round", "no question", [("if start < K", "if True")], "nothing to store"),
    (
        "last-round",
        "barrier outside",
        [("            cuda.syncthreads()", "        cuda.syncthreads()")],
        "can be skipped",
    ),
    ("last-round", "no barrier", [("            cuda.syncthreads()", "")], "must also wait", "nightly"),
    ("one-buffer", "= for +=", [("acc += ", "acc = ")], "add to it with `acc += …`"),
]

RIGHT = [
    (
        "buffer-of-a-round",
        "one after the one that is read",
        [(TURN, "now = turn % buffers\n    return 0 if now + 1 == buffers else now + 1")],
    ),
    (
        "one-buffer",
        "conditional expressions",
        [
            "        a_next = A[row, start + tx] if row < M and start + tx < K else float32(0)\n"
            "        b_next = B[start + ty, col] if start + ty < K and col < N else float32(0)",
            "        cuda.syncthreads()\n        B_tile[ty, tx] = b_next\n        A_tile[ty, tx] = a_next\n"
            "        cuda.syncthreads()",
        ],
    ),
    (
        "last-round",
        "stores first, then switches",
        [
            "        if start < K:\n            A_tiles[1 - now, ty, tx] = a_next\n"
            "            B_tiles[1 - now, ty, tx] = b_next\n"
            "            now = 1 - now\n            cuda.syncthreads()",
        ],
    ),
]
