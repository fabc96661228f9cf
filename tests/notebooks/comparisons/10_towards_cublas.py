"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib import show_machine_code

ratio = {(a, b): gflops(b) / gflops(a) for a, b in zip(steps[:-1], steps[1:], strict=True)}
assert 0.45 < gflops("register_2d") / gflops("cublas") < 0.55, "half as fast as NVIDIA's own library"
assert 0.955 < gflops("warp_tiled") / gflops("vectorized") < 0.965, "4 % slower"
assert round(ratio["register_2d", "vectorized"], 2) == 1.28, "1.28 times as fast"
assert round(ratio["warp_tiled", "staged"], 2) == 1.02, "2 % faster than warp_tiled"
assert round(gflops("register_2d") / limit / 10) == 42, "42 % of the measured limit"
factor = executed("register_2d") / executed("vectorized")
assert round(factor, 2) == 1.35 and round(factor * busy("vectorized") / busy("register_2d"), 2) == 1.27, "1.35 and 1.27"
outside = [executed(name) - recorded["instructions"].result(name)["instructions"] / 64 for name in steps[:2]]
assert [round(share, 2) for share in outside] == [0.35, 0.11], "outside the steps"
one_block = [
    r["gflops"]
    for r in measurements.load("residency").results
    if (r["rung"], r["warps"]) in (("warp_tiled", 8), ("staged", 8))
]
assert round(one_block[1] / one_block[0], 2) == 1.32, "with one block 32 %"
assert round(gflops("large_tiles") / gflops("software_pipelined"), 2) == 1.09, "large_tiles gains 9 %"
assert round(gflops("whole_tiles") / gflops("large_tiles"), 2) == 1.01, "whole_tiles gains 1 %"
assert 0.82 < gflops("best") / 1000 / limit < 0.84, "five sixths"
ragged_pair = [recorded["ragged"].result(name, M=4097)["gflops"] for name in ("large_tiles", "whole_tiles")]
assert round(ragged_pair[1] / ragged_pair[0], 2) == 1.16, "it gains 16 %"
assert round(ratio["staged", "software_pipelined"], 2) == 1.30, "1.30 times as fast as staged"
assert round(ratio["whole_tiles", "best"], 2) == 1.12, "best gains 12 %"
assert round(ratio["vectorized", "warp_tiled"], 2) == 0.96, "is 4 % slower"
fewer = [round(100 * (1 - executed(b) / executed(a))) for a, b in zip(steps[3:], steps[4:], strict=False)]
one_set, two_sets = ([entry["gflops"] for entry in found] for found in combinations.values())
gained = [round(100 * (b / a - 1)) for a, b in zip(one_set, two_sets, strict=True)]
assert (min(gained), max(gained)) == (11, 23), "the second set of fragments gains 11 to 23 %"
gained = [round(100 * (each[i + 2] / each[i] - 1)) for each in (one_set, two_sets) for i in (0, 1)]
assert (min(gained), max(gained)) == (2, 12), "the loop written out gains 2 to 12 %"
gained = [round(100 * (each[3] / each[2] - 1)) for each in (two_sets, one_set)]
assert gained == [5, -5], "gains 5 % in the finished kernel and loses 5 % in staged"
names = [entry["variant"].partition(", ")[2] for entry in combinations["software_pipelined, two sets"]]
assert names == ["steps in a loop, not capped", "steps in a loop", "not capped", "as it is"]
codes = [show_machine_code(rung(n).make()).code.instructions for n in steps[3:5]]
assert [sum(each.operation == "FFMA" for each in code) for code in codes] == [64, 512]
assert fewer == [14, 11, 3, 0], "14 %, 11 % and 3 % fewer instructions, and as many"
assert abs(ratio["whole_tiles", "best"] - busy("best") / busy("whole_tiles")) < 0.01, "all of the gain is there"
counts = {name: recorded["counters"].result(name, N=4096) for name in steps}
stalls = {name: {key[8:-8]: v for key, v in counts[name].items() if key.startswith("stalled_")} for name in steps}
order = sorted(stalls["best"], key=stalls["best"].get, reverse=True)[:4]
assert order == ["not_selected", "short_scoreboard", "dispatch_stall", "no_instruction"], "the largest reasons"
at_1024 = by_size["best"][1024] / by_size["best"][4096]
assert round(100 * at_1024) == 24 and np.prod(rung("best").launch(1024, 1024, 1024)[0]) == 32, "at 24 % of its speed"
length = [recorded["instructions"].result(name)["instructions"] for name in ("large_tiles", "whole_tiles")]
assert length == [2441, 2350], "2,441 and 2,350 instructions"
next_one = [stalls[name]["no_instruction"] / sum(stalls[name].values()) for name in ("large_tiles", "whole_tiles")]
assert [round(100 * part_of) for part_of in next_one] == [17, 5], "17 % of the waiting, and 5 %"
fit = {name: recorded["ladder"].result(name)["blocks_per_multiprocessor"] for name in steps}
assert [fit[name] for name in steps[4:]] == [2, 1, 1, 1], "from large_tiles on, only one block fits"
told = [executed(a) / executed(b) * busy(b) / busy(a) for a, b in zip(steps[3:], steps[4:], strict=False)]
gained = [ratio[pair] for pair in zip(steps[3:], steps[4:], strict=False)]
assert max(abs(one / other - 1) for one, other in zip(told, gained, strict=True)) < 0.02, "agree within 2 %"
shares = [round(100 * gflops(name) / gflops("cublas")) for name in steps[1:5]]
assert shares == [66, 63, 64, 83], "64 % of the speed of cuBLAS"
assert shares[-1] == 83, "83 % of the speed of cuBLAS"
a, b = steps[:2]
assert round(busy(b) / executed(b) / (busy(a) / executed(a)), 2) == 1.27, "by the counts"
assert round(ratio["register_2d", "vectorized"], 2) == 1.28, "= 1.28 times as fast"
assert round(gflops("best") / gflops("cublas"), 2) == 1.02, "2 % faster than cuBLAS"
assert round(gflops("best") / gflops("cublas"), 1) == 1, "a kernel as fast as NVIDIA's library"
assert (multiprocessors, thread_registers, 100 * 4 / 64) == (132, 255, 6.25), "as the questions say"
