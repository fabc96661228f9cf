"""Answers to the exercises on the model of waiting: plausible wrong ones with the first hint they meet, and right ones."""

BUSY = "return min(1, warps * work / (work + latency))"
REQUESTS = "return -(-cycles * bytes_per_cycle // request_bytes)"

WRONG = [
    ("busy-cycles", "the wait alone", [(BUSY, "return min(1, warps * work / latency)")], "work + latency cycles"),
    ("busy-cycles", "one warp", [(BUSY, "return work / (work + latency)")], "each warp adds its own share"),
    ("busy-cycles", "no end", [(BUSY, "return warps * work / (work + latency)")], "no share exceeds 1"),
    ("busy-cycles", "the larger", [(BUSY, "return max(1, warps * work / (work + latency))")], "here 100"),
    ("busy-cycles", "in percent", [(BUSY, "return 100 * min(1, warps * work / (work + latency))")], "here 100"),
    ("busy-cycles", "only for 100 cycles", [(BUSY, "return min(1, warps * work / 100)")], "on any GPU"),
    (
        "requests-in-flight",
        "rounded down",
        [(REQUESTS, "return cycles * bytes_per_cycle // request_bytes")],
        "round up",
    ),
    ("requests-in-flight", "a part", [(REQUESTS, "return cycles * bytes_per_cycle / request_bytes")], "round up"),
    (
        "requests-in-flight",
        "one more",
        [(REQUESTS, "return cycles * bytes_per_cycle // request_bytes + 1")],
        "in each of",
    ),
    ("requests-in-flight", "the bytes", [(REQUESTS, "return cycles * bytes_per_cycle")], "800 bytes are"),
    (
        "requests-in-flight",
        "divided",
        [(REQUESTS, "return -(-cycles // bytes_per_cycle // request_bytes)")],
        "800 bytes",
    ),
    ("requests-in-flight", "128 always", [(REQUESTS, "return -(-cycles * bytes_per_cycle // 128)")], "larger requests"),
]

RIGHT = [
    (
        "busy-cycles",
        "asks first",
        [(BUSY, "share = work / (work + latency)\n    return 1 if share * warps > 1 else share * warps")],
    ),
    (
        "requests-in-flight",
        "the remainder",
        [(REQUESTS, "whole, rest = divmod(cycles * bytes_per_cycle, request_bytes)\n    return whole + (rest > 0)")],
    ),
]
