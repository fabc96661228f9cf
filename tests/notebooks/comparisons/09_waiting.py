"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib.waiting import plan

from course_lib.machine.waiting.predictions import STALLS
from tools.prefetching import Found, ranks, slots

named = {
    "global memory": ["long_scoreboard", "lg_throttle"],
    "shared memory": ["short_scoreboard", "mio_throttle"],
    "arithmetic": ["wait", "math_pipe_throttle", "dispatch_stall"],
    "barrier": ["barrier"],
    "not selected": ["not_selected"],
}  # the table of 9.4
assert {why: sorted(names) for why, names in named.items()} == {why: sorted(names) for why, names in STALLS.items()}

wrong = [abs(r["error"]) for r in judged.results if r["what"] == "residency"]
assert 0.02 < np.median(wrong) < 0.05 and 0.08 < max(wrong) < 0.12, "usually a few percent: at most 11 % here"
off = [abs(r["error"]) for r in judged.results if r["what"] == "ladder"]
assert round(100 * max(off)) == round(100 * max(wrong)) == 11, "at most 11 %, here and in the ladder"
ladder = {r["rung"]: r for r in judged.results if r["what"] == "ladder"}
sampled, modelled = (
    {rung: max(r[whose], key=r[whose].get) for rung, r in ladder.items()}
    for whose in ("measured_waits", "predicted_waits")
)
short_of_memory = [rung for rung, reason in sampled.items() if reason == "global memory"]
assert short_of_memory == ["per_row", "per_column", "uncoalesced", "outer_product"], "three without tiles, and one"
others = [(sampled[rung], modelled[rung]) for rung in ladder if sampled[rung] != modelled[rung]]
assert others == 2 * [("not selected", "arithmetic")], "for all but two, a busy unit where another one was selected"
many = {r["rung"]: r["measured_waits"] for r in fixed(tiles, 64, 16)}
assert many["prefetched"]["not selected"] > 1.5 * many["tiled"]["not selected"], "are longer not selected"
assert 0.98 < speed("staged", None, 16) / speed("warp_tiled", None, 16) < 1.02, "staged gains nothing with two blocks"
played = {(count, two): plan(H200, 600, count, 8, two).play for count in (2, 16) for two in (1, 2)}
assert played[2, 1].share("global memory") > 0.5 and played[2, 2].cycles < played[2, 1].cycles, "grey, then shorter"
assert played[16, 2].cycles > played[16, 1].cycles, "the launch becomes longer"

assert cycles["prefetched"][order] < cycles["tiled"][order], "fewer cycles with latencies"
assert cycles["prefetched"][hidden] > cycles["tiled"][hidden], "and more without them"
waits = {
    which: sum(to - since for memory, since, to in orders["tiled"][which].waits[0] if memory == "global memory")
    for which in (order, hidden)
}
assert (waits[order], cycles["tiled"][order]) == (1213, 2656), "1,213 of 2,656 cycles"
assert (waits[hidden], cycles["tiled"][hidden]) == (28, 745), "28 of 745 are left"
lengths = {name: sum(map(len, waiting.programs(make(8), small[name].trace))) for name, make in makers.items()}
assert lengths["prefetched"] > lengths["tiled"], "prefetched has more instructions"
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
reached = {
    name: waiting.play(makers[name](8), small[name].trace, H200, blocks=1).spans[0] for name in ("tiled", "prefetched")
}
by_reason = {
    name: {why: sum(round(b) - round(a) for of, a, b in found if of == why) for why, *_ in found}
    for name, found in reached.items()
}
difference = {why: by_reason["prefetched"][why] - cycles_of for why, cycles_of in by_reason["tiled"].items()}
assert [round(difference[why]) for why in ("issuing", "arithmetic")] == [142, 352], "142 more, and 352 more"
assert difference["global memory"] == -760 and min(difference[w] for w in ("shared memory", "barrier")) > 0
assert cycles["tiled"][order] - cycles["prefetched"][order] == 156, "ends only 156 earlier"
wrong_sign = {key: tuple(round(r, 2) for r in both) for key, both in ratios.items() if (both[0] > 1) != (both[1] > 1)}
assert (sorted(wrong_sign), wrong_sign[16, 64][1]) == ([(16, 64), (32, 64)], 1.02), "2 % faster"
assert wrong_sign[16, 64][0] == 0.93, "measured 7 % slower"
assert [round(r, 2) for r in ratios[16, 16]] == [1.27, 1.56], "it says 1.56; measured are 1.27"
of_tiled = pairs["tiled", 16, 64]
shares = [round(100 * of_tiled[who]["global memory"]) for who in ("predicted_waits", "measured_waits")]
assert shares == [33, 20], "instead of 20 %"
waits_16 = [pairs[name, 16, warps]["measured_waits"] for name in ("tiled", "prefetched") for warps in (8, 64)]
assert [round(100 * w["global memory"]) for w in waits_16] == [46, 20, 3, 1], "46 % and 20 %, 3 % and 1 %"
assert (gain(16, 8), gain(16, 64)) == (1.36, 0.93), "faster with 8 warps, slower with 64"
executed = {r["rung"]: r for r in measurements.load("counters").results if r["N"] == r["K"] == 4096}
multiplications = 4096**3 / 32
for_each = [round(executed[name]["instructions"] / multiplications, 1) for name in ("tiled", "prefetched")]
assert for_each == [4.2, 4.9], "4.9 instead of 4.2 instructions for each multiplication"
two_blocks = {warps: fixed(("warp_tiled",), warps)[0]["measured_waits"]["global memory"] for warps in (8, 16)}
assert 0.45 < two_blocks[16] / two_blocks[8] < 0.55, "only half as much for global memory"
naive = executed["naive"]
assert round(1 - naive["l2_bytes"] / 32 / naive["global_load_sectors"], 2) == 0.93, "93 % from the first-level cache"
line = 600 * plan(H200, 600, 2, 8, 1).bandwidth
assert max(play.in_flight for play in played.values()) < line / 3, "below a third of the line"
measured_64 = {r["rung"]: r for r in residency.results if r["params"].get("tile_width") == 16 and r["warps"] == 64}
issuing = [round(measured_64[name]["issue_active_percent"]) for name in ("prefetched", "tiled")]
assert issuing == [84, 73], "they start one in 84 of 100 cycles, those of tiled in 73"
