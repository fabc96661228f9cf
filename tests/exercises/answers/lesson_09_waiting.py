"""Answers to the exercises on the model of waiting: plausible wrong ones with the first hint they meet, and right ones."""

BUSY = "return min(1, warps * work / (work + latency))"
REQUESTS = "return -(-cycles * bytes_per_cycle // request_bytes)"

WRONG = r"""
# busy-cycles
the wait alone: {BUSY} -> return min(1, warps * work / latency) ? warps-1-work-20-latency-80
one warp: {BUSY} -> return work / (work + latency) ? warps-2-work-20-latency-80
no end: {BUSY} -> return warps * work / (work + latency) ? warps-16-work-20-latency-80
only for 100 cycles: {BUSY} -> return min(1, warps * work / 100) ? warps-3-work-10-latency-190

# requests-in-flight
rounded down: {REQUESTS} -> return cycles * bytes_per_cycle // request_bytes ? cycles-100-bytes-per-cycle-8-request-bytes-128
one more: {REQUESTS} -> return cycles * bytes_per_cycle // request_bytes + 1 ? cycles-100-bytes-per-cycle-128-request-bytes-128
divided: {REQUESTS} -> return -(-cycles // bytes_per_cycle // request_bytes) ? cycles-100-bytes-per-cycle-8-request-bytes-128
128 always: {REQUESTS} -> return -(-cycles * bytes_per_cycle // 128) ? cycles-600-bytes-per-cycle-16-request-bytes-512

# more-buffers
never at the same time ? pairs-4-work-200-latency-600-buffers-2
@ def last_cycle(pairs, work, latency, buffers):\n    return pairs * (work + latency)\n
never a wait but the first ? pairs-4-work-200-latency-600-buffers-1
@ def last_cycle(pairs, work, latency, buffers):\n    return latency + pairs * work\n
two buffers at most ? pairs-4-work-200-latency-600-buffers-3
- begins[i - buffers + 1] if i >= buffers - 1 else 0 -> begins[i - 1] if i else 0
all loads at once: begins[i - buffers + 1] if i >= buffers - 1 else 0 -> 0 ? pairs-4-work-200-latency-600-buffers-2
"""

RIGHT = r"""
# busy-cycles
asks first: {BUSY} -> share = work / (work + latency)\n    return 1 if share * warps > 1 else share * warps

# requests-in-flight
the remainder
- {REQUESTS} -> whole, rest = divmod(cycles * bytes_per_cycle, request_bytes)\n    return whole + (rest > 0)

# more-buffers
a formula
@ def last_cycle(pairs, work, latency, buffers):\n    if buffers == 1:\n        return pairs * (latency + work)\n
+     groups, rest = divmod(pairs - 1, buffers - 1)\n
+     return latency + work + max(work * (pairs - 1), groups * latency + rest * work)\n
cycles of arrival
@ def last_cycle(pairs, work, latency, buffers):\n    arrives = [latency] * max(buffers - 1, 1)\n    now = 0\n
+     for pair in range(pairs):\n        now = max(now, arrives[pair])\n
+         arrives.append(now + latency + (work if buffers == 1 else 0))\n        now += work\n    return now\n
"""
