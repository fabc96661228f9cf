"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

assert flop == 137438953472 and round(2 * 8192**3 / 1e9, -2) == 1100, "flop of the two products"
if gpu_name == "NVIDIA H200":  # the text speaks of the course's recordings
    late = [rate for size, rate in rates["naive"].items() if size >= 512]
    assert min(late) > 0.9 * max(late), "from n = 512 on, the rate of the naive kernel changes by less than a tenth"
    assert series.provenance["multiprocessors"] == 132, "132 multiprocessors"
    executed = [measurements.load("counters").result("naive", N=n) for n in (1024, 4096)]
    each = [round(r["instructions"] / (r["N"] ** 3 / 32), 1) for r in executed]
    assert each == [36.6, 36.5], "36.6 instructions for each multiplication at n = 1024, and 36.5 at n = 4096"
    variants = measurements.load("variants")
    same_loads = [variants.result(name)["gflops"] for name in ("naive_uint64_32", "naive_signed_left")]
    assert round(same_loads[0] / same_loads[1], 1) == 4.9, "with fewer instructions, and is 4.9 times as fast"
    looks = [round(clocks[name]["synchronised"] / clocks[name]["unsynchronised"]) for name in ("naive", "tiled")]
    assert looks == [578, 446], "looks 578 times too fast, and the tiled one 446 times"
    assert round(rates["naive"][1024] / rates["host"][1024]) == 2313, "2,313 times as fast"
    assert times["naive"][256] < 2 * times["naive"][128], "less than twofold"
    naive_blocks = [int(np.prod(series.result("naive", N=n)["grid"])) for n in (128, 256)]
    assert naive_blocks == [16, 64], "16 blocks at n = 128 and 64 at n = 256"
assert not close.all() and relative < 1e-5 and in_terms < 1e-5, "rounding alone, and np.isclose rejects it"
assert round(growth, 1) == 1.7, "grow 1.7 times"
more = {
    result["rung"]: median(result["cold_milliseconds"]) / median(result["warm_milliseconds"]) - 1
    for result in cold.results
}
assert 0.2 < more.pop("outer_product") < 0.3, "for one it is a quarter"
assert max(more.values()) < 0.05, "for most kernels it is small"
assert 3 * 4 * 2048**2 < l2, "the same matrices, which fit in the L2 cache"
