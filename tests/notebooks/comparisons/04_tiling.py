"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

improved, tile = traffic
times = {words: after / before for words, (before, after) in gained.items()}
assert both_right.all() and not both_run.findings, "with both barriers there is nothing to report"
without_first, _ = multiply(with_barriers(False, True), 16, 16, 16, block=(8, 8), strict=False)
assert "race" in {finding.kind for finding in without_first.findings}, "without the first barrier it reports one, too"
per_thread = [run.traffic.per_thread(space="global", op="load").max() for run in (naive_run, even_run)]
assert per_thread == [8, 4], "8 global loads, and 4"
assert improved.asked == 32 * tile.asked and improved.requests == 32 * tile.requests, "fall by a factor of 32"
passes = [(each.requests + each.shared_wavefronts) / 1e9 for each in (improved, tile)]
assert [f"{each:.2f}" for each in passes] == ["4.29", "3.51"], "passes together: 4.29 and 3.51·10⁹"
both = [variants.result(name) for name in pairs_of["numba"]]
fewer = both[0]["l1_wavefronts"] / both[1]["l1_wavefronts"]
assert f"{fewer:.2f}" == f"{passes[0] / passes[1]:.2f}" == "1.22", "the passes fall by a factor of only 1.22"
mix = measurements.load("instructions").result("tiled")["mix"]
assert (mix["LDS"], mix["LDS.128"]) == (mix["FFMA"], mix["FFMA"] // 4), "joins the reads of four neighbours in A's tile"
for_each = model.flop(4096, 4096, 4096) / 2 / 32 / 1e9  # multiply-adds of warps
reads, stores = (both[1][f"shared_{what}_wavefronts"] / 1e9 for what in ("load", "store"))
assert f"{for_each:.2f} {stores:.2f} {reads + stores:.2f}" == "2.15 0.16 3.38", "2.15 for B's tile, 0.16 for the stores"
assert abs((reads - for_each) / (for_each / 4) - 2) < 0.01, "a joined read takes two passes instead of four"
used = [each["l1_wavefronts_percent"] for each in both]
assert [f"{each:.1f}" for each in used] == ["78.0", "83.5"], "78.0 % and 83.5 % of the cycles"
assert f"{fewer * used[1] / used[0]:.2f}" == f"{times['numba']:.2f}" == f"{1.22 * 83.5 / 78.0:.2f}", "together: 1.31"
assert improved.sector_bytes > 10 * improved.l2_bytes, "most of these uses are answered by the first-level cache"
assert tile.l2_bytes > 0.95 * improved.l2_bytes and tile.dram_bytes > improved.dram_bytes, "do not fall"
assert all(each.share(level) < 0.2 for each in traffic for level in ("L2", "DRAM")), "more than five times its speed"
allowed = [[each.roofs[level] / each.gflops for level in ("L2", "DRAM")] for each in traffic]
assert [[f"{times:.1f}" for times in each] for each in allowed] == [["8.5", "19.4"], ["6.1", "7.6"]], "L2, and DRAM"
moved = [tile.l2_bytes, both[1]["dram_read_bytes"] + both[1]["dram_write_bytes"]]
through = [each / tile.milliseconds / 1e9 for each in moved]
assert [f"{each:.2f}" for each in through] == ["1.28", "0.52"], "TB/s through L2, and from and to DRAM"
assert [f"{each * most:.1f}" for each, most in zip(through, allowed[1], strict=True)] == ["7.9", "4.0"], "their most"
assert f"{tile.sector_bytes / 1e9:.1f}" == "17.2", "the loads of tiled alone"
assert (improved.lowest, tile.lowest) == ("L1 and shared memory",) * 2, "has the most work in both kernels"
assert [f"{times[words]:.2f}" for words in ("numba", "CUDA C")] == ["1.31", "1.37"], "a factor of 1.31, and 1.37"
first = variants.result("naive")["gflops"]
assert f"{gained['numba'][1] / first:.1f}" == f"{4.9 * 1.31:.1f}" == "6.4", "to this tiled the factor is 6.4"
assert f"{gained['numba'][0] / first:.1f}" == "4.9", "make naive 4.9 times as fast"
assert all(each["params"] in ({"block_width": 32}, {"tile_width": 32}) for each in both), "blocks of 32×32 threads"
assert model.flop(64, 64, 64) / ratio_bytes == 16 / 4, "T/4"
assert counted[16] == 64 / 16, "makes T times as many global loads"
assert model.global_loads(5, 7, 6) == 420, "the naive kernel makes 420 loads"
