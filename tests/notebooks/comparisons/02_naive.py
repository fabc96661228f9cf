"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

ceiling, here = ceilings["float32"]["flop_per_second"] / 1e9, limit
right = both.of(measurements.IMPROVED)
slow, fast = (variants.result(name) for name in ("naive_signed_left", "naive_uint64_32"))
assert all(loads == model.global_loads(n, n, n) for n, loads in counted.items()), "2·n³ at every size"
assert whole_loads == model.global_loads(5, 7, 6), "the count is the formula's"
assert ceiling > 10 * bound, "much faster than it can fetch"
assert 60 < ceiling / (bound) < 65, "more than sixty times as fast"
assert speed > bound, "faster than the bound allows"
assert here.lowest == "instructions" and round(100 * here.share("instructions")) == 73, "at 73 % of one roof"
assert all(here.share(level) < 0.2 for level in here.roofs if level != "instructions"), "the others are far above it"
assert max(level.dram_bytes / level.asked for level in both) < 0.02, "under 2 % of the bytes asked for come from DRAM"
c_int, c_unsigned = (variants.result(name) for name in ("naive_c", "naive_c_unsigned"))
assert c_unsigned["gflops"] < c_int["gflops"] and c_unsigned["instructions"] > c_int["instructions"], "is slower"
assert [round(100 * level.share("DRAM")) for level in both] == [2, 5], "2 % and 5 % of its bandwidth"
assert round(here.instructions / (4096**3 / 32)) == 37, "37 instructions in a step"
alone = [variants.result(name)["gflops"] / slow["gflops"] for name in ("naive_uint64_left", "naive_signed_16")]
assert [f"{each:.1f}" for each in alone] == ["1.5", "1.5"], "each change alone gains 1.5 times"
assert variants.result("naive_uint64_16")["gflops"] / slow["gflops"] > alone[0] * alone[1], "more than 1.5 times 1.5"
assert 6.5 < slow["instructions"] / fast["instructions"] < 7.5, "in a seventh of the instructions"
assert f"{fast['gflops'] / slow['gflops']:.1f}" == "4.9", "4.9 times as fast"
assert right.lowest == "L1 and shared memory" and round(100 * right.share("L1 and shared memory")) == 82, "82 %"
assert 0.18 < slow["gflops"] / fast["gflops"] < 0.22, "four fifths of its speed"
assert f"{fast['l1_wavefronts'] / 1e9:.2f}" == "4.30", "4.30·10⁹ passes"
assert variants.result("naive_c")["l1_wavefronts_percent"] > 70, "in CUDA C it is so from the start"
assert A5.size == 30 and whole_loads == 420, "A has 30 elements, and 420 loads"
assert f"{bound:,.0f}" == "994", "a bound of 994 GFLOP/s"
assert sum(askers.values()) == 4 and model.global_loads(16, 16, 16) == 8 * model.global_loads(8, 8, 8), "a factor of 8"
