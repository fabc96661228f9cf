"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib.machine.timing_model import plan
from tools.prefetching_page import Found, share, slots, stand

assert same == list(told_by_driver), "the driver reports the same number of blocks for every rung"
asked = {
    (int(threads), r["registers"], int(shared)): blocks
    for r in measurements.load("occupancy").results
    for shared, of in r["blocks"].items()
    for threads, blocks in of.items()
}
assert all(model.occupancy(*block, gpu).blocks == blocks for block, blocks in asked.items()), "and for others"
assert max(registers.values()) == 255, "at most 255 registers"
capped = [variants.result("bank_conflicts" + end)["gflops"] for end in ("_32_registers", "")]
assert round(capped[0] / capped[1], 2) == 1.09, "gained 9 % in this way"
by_block = {(r["rung"], *r["block"]): r["gflops"] for r in variants.results if "block" in r}
assert model.occupancy(64, 32, 0, gpu).warps == 2 * model.occupancy(16, 32, 0, gpu).warps, (
    "full warps, and twice as many"
)
assert 1.95 < by_block["naive_uint64_32", 8, 8] / by_block["naive_uint64_32", 4, 4] < 2.05, "it is twice as fast"
narrow, wide = ({r["block"][0]: r for r in variants.results if r.get("rung") == "tiled"}[width] for width in (4, 8))
assert f"{wide['gflops'] / narrow['gflops']:.1f}" == "4.8", "gains 4.8 times"
assert round(100 * wide["instructions"] / narrow["instructions"]) == 28, "the instructions fall to 28 %"
assert (32 * 80, 16384 / 2560, 4 * 6 // 2) == (2560, 6.4, 12), "2,560 registers a warp, 6.4 warps a file"
assert 0.95 < ladder.result("best")["gflops"] / ladder.result("cublas")["gflops"] < 1.1, "at the speed of cuBLAS"
assert (32 * 40, 16384 / 1280, 4 * 12 // 2) == (1280, 12.8, 24), "1,280 registers a warp, 12.8 warps a file, 24 blocks"
assert 32 * 256 * -(-34 * 32 // 256) == 40960, "one block takes 40,960 registers"
assert 20 < measured.latency["DRAM"] / measured.latency["shared"] < 25, "more than twenty times as long"
waits = {r["rung"]: r["measured_waits"] for r in measurements.load("predictions").results if r["what"] == "ladder"}
assert waits["best"]["global memory"] < 0.01, "less than 1 % of its waiting"
assert round(measurements.load("counters").result("best", N=4096)["issue_active_percent"]) == 88, "in 88 of 100 cycles"
full = [r for r in measurements.load("residency").results if r["rung"] == "tiled" and r["params"]["tile_width"] == 16]
one, eight = (next(r for r in full if r["warps"] == warps) for warps in (8, 64))
assert [round(r["issue_active_percent"]) for r in (one, eight)] == [22, 73], "in 22 of 100 cycles, and in 73"
assert round(eight["gflops"] / one["gflops"], 1) == 3.3, "3.3 times as fast"
played = {(count, two): plan(H200, 600, count, 8, two).timing for count in (2, 16) for two in (1, 2)}
assert played[2, 1].share("global memory") > 0.5 and played[2, 2].cycles < played[2, 1].cycles, "grey, then shorter"
assert played[16, 2].cycles > played[16, 1].cycles, "the launch becomes longer"
assert round(busy(1, 20, 60) / busy(1, 20, 80), 2) == 1.25, "one warp alone becomes 1.25 times as fast"
rows = slots(Found(early), Found(measurements.load("prefetching_predictions")))
assert len(rows) == 28 and all(row["gain"] < row["most"] for row in rows), "no mark is above the line"
assert all(row["room"] < row["empty"] for row in rows), "the busiest part"
in_c = {(row["width"], row["warps"]): row for row in rows if row["language"] == "C"}
pair = in_c[8, 64], in_c[16, 32]
assert [(round(row["empty"]), round(100 * row["gain"])) for row in pair] == [(65, 102), (64, 118)], "1.18, and 2 %"
assert round(100 - pair[0]["room"]) == 90 and round(pair[0]["most"], 2) == 1.11, "1/0.90 = 1.11"
of_64 = [row for row in rows if row["warps"] == 64]
assert 1 < min(row["gain"] for row in of_64) and round(100 * max(row["gain"] for row in of_64)) == 110, "at most 10 %"
assert {round(100 - row["room"]) for row in of_64} == {86, 89, 90, 93, 94}, "in 86 to 94 of 100 cycles"
few = sorted(round(100 * row["gain"]) for row in rows if row["warps"] <= 32)
assert (few[0], few[-2], few[-1]) == (106, 118, 153), "they gain 6 to 18 %, and 53 % in one launch"
assert round(100 * in_c[32, 32]["gain"]) == 153, "T = 32, CUDA C"
wide = launch("numba", 32, 64, "behind")
assert round(100 * share(wide, "long_scoreboard")) == 17, "17 % of the waiting was for global memory"
assert round(wide["l1_wavefronts_percent"]) == 86, "in 86 of 100 cycles"
assert round(100 / wide["l1_wavefronts_percent"], 2) == 1.16, "at most 1.16 times as fast"
gained = [round(gain(language, 32, 64), 2) for language in ("numba", "CUDA C")]
assert gained == [1.07, 1.1], "early loads made it 1.07 times as fast (1.10 in CUDA C)"
in_c_64 = launch("CUDA C", 32, 64, "behind")["l1_wavefronts_percent"]
assert (round(in_c_64), round(100 / in_c_64, 2)) == (89, 1.13), "used in 89 cycles, so at most 1.13"
assert round(100 * gain("numba", 32, 32)) == 107, "in numba the same launch gains 7 %"
loops = {
    r["language"]: stand(r["loop"]["code"])
    for r in early.results
    if r.get("params") == {"tile_width": 32, "buffers": 1, "loads": "early", "barriers": 2} and r.get("loop")
}
assert loops == {"numba": "16 and 30", "CUDA C": "0 and 4"}, "after 0 and 4 in CUDA C, after 16 and 30 in numba"
both = {  # in numba and in CUDA C, by the place of the two loads
    (a, b): tuple(held(language, a, b) for language in languages)
    for a, b in [(0, 8), (16, 32), *places, *((each, each) for each in range(0, 33, 4))]
}
assert all(abs(c / ours - 1) < 0.04 for ours, c in both.values()), "differ by 4 % at most"
held_gains = {
    place: [
        round(100 * (speed / behind(language) - 1)) for speed, language in zip(speeds_there, languages, strict=True)
    ]
    for place, speeds_there in both.items()
}
assert all(45 <= gain <= 53 for place in ((0, 0), (0, 4), (8, 8)) for gain in held_gains[place]), "about 50 %"
assert held_gains[32, 32] == [3, 1], "after all 32 multiply-adds 1 to 3 %"
assert held_gains[16, 28] == [9, 7], "they gain 9 % in numba and 7 % in CUDA C"
assert max(held_gains[16, 28]) < 15 < min(held_gains[24, 24]) < min(held_gains[16, 16]), "the later one decides"
down = [held_gains[after, after] for after in range(12, 33, 4)]
assert all(sorted(each, reverse=True) == list(each) for each in zip(*down, strict=True)), "the smaller the gain"
kinds = [r["loop"]["kinds"] for r in placed.results if r["rung"] == "prefetch_places" and r.get("loop")]
assert len(kinds) > 10 and all(each == kinds[0] for each in kinds), "the same instructions, in another order"
as_written, on_the_ladder = ladder.result("tiled")["gflops"], variants.result("tiled_unsigned")["gflops"]
assert [round(each) for each in (as_written, on_the_ladder)] == [7863, 8515], "signed here, unsigned on the ladder"
assert 30 / 4 == 7.5 and round(measured.bytes_per_cycle["L2"]) == 30, "a quarter of the bandwidth of L2"
assert 5 * 256 == 32 * 40, "five pieces"
line = 600 * plan(H200, 600, 2, 8, 1).bandwidth
assert max(play.in_flight for play in played.values()) < line / 3, "below a third of the line"
gains = {
    (warps, path): sliders.early_load(80, 20, warps, path).sketch.says[-1] for warps in range(1, 17) for path in (0, 30)
}
told = {case: float(text.split()[1].rstrip(";")) for case, text in gains.items()}
assert [told[warps, 0] > 1 for warps in (1, 4, 5, 6)] == [True, True, False, False], "with 5 warps it gains nothing"
assert max(told[warps, 30] for warps in range(1, 17)) == told[1, 30] == told[2, 30] == 1.25, "with one or two warps"
assert told[3, 30] == 1.11 and round(1000 / 30, 1) == 33.3, "so they gain only 1.11"
many = {loads: two_buffers(loads, 64) for loads in ("early", "copied")}
assert round(100 * (many["copied"]["l1_wavefronts"] / many["early"]["l1_wavefronts"] - 1)) == 11, "11 % more wavefronts"
few = {loads: two_buffers(loads, 32)["gflops"] for loads in ("early", "copied")}
assert f"{few['copied'] / few['early']:.2f}" == "1.23", "the copies are 1.23 times as fast"
assert many["copied"]["gflops"] < many["early"]["gflops"], "with 64 warps the copies are slower"
in_c = {warps: [two_buffers(loads, warps, "_c") for loads in ("copied", "early")] for warps in (32, 64)}
assert all(copied["gflops"] < loaded["gflops"] for copied, loaded in in_c.values()), "slower with both numbers of warps"
assert in_c[32][1]["l1_wavefronts_percent"] > 90, "early loads keep the path busy"
params = {"tile_width": 32, "buffers": 2, "loads": "early", "barriers": 1}
of_two = [r["loop"] for r in early.results if r.get("params") == params and r.get("loop") and r["language"] == "numba"]
assert {stand(loop["code"]) for loop in of_two} == {"24 and 30"}, "after 24 and 30 of 32 multiply-adds"
assert held("numba", 0, 4) > few["copied"] > few["early"], "faster than the copies"
