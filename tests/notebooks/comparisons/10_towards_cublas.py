"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

steps = ("register_2d", "vectorized", "warp_tiled", "staged")
ratio = {(a, b): gflops(b) / gflops(a) for a, b in zip(steps[:-1], steps[1:], strict=True)}
assert 0.45 < gflops("register_2d") / gflops("cublas") < 0.55, "half as fast as NVIDIA's own library"
assert 0.955 < gflops("warp_tiled") / gflops("vectorized") < 0.965, "4 % slower"
assert (multiprocessors, striped, round(gflops("register_2d") / 1000, 1)) == (132, 144, 26.4), "as the questions say"
assert round(ratio["register_2d", "vectorized"], 2) == 1.28, "1.28 times as fast"
assert round(ratio["warp_tiled", "staged"], 2) == 1.02, "2 % faster than warp_tiled"
assert round(gflops("register_2d") / limit / 10) == 42, "42 % of the measured limit"
factor = executed("register_2d") / executed("vectorized")
assert round(factor, 2) == 1.35 and round(factor * busy("vectorized") / busy("register_2d"), 2) == 1.27, "1.35 and 1.27"
outside = [executed(name) - recorded["instructions"].result(name)["instructions"] / 64 for name in steps[:2]]
assert [round(share, 2) for share in outside] == [0.35, 0.11], "outside the steps"
counts = {name: recorded["counters"].result(name, N=4096) for name in steps}
assert round(executed("vectorized"), 2) == round(executed("warp_tiled"), 2), "the same number of instructions"
texts = {name: [i.text for i in show_machine_code(rung(name).make()).code.instructions] for name in steps}
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
dispatch = [counts[name]["stalled_dispatch_stall_percent"] for name in steps[1:3]]
assert 2 < dispatch[1] / dispatch[0] < 2.2, "the dispatch stalls doubled"
one_block = [
    r["gflops"]
    for r in measurements.load("residency").results
    if (r["rung"], r["warps"]) in (("warp_tiled", 8), ("staged", 8))
]
assert round(one_block[1] / one_block[0], 2) == 1.32, "with one block 32 %"
in_shared = [counts[name]["stalled_short_scoreboard_percent"] for name in steps[1:3]]
assert in_shared[1] < in_shared[0], "do not wait more for values from shared memory"
judged = {r["rung"]: r for r in measurements.load("waiting").results if r["what"] == "ladder"}
with_banks, without = (judged["warp_tiled"][by] / judged["vectorized"][by] for by in ("predicted", "without_banks"))
assert round(100 * (without - with_banks)) == 8, "in the model warp_tiled loses 8 %"
