"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

bare, fed, rounded, cublas = (
    ("tensor_cores", "TF32, rounded"),
    ("tensor_cores_tiled", "TF32, cut off"),
    ("tensor_cores_tiled", "TF32, rounded"),
    ("cublas", "TF32"),
)
assert tera[bare] < tera["best", "float32"], "slower than best"
assert 13.5 < tera[fed] / tera[bare] < 14.5, "14 times as fast"
assert 4 < tera[fed] / tera["best", "float32"] < 4.5, "four times as fast"
assert 0.5 < 100 / an_mma["tensor_cores"] < 1.5, "about one in a hundred"
assert 100 * off["best", "float32"] < off[rounded] < off[fed], "more than a hundred times that of `best`"
assert abs(off[rounded] / off[cublas] - 1) < 0.01, "Rounded, it is the error of cuBLAS with TF32"
assert round(100 * (1 - tera[rounded] / tera[fed])) == 15, "makes the kernel 15 % slower"
assert round(off[fed] / off[rounded], 1) == 2.6, "2.6 times the error"
assert 1.8 < tera["tensor_cores_bf16", "bfloat16"] / tera[fed] < 2, "nearly twice as fast"
assert 7.5 < off["tensor_cores_bf16", "bfloat16"] / off[rounded] < 8.5, "eight times the error"
assert round(100 * alone["mma_tf32"] / tera[cublas]) == 79, "79 % of cuBLAS's speed"
assert [(r["warps"] // 4, round(r["gflops"] / 1000)) for r in few] == [(1, 312), (2, 324)], "one reaches 312, two 324"
issuing = counters["tensor_cores_tiled"]["issue_active_percent"]
assert round(issuing * alone["mma_tf32"] / tera[fed]) == 40, "at the speed of the instruction alone"
at_8192 = [r for r in recorded["wgmma"].results if r.get("N") == 8192 and "inputs" not in r]
hopper = {r["rung"]: r["gflops"] for r in at_8192 if (r["format"], r["stored"]) == ("bfloat16", "float32")}
assert round(100 * hopper["wgmma_bulk"] / hopper["cublas"]) == 99, "99 % of cuBLAS in bfloat16"
tiled_cores = recorded["tensor"].result("tensor_cores_tiled", N=8192, format="TF32, cut off")
assert (tiled_cores["registers"], tiled_cores["blocks_per_multiprocessor"]) == (254, 2), "254 registers, two blocks"
assert tiled_cores["block"][0] * 2 // 32 == 2 * 4, "two warps for each of its four schedulers"
reasons = {key: value for key, value in counters["tensor_cores_tiled"].items() if key.startswith("stalled_")}
most, next_most, *_ = sorted(reasons, key=reasons.get, reverse=True)
assert (most, next_most) == ("stalled_wait_percent", "stalled_math_pipe_throttle_percent"), "waits most, and next"
assert 3 * reasons["stalled_long_scoreboard_percent"] < reasons[next_most], "for global memory far less"
assert abs(too_small / off[fed] - 1) < 0.05, "Such errors do not cancel"
assert 100 < error["tensor_cores"] / error["tiled"] < 1000, "hundreds of times that of the tiled kernel"
each = [round(an_mma["tensor_cores"]), round(an_mma["tensor_cores_tiled"], 1)]
assert each == [72, 2.4], "72 instructions for each one that multiplies, and 2.4"
assert f"{too_small:.2%}" == "0.07%", "C comes out 0.07 % too small"
assert round(counters["tensor_cores_tiled"]["issue_active_percent"]) == 28, "an instruction in 28 of 100 cycles"
few_conflicts = counters["tensor_cores_tiled"]["shared_load_bank_conflicts"]
assert few_conflicts < counters["tensor_cores_tiled"]["shared_load_wavefronts"] / 1000, "almost no bank conflicts"
bare_loop = measurements.load("instructions").result("tensor_cores")
integer = sum(bare_loop["mix"][kind] for kind in ("IMAD", "ISETP", "LEA", "IADD3"))
assert (bare_loop["instructions"], integer) == (447, 295), "447 instructions, 295 for addresses and guards"
assert (bare_loop["mix"]["HMMA"], bare_loop["mix"]["LDS"]) == (4, 24), "4 of them multiply, 24 read fragments"
counters_of_best = recorded["counters"].result("best", N=4096)
share = counters_of_best["issue_active_percent"] * 4096**3 / 32 / counters_of_best["instructions"]
assert round(share) == 82, "in 82 of 100 cycles"
