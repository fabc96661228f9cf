"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

bfloat = {name: rate for (name, form), rate in tera.items() if form == "bfloat16"}
assert 37.5 < bfloat["wgmma_bulk"] / bfloat["wgmma"] < 38.5, "38 times slower"
assert 2 < bfloat["wgmma_staged"] / bfloat["wgmma_swizzled"] < 2.2, "twice as fast"
assert 1.075 < bfloat["wgmma_bulk"] / bfloat["wgmma_staged"] < 1.085, "gains 8 % more"
best_rungs = (("wgmma_bulk", "bfloat16"), ("wgmma_float16", "float16"), ("wgmma_tf32", "TF32"))
assert [round(100 * of_cublas[rung]) for rung in best_rungs] == [99, 98, 97], "99 % of cuBLAS, 98 %, 97 %"
assert all(r["stored"] == "float32" for r in eight + longer if r["rung"] != "cublas"), "The kernels store C in float32"
in_16_bits = {r["format"]: r for r in eight if r["stored"] == r["format"]}
with_float32 = {r["format"]: r for r in eight if r["rung"] == "cublas" and r["stored"] == "float32"}
for form, result in in_16_bits.items():
    assert round(100 * result["gflops"] / with_float32[form]["gflops"]) == 102, "cuBLAS is 2 % faster"
    assert 1.2 < result["relative_error"] / with_float32[form]["relative_error"] < 1.25, "larger by a fifth"
cut, cublas_tf32 = (recorded.result(rung, N=8192)["relative_error"] for rung in ("wgmma_tf32", "cublas"))
assert cut > 2 * cublas_tf32, "compare the errors"
assert round(100 * (clocks["zeros"] / clocks["normal"] - 1)) == 28, "the clock is higher by 28 %, and so is the speed"
assert round(100 * (inputs["zeros"] / inputs["normal"] - 1)) == 28, "and so is the speed"
assert {r["stored"] for r in longer} == {"float32"}, "both with C in float32"
assert all(690 < np.median(r["power_watts"][12:]) < 710 and r["held_by_power"] > 0.8 for r in repeated[1:]), "700 W"
assert [round(100 * inputs[w] / rivals[w]) for w in ("zeros", "normal")] == [105, 98], "105 % of the speed of cuBLAS"
assert 15.5 < stored["wgmma"].requests / stored["wgmma_swizzled"].requests < 16.5, "a sixteenth of the requests"
assert 16 < gains["wgmma to wgmma_swizzled"] < 17.5, "times as fast as the rung before it"
assert {len(r["milliseconds"]) for r in repeated} == {200}, "every twentieth of the launches times in a row"
assert stored["wgmma"].bank_conflicts > 0 == stored["wgmma_swizzled"].bank_conflicts, "it has no conflicts"
assert stored["wgmma_swizzled"].requests < stored["wgmma"].requests, "fewer requests"
assert bfloat["wgmma"] < bfloat["wgmma_swizzled"] < bfloat["wgmma_staged"] < bfloat["wgmma_bulk"], "each step"
assert written_columns == 8 == read_rows and "in 1 pass" in from_swizzled[1], "free of conflicts in both directions"
staged = recorded.result("wgmma_staged", N=8192)
assert (staged["shared_bytes"], staged["blocks_per_multiprocessor"]) == (4 * 49152, 1), "only one block fits"
