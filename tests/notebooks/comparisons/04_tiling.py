"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

naive_level, right, tile = traffic
times = {words: after / before for words, (before, after) in bought.items()}
assert both_right and not both_run.findings, "with both barriers there is nothing to report"
assert deep_right and not deep_run.findings, "too many barriers break no rule"
assert right.asked == 32 * tile.asked and right.requests == 32 * tile.requests, "fall by a factor of 32"
passes = [(each.requests + each.shared_wavefronts) / 1e9 for each in (right, tile)]
assert [f"{each:.2f}" for each in passes] == ["4.29", "3.51"], "from 4.29 to 3.51·10⁹"
assert right.share("DRAM") < 0.2 and tile.share("DRAM") < 0.2, "limit neither kernel"
assert tile.l2_bytes > 0.95 * right.l2_bytes and tile.dram_bytes > right.dram_bytes, "do not fall"
assert f"{times['numba, unsigned, 32 steps']:.2f}" == "1.31", "rises by a factor of 1.31"
assert (right.lowest, tile.lowest) == ("L1 and shared memory",) * 2, "the lowest roof of both kernels"
assert round(100 * tile.share("L1 and shared memory")) == 83, "reaches 83 % of it"
first, written = (twins.result(kernel)["gflops"] for kernel in ("naive", "tiled"))
assert round(written) == 7867, "the speed of tiled as written"
assert f"{written / first:.1f}" == "5.9", "tiled is 5.9 times as fast as naive"
assert f"{by_32[0] / first:.1f}" == "4.9", "indices and loop alone take it up 4.9 times"
assert f"{written / by_32[0]:.2f}" == "1.21", "is 1.21 times that"
assert f"{times['CUDA C, 32 steps']:.2f}" == "1.37", "buys 1.37 times"
assert model.global_loads(5, 7, 6) == 420, "the naive kernel makes 420 loads"
