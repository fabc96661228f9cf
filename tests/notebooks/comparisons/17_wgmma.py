"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

bfloat = {name: rate for (name, form), rate in tera.items() if form == "bfloat16"}
assert 39.5 < bfloat["wgmma_bulk"] / bfloat["wgmma"] < 40.5, "40 times slower"
assert 2 < bfloat["wgmma_staged"] / bfloat["wgmma_swizzled"] < 2.2, "twice as fast"
assert 1.075 < bfloat["wgmma_bulk"] / bfloat["wgmma_staged"] < 1.085, "gains 8 % more"
for best_rung in (("wgmma_bulk", "bfloat16"), ("wgmma_float16", "float16"), ("wgmma_tf32", "TF32")):
    assert 0.97 < of_cublas[best_rung] < 0.985, "more than 97 % of cuBLAS"
earlier = measurements.load("tensor")
more = [
    tera["cublas", of] * 1000 / earlier.result("cublas", N=8192, format=of)["gflops"] for of in ("TF32", "bfloat16")
]
assert round(max(more) - 1, 3) == 0.015, "up to 1.5 % faster here than in lesson 16"
assert round(clocks["zeros"] / clocks["normal"], 2) == 1.27, "the clock is higher by 27 %, and so is the speed"
assert round(inputs["zeros"] / inputs["normal"], 2) == 1.27, "and so is the speed"
assert all(690 < np.median(r["power_watts"][12:]) < 710 and r["held_by_power"] > 0.8 for r in repeated[1:]), "700 W"
assert [round(100 * inputs[w] / rivals[w]) for w in ("zeros", "normal")] == [102, 95], "102 % of the speed of cuBLAS"
assert 15.5 < stored["wgmma"].requests / stored["wgmma_swizzled"].requests < 16.5, "a sixteenth of the requests"
assert 16 < gains["wgmma to wgmma_swizzled"] < 17.5, "times as fast as the rung before it"
assert {len(r["milliseconds"]) for r in repeated} == {200}, "every twentieth of the launches times in a row"
assert stored["wgmma"].bank_conflicts > 0 == stored["wgmma_swizzled"].bank_conflicts, "it has no conflicts"
assert stored["wgmma_swizzled"].requests < stored["wgmma"].requests, "fewer requests"
assert bfloat["wgmma"] < bfloat["wgmma_swizzled"] < bfloat["wgmma_staged"] < bfloat["wgmma_bulk"], "each step"
assert written_columns == 8 == read_rows and "in 1 pass" in from_swizzled[1], "free of conflicts in both directions"
staged = recorded.result("wgmma_staged", N=8192)
assert (staged["shared_bytes"], staged["blocks_per_multiprocessor"]) == (4 * 49152, 1), "only one block fits"
