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
throttled = [round(counts[name]["stalled_math_pipe_throttle_percent"]) for name in steps[:2]]
assert throttled == [21, 72], "72 cycles instead of 21 for each 100 instructions"
assert round(executed("vectorized"), 2) == round(executed("warp_tiled"), 2), "the same number of instructions"
lost = [round((starts[-1] + 1) / len(starts) - 1, 2) for starts, *_ in queues.values()]
assert lost == [0.19, 0.38], "0.19 cycles a multiply-add in vectorized, and 0.38 in warp_tiled"
of_large = show_machine_code(rung("large_tiles").make()).code.instructions
later, *_ = bank_queue([each.text for each in of_large])
assert (later[-1] + 1) / len(later) - 1 < lost[0], "large_tiles has short queues"
starts, _, odd = queues["warp_tiled"]
ninth = [register for cycle, register in odd if starts[8] <= cycle < starts[9]]
assert (len(ninth), starts[9] - starts[8]) == (3, 3), "reads three odd registers; it starts two cycles late"
dispatch = [counts[name]["stalled_dispatch_stall_percent"] for name in steps[1:3]]
assert 2 < dispatch[1] / dispatch[0] < 2.2, "the dispatch stalls doubled"
