"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib.machine.timing_model import stalls_of
from course_lib.machine.timing_model.predictions import STALLS

loop = [each.text for each in show_machine_code(naive).body]
used = " ".join(text.split()[0].partition(".")[0] for text in meaning if text in naive_code)
assert sum("FFMA" in line or "LDG" in line for line in loop) < 0.1 * len(loop), "the others are integer instructions"
assert sum("FFMA" in line for line in loop) == 4, "it unrolls four steps by itself"
assert used == "IMAD IMAD IMAD SHF SHF LOP3 LOP3 IADD3 IADD3 LEA LEA LDG", "the instructions of one address"
by_32 = [variants.result(name)["gflops"] for name in ("naive_uint64_32", "tiled_uint64_32")]
times = {words: after / before for words, (before, after) in gained.items()}
first, written = (variants.result(kernel)["gflops"] for kernel in ("naive", "tiled"))
assert f"{written / first:.1f}" == "5.9", "tiled is 5.9 times as fast as naive"
assert round(written) == 7867, "the speed of tiled as written"
assert f"{by_32[0] / first:.1f}" == "4.9", "indices and loop alone take it up 4.9 times"
assert f"{written / by_32[0]:.2f}" == "1.21", "is 1.21 times that"
assert f"{times['CUDA C, 32 steps']:.2f}, {times['CUDA C, 1 step']:.1f}" == "1.37, 4.0", "gains 1.37 times"
narrow_steps = [f"{times[f'numba, {sign}, 4 steps']:.2f}" for sign in ("signed", "unsigned")]
assert narrow_steps == ["1.73", "1.46"], "1.73 instead of 1.46"
waits = variants.result("naive_c_unroll_1")
stalls = {key: value for key, value in waits.items() if "stalled" in key}
assert stalls["stalled_long_scoreboard_percent"] > 0.8 * sum(stalls.values()), "warps mostly wait for global loads"
signed = [variants.result(f"{kernel}_signed_16")["instructions"] / 1e9 for kernel in ("naive", "tiled")]
assert [f"{each:.1f}" for each in signed] == ["47.6", "13.9"], "executes 47.6·10⁹ instructions, tiled 13.9"
assert round(variants.result("naive_signed_left_uncached")["gflops"]) == round(first) == 1340, "stays at 1,340"
narrow = [r for r in variants.results if r.get("rung") in ("naive_uint64_32", "tiled_unsigned") and r["block"][0] == 4]
assert sorted(round(r["gflops"]) for r in narrow) == [1269, 1654], "1,654 against 1,269"
by_block = [
    variants.result(name, params={"block_width": width})["instructions"]
    for name, width in (("naive_uint64_32", 8), ("naive_uint64_32", 4), ("naive_uint64_4", 4))
]
assert round(by_block[1] / by_block[0], 2) == 2, "fills half a warp, which doubles the instructions"
assert by_block[2] > 1.5 * by_block[1], "a loop of 4 steps adds more"
assert all(2.6 < times[key] < 2.75 for key in times if "bypassed" in key), "gains about 2.7 times"
assert all(1.3 < after / before < 1.55 for before, after in by_width.values()), "gains 1.3 to 1.5 times"
assert round(100 * by_width["T = 32"][1] / by_width["T = 16"][1]) == 105, "gains only 5 %"
first = variants.result("naive_signed_left")["gflops"]
gains = [
    variants.result(which)["gflops"] / first for which in ("naive_uint64_left", "naive_signed_16", "naive_uint64_16")
]
assert [round(gain, 1) for gain in gains[:2]] == [1.5, 1.5], "each change alone gains 1.5 times"
assert round(gains[2], 1) == 4.8, "4.8 times as fast as the first version"
told_speeds = [
    variants.result(which)["gflops"] for which in ("naive_signed_32", "tiled_signed_left", "tiled_signed_32")
]
assert [round(each) for each in told_speeds] == [1255, 2314, 7868], "signed, with 32 steps and left"
four, eight = (variants.result(which) for which in ("naive_signed_left", "naive_signed_32"))
assert round(100 * (1 - eight["instructions"] / four["instructions"])) == 4, "4 % fewer instructions"
assert [round(each["issue_active_percent"]) for each in (eight, four)] == [66, 74], "in 66 instead of 74 of 100 cycles"
one = variants.result("naive_c_unroll_1")
stalls = {key: value for key, value in one.items() if key.startswith("stalled_")}
assert round(100 * stalls["stalled_long_scoreboard_percent"] / sum(stalls.values())) == 87, "87 % of the waiting"
in_c = variants.result("naive_c")
assert 1.9 < one["instructions"] / in_c["instructions"] < 2.05, "the instructions double"
assert [round(each["issue_active_percent"]) for each in (one, in_c)] == [22, 43], "in 22 instead of 43 of 100 cycles"
unsigned_in_c = variants.result("naive_c_unsigned")
assert [round(each["gflops"]) for each in (in_c, unsigned_in_c)] == [6271, 4392], "int and unsigned in C"
assert unsigned_in_c["instructions"] > 1.7 * in_c["instructions"], "the compiler must respect that"
staged = {which: variants.result(which) for which in stages}
constant, batched = staged["outer_product_constant"], staged["outer_product_batched"]
assert round(constant["instructions"] / staged["outer_product"]["instructions"], 2) == 1.06, "6 % more instructions"
assert f"{constant['instructions'] / batched['instructions']:.2f}" == "1.57", "1.57 times fewer instructions"
assert 1.03 < batched["issue_active_percent"] / constant["issue_active_percent"] < 1.04, "hardly busier"
on_loads = [each["stalled_long_scoreboard_percent"] / 100 for each in (batched, constant)]
assert [f"{cycles:.1f}" for cycles in on_loads] == ["0.7", "6.0"], "0.7 instead of 6.0 cycles for global memory"
assert [each["occupancy_percent"] * 0.64 for each in (batched, constant)] == [16, 40], "16 instead of 40 warps"
assert constant["shared_load_wavefronts"] > 1.9 * batched["shared_load_wavefronts"], "reads four elements"
assert 0.9 < speed["outer_product_constant"] / speed["outer_product"] < 0.95, "it is a little slower"
assert round(speed["outer_product_batched"] / speed["outer_product_constant"], 1) == 1.6, "gains a factor of 1.6"
assert round(speed["unrolled"] / speed["outer_product_batched"], 2) == 1.05, "gains the rest, 5 %"
assert [*range(0, 26, 4)][-1] == 24, "K = 26: the last iteration begins at 24"
loads = [each.operation.startswith("LDG") for each in code["unrolled"].body]
first = next(i for i, each in enumerate(code["unrolled"].body) if each.operation == "FFMA")
assert loads[:first].count(True) == 20, "all 20 loads come before the first multiplication"
assert not any(loads[first:]), "and none after it"
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
executed_by = {r["rung"]: r for r in measurements.load("counters").results if r["N"] == r["K"] == 4096}
named = {
    "global memory": ["long_scoreboard", "lg_throttle"],
    "shared memory": ["short_scoreboard", "mio_throttle"],
    "arithmetic": ["wait", "math_pipe_throttle", "dispatch_stall"],
    "barrier": ["barrier"],
    "not selected": ["not_selected"],
}  # the table of 14.5
assert {why: sorted(names) for why, names in named.items()} == {why: sorted(names) for why, names in STALLS.items()}
wrong = [abs(r["error"]) for r in judged.results if r["what"] == "residency"]
assert 0.02 < np.median(wrong) < 0.05 and 0.08 < max(wrong) < 0.12, "usually a few percent: at most 11 % here"
of_rungs = [abs(r["error"]) for r in judged.results if r["what"] == "ladder"]
assert round(100 * max(of_rungs)) == round(100 * max(wrong)) == 11, "at most 11 %, here and in the ladder"
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
assert cycles["prefetched"][order] < cycles["tiled"][order], "fewer cycles with latencies"
assert cycles["prefetched"][hidden] > cycles["tiled"][hidden], "and more without them"
waits = {
    which: sum(to - since for memory, since, to in orders["tiled"][which].waits[0] if memory == "global memory")
    for which in (order, hidden)
}
assert (waits[order], cycles["tiled"][order]) == (1213, 2656), "1,213 of 2,656 cycles"
assert (waits[hidden], cycles["tiled"][hidden]) == (28, 745), "28 of 745 are left"
lengths = {
    name: sum(map(len, timing_model.traced_streams(make(8), small[name].trace))) for name, make in makers.items()
}
assert lengths["prefetched"] > lengths["tiled"], "prefetched has more instructions"
reached = {
    name: timing_model.simulate_blocks(makers[name](8), small[name].trace, H200, blocks=1).spans[0]
    for name in ("tiled", "prefetched")
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
two_blocks = {warps: fixed(("warp_tiled",), warps)[0]["measured_waits"]["global memory"] for warps in (8, 16)}
assert 0.45 < two_blocks[16] / two_blocks[8] < 0.55, "only half as much for global memory"
of_naive = executed_by["naive"]
assert round(1 - of_naive["l2_bytes"] / 32 / of_naive["global_load_sectors"], 2) == 0.93, (
    "93 % from the first-level cache"
)
measured_64 = {r["rung"]: r for r in residency.results if r["params"].get("tile_width") == 16 and r["warps"] == 64}
issuing = [round(measured_64[name]["issue_active_percent"]) for name in ("prefetched", "tiled")]
assert issuing == [84, 73], "they start one in 84 of 100 cycles, those of tiled in 73"
walked = ("register_2d", "vectorized", "warp_tiled", "staged")
assert striped == 144, "as the question says"
counts = {name: recorded["counters"].result(name, N=4096) for name in walked}
assert round(executed("vectorized"), 2) == round(executed("warp_tiled"), 2), "the same number of instructions"
texts = {name: [i.text for i in show_machine_code(rung(name).make()).code.instructions] for name in walked}
lost = {name: round(lost_in_queues(text), 2) for name, text in texts.items()}
assert (lost["vectorized"], lost["warp_tiled"]) == (0.19, 0.38), "0.19 cycles a multiply-add in vectorized, and 0.38"
(eighth, *_), (ninth, _, odd), (tenth, *_) = bank_queue(texts["warp_tiled"])[7:10]
assert (len(odd), ninth - eighth, tenth - ninth) == (3, 2, 3), (
    "asks for three, a cycle late, and starts three cycles after number 9"
)
slow, fast = np.median(speeds("warp_tiled", 3 / 8)), np.median(speeds("warp_tiled", 3 / 16))
assert round(1 - slow / fast, 2) == 0.05, "by that alone warp_tiled loses 5 % of its speed"
found = {(e["rung"], e["lost_in_queues"]): speeds(e["rung"], e["lost_in_queues"]) for e in exchanged}
equal = [speed for (name, queue), every in found.items() for speed in every if 0.18 < queue < 0.21]
assert max(equal) / min(equal) < 1.02, "cost 0.19 or 0.20 cycles, the two are equally fast within 2 %"
assert round(max(max(every) / min(every) for every in found.values()), 3) == 1.024, "differ by up to 2.4 %"
for name in ("vectorized", "warp_tiled"):
    queue, speed = zip(*((e["lost_in_queues"], e["gflops"]) for e in exchanged if e["rung"] == name), strict=True)
    assert np.corrcoef(queue, speed)[0, 1] < -0.9, "The computed number shows the trend"
assert len({(e["rung"], e["instructions"]) for e in exchanged}) == 2, "The instructions, their order"
doubled = [counts[name]["stalled_dispatch_stall_percent"] for name in walked[1:3]]
assert 2 < doubled[1] / doubled[0] < 2.2, "the dispatch stalls doubled"
in_shared = [counts[name]["stalled_short_scoreboard_percent"] for name in walked[1:3]]
assert in_shared[1] < in_shared[0], "do not wait more for values from shared memory"
of_ladder = {r["rung"]: r for r in measurements.load("predictions").results if r["what"] == "ladder"}
compact_one, striped_one = of_ladder["warp_tiled"], of_ladder["vectorized"]
with_banks, without = (compact_one[by] / striped_one[by] for by in ("predicted", "without_banks"))
assert round(100 * (without - with_banks)) == 8, "in the model warp_tiled loses 8 %"
assert max(unrolled) / min(spilled) > 100, "a hundred times slower"
assert max(unrolled) == tried["quads (1, 0, 3, 2)"] and tried["lanes"] < gflops("best"), "is no faster"
assert round(max(unrolled) / gflops("best"), 2) == 1.01, "one percent faster than best"
assert tried["launch_bounds=(256, 1)"] < gflops("best"), "makes best slower"
assert 1.01 < tried["large_tiles, snake, b first, zero"] / gflops("large_tiles") < 1.02, "is worth less than 2 %"
plain, fastest = figures.levels("tiled", "best")
assert plain.lowest == "L1 and shared memory", "tiled needs most at L1 and shared memory"
assert {*sorted(fastest.roofs, key=fastest.roofs.get)[:2]} == {"instructions", "arithmetic"}, "near two roofs"
assert 0.82 < fastest.share("arithmetic") < 0.84, "five sixths of what the multiply-adds alone would allow"
assert max(each.share(level) for each in (plain, fastest) for level in ("L2", "DRAM")) < 0.2, "limit neither"
assert round(100 * max(map(abs, off.values()))) == 11 and np.median(np.abs(list(off.values()))) < 0.04, "11 %, half 4 %"
found = {
    name: [of_ladder[name][key] for key in ("predicted", "without_banks")]
    for name in (*walked[1:3], "whole_tiles", "best")
}
twice = [zip(*map(found.get, pair), strict=True) for pair in (walked[1:3], ("whole_tiles", "best"))]
model = [round(100 * (b / a - 1)) for pair in twice for a, b in pair]
assert model == [-9, -1, 8, 4], (
    "the model gives them 8 %; for best they explain 4 of the 12 %, the model knows another 4, and misses 4"
)
assert round(np.corrcoef(dispatch, queues)[0, 1], 2) == 0.97, "their correlation is 0.97"
assert round(tried["whole_tiles, launch_bounds=(256, 1)"] / gflops("whole_tiles"), 3) == 1.095, "raises it by 9.5 %"
on_shared = [round(100 * stalls_of(of_ladder["tiled"])[name]) for name in ("mio_throttle", "short_scoreboard")]
assert on_shared == [32, 7], "32 % and 7 % of their waiting"
assert round(executed("tiled")) == 4, "only one of four instructions multiplies"
assert len(attempts) == 905, "905 variants of best"
