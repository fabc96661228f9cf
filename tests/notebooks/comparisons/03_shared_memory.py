"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

assert carried.shape == stored.shape == (5, 5), "one count for each thread of the block, 12 threads of 25"
near, far = latency["shared memory"], latency["DRAM"]
assert 1 < latency["cache L1"] / near < 1.25, "only a little nearer than the nearest cache"
assert [f"{size:.3g}" for size in gigabytes] == ["344", "24.4", "8.42"], "GB"
assert 2.5 < barriers[32] / near < 3.5, "three shared loads, one after another, take as long"
assert round(far / barriers[32]) == 8, "a load from DRAM takes eight times as long"
assert 10 <= min(barriers.values()) and max(barriers.values()) < 100, "tens of cycles"
assert max(side for side in range(99) if 2 * 4 * side**2 <= 48 * 1024) == 78, "enough for 78×78"
assert naive_loads == 128 and loads_before == 8 and loads_now == 10, "128 loads; 8 before, and 10 now"
assert (stored > 0).sum() == 12 and (carried == 0).sum() == 2, "12 threads compute, two threads copy nothing"
assert 2 * 32 * 32 * 4 == 8_192, "8,192 bytes, a sixth of the limit"
