"""Answers to the exercises on waiting and occupancy: plausible wrong ones with the first hint they meet, and right ones."""

BUSY = "return min(1, warps * work / (work + latency))"
LEAST = "min(by_registers, by_shared, 64 // warps, 32)"

WRONG = r"""
# busy-cycles
the wait alone: {BUSY} -> return min(1, warps * work / latency) ? warps-1-work-20-latency-80
one warp: {BUSY} -> return work / (work + latency) ? parameter-not-used
no end: {BUSY} -> return warps * work / (work + latency) ? warps-16-work-20-latency-80
only for 100 cycles: {BUSY} -> return min(1, warps * work / 100) ? parameter-not-used

# more-buffers
never at the same time ? parameter-not-used
@ def last_cycle(pairs, work, latency, buffers):\n    return pairs * (work + latency)\n
never a wait but the first ? parameter-not-used
@ def last_cycle(pairs, work, latency, buffers):\n    return latency + pairs * work\n
two buffers at most ? pairs-4-work-200-latency-600-buffers-3
- begins[i - buffers + 1] if i >= buffers - 1 else 0 -> begins[i - 1] if i else 0
all loads at once: begins[i - buffers + 1] if i >= buffers - 1 else 0 -> 0 ? pairs-4-work-200-latency-600-buffers-2

# blocks-that-fit
no limit of blocks: {LEAST} -> min(by_registers, by_shared, 64 // warps) ? threads-32-registers-16-shared-0
no limit of warps: {LEAST} -> min(by_registers, by_shared, 32) ? threads-256-registers-16-shared-0
without the KiB of the driver: (shared + 1024) -> max(shared, 1) ? threads-32-registers-16-shared-8192
registers not rounded up: -(-32 * registers // 256) * 256 -> 32 * registers ? threads-128-registers-34-shared-0
warps rounded down: -(-threads // 32) -> threads // 32 ? threads-80-registers-40-shared-0
whole blocks in each file ? threads-64-registers-56-shared-4096
- 4 * (16_384 // of_a_warp) // warps -> 4 * (16_384 // (of_a_warp * warps))
a list: {LEAST} -> [by_registers, by_shared] ? returns-many
"""

RIGHT = r"""
# busy-cycles
asks first: {BUSY} -> share = work / (work + latency)\n    return 1 if share * warps > 1 else share * warps

# more-buffers
a formula
@ def last_cycle(pairs, work, latency, buffers):\n    if buffers == 1:\n        return pairs * (latency + work)\n
+     groups, rest = divmod(pairs - 1, buffers - 1)\n
+     return latency + work + max(work * (pairs - 1), groups * latency + rest * work)\n
cycles of arrival
@ def last_cycle(pairs, work, latency, buffers):\n    arrives = [latency] * max(buffers - 1, 1)\n    now = 0\n
+     for pair in range(pairs):\n        now = max(now, arrives[pair])\n
+         arrives.append(now + latency + (work if buffers == 1 else 0))\n        now += work\n    return now\n

# blocks-that-fit
block by block
@ def blocks_that_fit(threads, registers, shared):\n    warps = (threads + 31) // 32\n
+     fit = 16384 // ((32 * registers + 255) // 256 * 256) * 4\n    blocks = 0\n
+     while blocks < 32 and (blocks + 1) * warps <= min(fit, 64) and (blocks + 1) * (shared + 1024) <= 228 * 1024:\n
+         blocks += 1\n    return blocks\n
"""
