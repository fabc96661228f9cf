"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

counters, naive_level, level = measurements.load("counters"), traffic.of("naive"), traffic.of("uncoalesced")
ones, both = variants.result("naive"), (variants.result("uncoalesced_c"), variants.result("uncoalesced"))
probes = {(r["probe"], r.get("stride")): r["value"] for r in measurements.load("latencies").results}
steps_of_all = 4096**3 / 32 / 132  # of the warps of one multiprocessor
alone = 1e3 * steps_of_all * (probes["L1 read", 32] + probes["L1 read", 0]) / probes["clock", None]
waits = {}
for which in ("naive", "uncoalesced"):
    stalls = {key[8:-8]: value for key, value in counters.result(which, M=4096).items() if "stalled" in key}
    waits[which] = {key: value / sum(stalls.values()) for key, value in stalls.items()}
to_global = {which: of["lg_throttle"] + of["long_scoreboard"] for which, of in waits.items()}
along, down = figures.levels("tiled", "tiled_uncoalesced")
assert loads["naive"].accesses == loads["x along the rows"].accesses, "the number of loads stays the same"
assert of_B.accesses == tiled_run.traffic.select(op="load", array="B").accesses, "as many loads"
assert all(patterns[f"global float32, stride {step}"] == sectors(step) for step in (0, 1, 2, 4, 8, 16)), "equal"
assert patterns["global float32, from element 1"] == sectors(1, first=1), "and with another start"
assert 0.365 < speed["uncoalesced"] / speed["naive"] < 0.375, "37 % of the speed is left"
assert (level.instructions, level.requests) == (naive_level.instructions, naive_level.requests), "equally many"
assert round(100 * naive_level.share("L1 and shared memory")) == 17, "L1 is at 17 % of its roof"
assert [round(r["gflops"]) for r in both] == [498, 498], "498 GFLOP/s, exactly as in numba"
assert f"{in_c['naive'] / in_c['uncoalesced']:.1f}" == "12.6", "coalescing gains a factor of 12.6 in CUDA C"
assert f"{ones['gflops'] / both[1]['gflops']:.1f}" == "2.7", "and 2.7 in numba"
assert round(probes["L1 read", 32]) == 32, "L1 needs 32 cycles"
assert (round(alone), round(level.milliseconds)) == (275, 276), "275 ms in all, and the kernel takes 276 ms"
assert to_global["uncoalesced"] > 0.9, "over 90 % of the waiting"
assert round(100 * to_global["naive"]) == 3, "in naive it is 3 %"
assert 0.45 < down.gflops / along.gflops < 0.55, "about half of the speed"
assert f"{down.sector_bytes / along.sector_bytes:.1f}" == "4.5", "4.5 times as many bytes in sectors"
assert f"{down.shared_wavefronts / along.shared_wavefronts:.1f}" == "1.6", "1.6 times as many wavefronts"
lost = [1 / speed - 1 / along.gflops for speed in (down.gflops, padded_tile)]  # time for each flop
assert 0.45 < lost[1] / lost[0] < 0.5, "about half of the lost time"
