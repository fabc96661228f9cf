"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib.machine.timing_model import stalls_of

of = {r["rung"]: r["gflops"] for r in reversed(variants.results) if "gflops" in r}
limit = next(r["flop_per_second"] for r in measurements.load("ceilings").results if r["ceiling"] == "float32") / 1e9
shares = [round(100 * of[which] / limit) for which in ("tiled", "tiled_unsigned", "tiled_c")]
assert shares == [12, 13, 14], "12 to 14 %"
slower = [of["register_1d" + end] < of["outer_product" + end] for end in ("", "_unsigned", "_c")]
assert all(slower), "register_1d is the slower one in each of the three"
assert round(of["register_2d_unsigned"] / of["tiled_unsigned"], 1) == 3.3, "3.3 times the speed of tiled"
assert round(of["register_2d_c"] / of["tiled_c"], 1) == 3.4, "in CUDA C it is 3.4 times"
assert (round(waves["tiled"], 2), round(waves["register_2d"], 2)) == (1.5, 0.25), "wavefronts of each multiplication"
assert of["four_rows"] < of["tiled"] < of["tiled_unsigned"] < of["four_rows_unsigned"], "more than that of tiled"
many, few = (variants.result(which)["instructions"] for which in ("four_rows", "tiled"))
assert many > 2 * few and round(many / steps, 2) == 9.14, "more than twice as many as tiled"
assert 0.45 < gflops("register_2d") / gflops("cublas") < 0.55, "half the speed of cuBLAS"
assert 0.145 < gflops("tiled") / gflops("cublas") < 0.155, "15 % of what cuBLAS does"
assert ladder.result("tiled")["M"] == 4096, "at n = 4096"
assert (instructions["tiled"], useful["tiled"]) == (98, 16), "16 of 98 instructions"
own_loop = instructions["register_2d"] / useful["register_2d"]
assert round(own_loop, 1) == 1.5, "about 1.5 for each"
assert round(executed("register_2d") - own_loop, 2) == 0.35, "adds about 0.35"
per_ffma = {which: executed(which) for which in ("tiled", "outer_product", "register_1d", "register_2d")}
assert [round(e, 2) for e in per_ffma.values()] == [4.21, 4.28, 5.27, 1.84], "executed for each multiplication"
active = {which: counters.result(which, N=4096)["issue_active_percent"] for which in per_ffma}
product = per_ffma["tiled"] / per_ffma["register_2d"] * active["register_2d"] / active["tiled"]
assert (round(per_ffma["tiled"] / per_ffma["register_2d"], 1), round(product, 1)) == (2.3, 3.4), "the product is 3.4"
judged = [r for r in measurements.load("predictions").results if r["what"] == "ladder" and r["N"] == 4096]
stalls = {r["rung"]: {name: round(100 * share) for name, share in stalls_of(r).items()} for r in judged}
on_shared = [[stalls[r][name] for name in ("mio_throttle", "short_scoreboard")] for r in ("tiled", "register_2d")]
assert on_shared == [[32, 7], [5, 4]], "a full queue, and values from shared memory"
reads = machine.result("tiled")["mix"]
single, joined = (reads[name] / useful["tiled"] for name in ("LDS", "LDS.128"))
assert single + joined == 1.25 and round(waves["tiled"], 2) == single + 2 * joined, "a joined read takes two wavefronts"
