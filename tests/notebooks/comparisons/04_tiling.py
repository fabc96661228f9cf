"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

naive_level, right, tile = traffic
times = {words: after / before for words, (before, after) in bought.items()}
assert both_right and not both_run.findings, "with both barriers there is nothing to report"
assert deep_right and not deep_run.findings, "too many barriers break no rule"
assert right.asked == 32 * tile.asked and right.requests == 32 * tile.requests, "fall by a factor of 32"
passes = [(each.requests + each.shared_wavefronts) / 1e9 for each in (right, tile)]
assert [f"{each:.2f}" for each in passes] == ["4.29", "3.51"], "from 4.29 to 3.51·10⁹"
assert right.share("DRAM") < 0.2 and tile.share("DRAM") < 0.2, "limit neither kernel"
narrow_steps = [f"{times[f'numba, {sign}, 4 steps']:.2f}" for sign in ("signed", "unsigned")]
assert narrow_steps == ["1.73", "1.46"], "1.73 instead of 1.46"
assert tile.l2_bytes > 0.95 * right.l2_bytes and tile.dram_bytes > right.dram_bytes, "do not fall"
assert f"{times['numba, unsigned, 32 steps']:.2f}" == "1.31", "rises by a factor of 1.31"
assert (right.lowest, tile.lowest) == ("L1 and shared memory",) * 2, "the lowest roof of both kernels"
assert round(100 * tile.share("L1 and shared memory")) == 83, "reaches 83 % of it"
first, written = (twins.result(kernel)["gflops"] for kernel in ("naive", "tiled"))
assert round(written) == 7867, "the speed of tiled as written"
assert f"{written / first:.1f}" == "5.9", "tiled is 5.9 times as fast as naive"
assert f"{by_32[0] / first:.1f}" == "4.9", "indices and loop alone take it up 4.9 times"
assert f"{written / by_32[0]:.2f}" == "1.21", "is 1.21 times that"
assert f"{times['CUDA C, 32 steps']:.2f}, {times['CUDA C, 1 step']:.1f}" == "1.37, 4.0", "buys 1.37 times"
waits = twins.result("naive_c_unroll_1")
stalls = {key: value for key, value in waits.items() if "stalled" in key}
assert stalls["stalled_long_scoreboard_percent"] > 0.8 * sum(stalls.values()), "warps mostly wait for global loads"
signed = [twins.result(f"{kernel}_signed_16")["instructions"] / 1e9 for kernel in ("naive", "tiled")]
assert [f"{each:.1f}" for each in signed] == ["47.6", "13.9"], "executes 47.6·10⁹ instructions, tiled 13.9"
assert round(twins.result("naive_signed_left_uncached")["gflops"]) == round(first) == 1340, "stays at 1,340"
narrow = [r for r in twins.results if r.get("rung") in ("naive_uint64_32", "tiled_unsigned") and r["block"][0] == 4]
assert sorted(round(r["gflops"]) for r in narrow) == [1269, 1654], "1,654 against 1,269"
by_block = [
    twins.result(name, params={"block_width": width})["instructions"]
    for name, width in (("naive_uint64_32", 8), ("naive_uint64_32", 4), ("naive_uint64_4", 4))
]
assert round(by_block[1] / by_block[0], 2) == 2, "fills half a warp, which doubles the instructions"
assert by_block[2] > 1.5 * by_block[1], "a loop of 4 steps adds more"
assert all(2.6 < times[key] < 2.75 for key in times if "bypassed" in key), "buys about 2.7 times"
assert all(1.3 < after / before < 1.55 for before, after in by_width.values()), "buys 1.3 to 1.5 times"
assert round(100 * by_width["T = 32"][1] / by_width["T = 16"][1]) == 105, "gains only 5 %"
assert model.global_loads(5, 7, 6) == 420, "the naive kernel makes 420 loads"
