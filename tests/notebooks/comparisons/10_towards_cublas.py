"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib import show_machine_code

ratio = {(a, b): gflops(b) / gflops(a) for a, b in zip(steps[:-1], steps[1:], strict=True)}
assert 0.45 < gflops("register_2d") / gflops("cublas") < 0.55, "half as fast as NVIDIA's own library"
assert 0.955 < gflops("warp_tiled") / gflops("vectorized") < 0.965, "4 % slower"
assert round(ratio["register_2d", "vectorized"], 2) == 1.28, "1.28 times as fast"
assert round(ratio["warp_tiled", "staged"], 2) == 1.02, "2 % faster than warp_tiled"
assert round(gflops("register_2d") / limit / 10) == 42, "42 % of the measured limit"
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
assert (min(gained), max(gained)) == (2, 12), "the loop unrolled gains 2 to 12 %"
names = [entry["variant"].partition(", ")[2] for entry in combinations["software_pipelined, two sets"]]
assert names == ["steps in a loop, not capped", "steps in a loop", "not capped", "as it is"]
codes = [show_machine_code(rung(n).make()).code.instructions for n in steps[3:5]]
assert [sum(each.operation == "FFMA" for each in code) for code in codes] == [64, 512]
assert fewer == [14, 11, 3, 0], "14 %, 11 % and 3 % fewer instructions, and as many"
assert abs(ratio["whole_tiles", "best"] - busy("best") / busy("whole_tiles")) < 0.01, "all of the gain is there"
counts = {name: recorded["counters"].result(name, N=4096) for name in steps}
stalls = {name: {key[8:-8]: v for key, v in counts[name].items() if key.startswith("stalled_")} for name in steps}
order = sorted(stalls["best"], key=stalls["best"].get, reverse=True)[:4]
assert order == ["not_selected", "short_scoreboard", "dispatch_stall", "no_instruction"], (
    "the profiler's largest stalls"
)
assert round(100 - busy("best")) == 12, "12 of 100 issue slots are empty"
assert round(100 / executed("best")) == 93, "7 of 100 instructions do not multiply"
at_1024 = by_size["best"][1024] / by_size["best"][4096]
assert round(100 * at_1024) == 24 and np.prod(rung("best").launch(1024, 1024, 1024)[0]) == 32, "at 24 % of its speed"
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
assert multiprocessors == 132 and across * down == 16, "16 blocks: 8 down and 2 across"
assert [round((8 + 16) / (8 * 16), 2), 2 * 8 / 8**2, 128 + 2 * 24] == [0.19, 0.25, 176], "0.19 for each"
assert recorded["ladder"].result("large_tiles")["registers"] == 255, "the compiler uses 255"
early, behind = moved["early"], moved["behind"]
assert round(early["gflops"] / behind["gflops"], 2) == 1.22, "best is 1.22 times as fast"
shares = [round(100 * entry["gflops"] / library_speed) for entry in (behind, early)]
assert shares == [84, 102], "from 84 to 102 % of cuBLAS"
assert shares[1] == 102, "best has 102 % of the speed of cuBLAS"
large = [recorded["prefetching"].result(f"large_tiles_{key.replace(' ', '_')}", M=4096)["gflops"] for key in moved]
assert round(large[-1] / large[0], 2) == 1.21, "the same change gains 21 % in large_tiles"
assert large != sorted(large), "in large_tiles not every earlier place is faster"
assert [round(100 * stall(entry, "long_scoreboard")) for entry in (behind, early)] == [30, 0], "30 % of the waiting"
assert [round(entry["issue_active_percent"]) for entry in (behind, early)] == [72, 88], (
    "28 of 100 issue slots are empty"
)
assert round(behind["l1_wavefronts_percent"]) == 49, "in 49 of 100 cycles"
assert [entry["registers"] for entry in (early, behind)] == [239, 212], "239 instead of 212"
assert [entry["blocks_per_multiprocessor"] for entry in (early, behind)] == [1, 1], "one block is resident"
places_of = [min(moved[loads]["loop"]["multiply_adds_before_loads"]) / 128 for loads in ("early", "half", "14 steps")]
assert places_of == [2, 8, 14], "after 2 of 16 steps"
