"""Answers to the exercises on the model of waiting: plausible wrong ones with the first hint they meet, and right ones."""

BUSY = "return min(1, warps * work / (work + latency))"
REQUESTS = "return -(-cycles * bytes_per_cycle // request_bytes)"

WRONG = {
    "busy-cycles": {
        "the wait alone": ((BUSY, "return min(1, warps * work / latency)"), "work + latency cycles"),
        "one warp": ((BUSY, "return work / (work + latency)"), "each warp adds its own share"),
        "no end": ((BUSY, "return warps * work / (work + latency)"), "no share exceeds 1"),
        "the larger": ((BUSY, "return max(1, warps * work / (work + latency))"), "here 100"),
        "in percent": ((BUSY, "return 100 * min(1, warps * work / (work + latency))"), "here 100"),
        "only for 100 cycles": ((BUSY, "return min(1, warps * work / 100)"), "on any GPU"),
    },
    "requests-in-flight": {
        "rounded down": ((REQUESTS, "return cycles * bytes_per_cycle // request_bytes"), "round up"),
        "a part": ((REQUESTS, "return cycles * bytes_per_cycle / request_bytes"), "round up"),
        "one more": ((REQUESTS, "return cycles * bytes_per_cycle // request_bytes + 1"), "in each of"),
        "the bytes": ((REQUESTS, "return cycles * bytes_per_cycle"), "800 bytes are"),
        "divided": ((REQUESTS, "return -(-cycles // bytes_per_cycle // request_bytes)"), "800 bytes"),
        "128 always": ((REQUESTS, "return -(-cycles * bytes_per_cycle // 128)"), "larger requests"),
    },
    "more-buffers": {
        "never at the same time": (
            "def last_cycle(pairs, work, latency, buffers):\n    return pairs * (work + latency)\n",
            "before begin",
        ),
        "never a wait but the first": (
            "def last_cycle(pairs, work, latency, buffers):\n    return latency + pairs * work\n",
            "nothing happens at the same time",
        ),
        "two buffers at most": (
            ("begins[i - buffers + 1] if i >= buffers - 1 else 0", "begins[i - 1] if i else 0"),
            "the first two pairs start",
        ),
        "one pair too early": (
            ("begins[i - buffers + 1] if i >= buffers - 1 else 0", "begins[i - buffers] if i >= buffers else 0"),
            "of the pair before begin",
        ),
        "only the load counts": (("max(free, load + latency)", "load + latency"), "the first two pairs start"),
        "without the last work": (("return begins[-1] + work", "return begins[-1]"), "each pair takes latency + work"),
        "all loads at once": (("begins[i - buffers + 1] if i >= buffers - 1 else 0", "0"), "of the pair before begin"),
    },
}

RIGHT = {
    "busy-cycles": {
        "asks first": (BUSY, "share = work / (work + latency)\n    return 1 if share * warps > 1 else share * warps"),
    },
    "requests-in-flight": {
        "the remainder": (
            REQUESTS,
            "whole, rest = divmod(cycles * bytes_per_cycle, request_bytes)\n    return whole + (rest > 0)",
        ),
    },
    "more-buffers": {
        "a formula": (
            "def last_cycle(pairs, work, latency, buffers):\n    if buffers == 1:\n        return pairs * (latency + work)\n"
            "    groups, rest = divmod(pairs - 1, buffers - 1)\n"
            "    return latency + work + max(work * (pairs - 1), groups * latency + rest * work)\n"
        ),
        "cycles of arrival": (
            "def last_cycle(pairs, work, latency, buffers):\n    arrives = [latency] * max(buffers - 1, 1)\n    now = 0\n"
            "    for pair in range(pairs):\n        now = max(now, arrives[pair])\n"
            "        arrives.append(now + latency + (work if buffers == 1 else 0))\n        now += work\n    return now\n"
        ),
    },
}
