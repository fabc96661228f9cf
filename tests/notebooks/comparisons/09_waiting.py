"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

import numpy as np
from course_lib.waiting import plan

from tools.prefetching import Found, ranks, slots

assert same == list(told_by_driver), "the driver reports the same number of blocks for every rung"
asked = {
    (int(threads), r["registers"], int(shared)): blocks
    for r in measurements.load("occupancy").results
    for shared, of in r["blocks"].items()
    for threads, blocks in of.items()
}
assert all(model.occupancy(*block, gpu).blocks == blocks for block, blocks in asked.items()), "and for others"
assert max(registers.values()) == 255, "at most 255 registers"
capped = [twins.result("bank_conflicts" + end)["gflops"] for end in ("_32_registers", "")]
assert round(capped[0] / capped[1], 2) == 1.09, "gained 9 % in this way"
by_block = {(r["rung"], *r["block"]): r["gflops"] for r in twins.results if "block" in r}
assert model.occupancy(64, 32, 0, gpu).warps == 2 * model.occupancy(16, 32, 0, gpu).warps, (
    "full warps, and twice as many"
)
assert 1.95 < by_block["naive_uint64_32", 8, 8] / by_block["naive_uint64_32", 4, 4] < 2.05, "it is twice as fast"
narrow, wide = ({r["block"][0]: r for r in twins.results if r.get("rung") == "tiled"}[width] for width in (4, 8))
assert f"{wide['gflops'] / narrow['gflops']:.1f}" == "4.8", "gains 4.8 times"
assert round(100 * wide["instructions"] / narrow["instructions"]) == 28, "the instructions fall to 28 %"
assert (32 * 80, 16384 / 2560, 4 * 6 // 2) == (2560, 6.4, 12), "2,560 registers a warp, 6.4 warps a file"
assert 0.95 < ladder.result("best")["gflops"] / ladder.result("cublas")["gflops"] < 1.1, "at the speed of cuBLAS"
assert (32 * 40, 16384 / 1280, 4 * 12 // 2) == (1280, 12.8, 24), "1,280 registers a warp, 12.8 warps a file, 24 blocks"
assert 32 * 256 * -(-34 * 32 // 256) == 40960, "one block takes 40,960 registers"
assert 20 < measured.latency["DRAM"] / measured.latency["shared"] < 25, "more than twenty times as long"
waits = {r["rung"]: r["measured_waits"] for r in measurements.load("waiting").results if r["what"] == "ladder"}
assert waits["best"]["global memory"] < 0.01, "less than 1 % of its waiting"
assert round(measurements.load("counters").result("best", N=4096)["issue_active_percent"]) == 88, "in 88 of 100 cycles"
full = [r for r in measurements.load("residency").results if r["rung"] == "tiled" and r["params"]["tile_width"] == 16]
one, eight = (next(r for r in full if r["warps"] == warps) for warps in (8, 64))
assert [round(r["issue_active_percent"]) for r in (one, eight)] == [22, 73], "in 22 of 100 cycles, and in 73"
assert round(eight["gflops"] / one["gflops"], 1) == 3.3, "3.3 times as fast"
pairs = {
    (r["rung"], r["params"]["tile_width"], r["warps"]): r
    for r in judged.results
    if r["what"] == "residency" and "tile_width" in r["params"] and r["rung"] in ("tiled", "prefetched")
}
ratios = {
    key[1:]: [pairs["prefetched", *key[1:]][by] / r[by] for by in ("measured", "predicted")]
    for key, r in pairs.items()
    if key[0] == "tiled"
}
assert len(ratios) == 12, "the twelve points of the picture"
played = {(count, two): plan(H200, 600, count, 8, two).play for count in (2, 16) for two in (1, 2)}
assert played[2, 1].share("global memory") > 0.5 and played[2, 2].cycles < played[2, 1].cycles, "grey, then shorter"
assert played[16, 2].cycles > played[16, 1].cycles, "the launch becomes longer"
empty_of = {
    (r["params"]["tile_width"], r["warps"]): 100 - r["issue_active_percent"]
    for r in residency.results
    if r["rung"] == "tiled"
}
assert [round(empty_of[case]) for case in ((16, 8), (16, 64), (32, 32))] == [78, 27, 59], "empty cycles of tiled"
points = {width: sorted((empty_of[key], ratios[key][0]) for key in ratios if key[0] == width) for width in (8, 16, 32)}
line_8 = [np.interp(x, *zip(*points[8], strict=True)) for x, _ in points[16]]
apart_16 = [abs(y / on_8 - 1) for (_, y), on_8 in zip(points[16], line_8, strict=True)]
assert max(apart_16) < 0.08 and np.median(apart_16) < 0.03, "near one line"
below = [y / np.interp(x, *zip(*points[8], strict=True)) for x, y in points[32]]
assert max(below) < 0.95, "with T = 32 they are below it"
gained = [
    round(twins.result("prefetched" + end)["gflops"] / twins.result("tiled" + end)["gflops"], 2)
    for end in ("", "_unsigned")
]
assert gained == [1.04, 1.09] and gain(32, 64) == 0.98, "three numbers"
varied = measurements.load("prefetching")
of_2048 = [varied.result(f"{name}_unsigned", N=2048) for name in ("tiled", "prefetched")]
assert round(of_2048[1]["gflops"] / of_2048[0]["gflops"], 2) == 0.99, "0.99 times as fast"
assert round(100 - of_2048[0]["issue_active_percent"]) == 54, "54 of 100 cycles are empty"
busy_path = [of["l1_wavefronts_percent"] for of in (of_2048[0], twins.result("tiled_unsigned"))]
assert [round(part) for part in busy_path] == [89, 83], "busy in 89 of 100 cycles, with n = 4096 in 83"
rows = slots(Found(varied), Found(measurements.load("prefetching_waiting")))
assert len(rows) == 28, "28 more launches"
assert all(row["room"] < row["empty"] for row in rows), "the busiest part"
assert all(row["gain"] < row["most"] for row in rows), "no gain is above this limit"
in_c = {(row["width"], row["warps"]): row for row in rows if row["language"] == "C"}
pair = in_c[8, 64], in_c[16, 32]
assert [(round(row["empty"]), round(100 * row["gain"])) for row in pair] == [(65, 102), (64, 118)], "2 %, and 18 %"
assert [round(100 - row["room"]) for row in pair] == [90, 74], "in 90 of 100 cycles, the second in 74"
assert [round(row["most"], 2) for row in pair] == [1.11, 1.34], "the first can become at most 1/0.90 = 1.11"
assert [round(ranks(rows, key), 2) for key in ("empty", "room")] == [0.49, 0.62], "the rank correlation of the gain"
waits_16 = [pairs[name, 16, warps]["measured_waits"] for name in ("tiled", "prefetched") for warps in (8, 64)]
assert [round(100 * w["global memory"]) for w in waits_16] == [46, 20, 3, 1], "46 % and 20 %, 3 % and 1 %"
assert (gain(16, 8), gain(16, 64)) == (1.36, 0.93), "faster with 8 warps, slower with 64"
executed = {r["rung"]: r for r in measurements.load("counters").results if r["N"] == r["K"] == 4096}
multiplications = 4096**3 / 32
for_each = [round(executed[name]["instructions"] / multiplications, 1) for name in ("tiled", "prefetched")]
assert for_each == [4.2, 4.9], "4.9 instead of 4.2 instructions for each multiplication"
line = 600 * plan(H200, 600, 2, 8, 1).bandwidth
assert max(play.in_flight for play in played.values()) < line / 3, "below a third of the line"
assert 0.98 < speed("staged", None, 16) / speed("warp_tiled", None, 16) < 1.02, "staged gains nothing with two blocks"
