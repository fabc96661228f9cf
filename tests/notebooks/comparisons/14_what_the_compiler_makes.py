"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

assert same == list(told_by_driver), "the driver reports the same number of blocks for every rung"
asked = {
    (int(threads), r["registers"], int(shared)): blocks
    for r in measurements.load("occupancy").results
    for shared, of in r["blocks"].items()
    for threads, blocks in of.items()
}
assert all(model.occupancy(*block, gpu).blocks == blocks for block, blocks in asked.items()), "and for others"
first = twins.result("naive_signed_left")["gflops"]
gains = [twins.result(which)["gflops"] / first for which in ("naive_uint64_left", "naive_signed_16", "naive_uint64_16")]
assert [round(gain, 1) for gain in gains[:2]] == [1.5, 1.5], "each change alone gains 1.5 times"
assert round(gains[2], 1) == 4.8, "4.8 times as fast as the first version"
told_speeds = [twins.result(which)["gflops"] for which in ("naive_signed_32", "tiled_signed_left", "tiled_signed_32")]
assert [round(each) for each in told_speeds] == [1255, 2314, 7868], "signed, with 32 steps and left"
four, eight = (twins.result(which) for which in ("naive_signed_left", "naive_signed_32"))
assert round(100 * (1 - eight["instructions"] / four["instructions"])) == 4, "4 % fewer instructions"
assert [round(each["issue_active_percent"]) for each in (eight, four)] == [66, 74], "in 66 instead of 74 of 100 cycles"
one = twins.result("naive_c_unroll_1")
stalls = {key: value for key, value in one.items() if key.startswith("stalled_")}
assert round(100 * stalls["stalled_long_scoreboard_percent"] / sum(stalls.values())) == 87, "87 % of the waiting"
assert max(registers.values()) == 255, "at most 255 registers"
in_c = twins.result("naive_c")
assert 1.9 < one["instructions"] / in_c["instructions"] < 2.05, "the instructions double"
assert [round(each["issue_active_percent"]) for each in (one, in_c)] == [22, 43], "in 22 instead of 43 of 100 cycles"
unsigned_in_c = twins.result("naive_c_unsigned")
assert [round(each["gflops"]) for each in (in_c, unsigned_in_c)] == [6271, 4392], "int and unsigned in C"
assert unsigned_in_c["instructions"] > 1.7 * in_c["instructions"], "the compiler must respect that"
staged = {which: twins.result(which) for which in stages}
constant, batched = staged["outer_product_constant"], staged["outer_product_batched"]
assert round(constant["instructions"] / staged["outer_product"]["instructions"], 2) == 1.06, "6 % more instructions"
assert f"{constant['instructions'] / batched['instructions']:.2f}" == "1.57", "1.57 times fewer instructions"
assert 1.03 < batched["issue_active_percent"] / constant["issue_active_percent"] < 1.04, "hardly busier"
on_loads = [each["stalled_long_scoreboard_percent"] / 100 for each in (batched, constant)]
assert [f"{cycles:.1f}" for cycles in on_loads] == ["0.7", "6.0"], "0.7 instead of 6.0 cycles for global memory"
assert [each["occupancy_percent"] * 0.64 for each in (batched, constant)] == [16, 40], "16 instead of 40 warps"
assert constant["shared_load_wavefronts"] > 1.9 * batched["shared_load_wavefronts"], "reads four elements"
assert 0.9 < speed["outer_product_constant"] / speed["outer_product"] < 0.95, "it is a little slower"
assert round(speed["outer_product_batched"] / speed["outer_product_constant"], 1) == 1.6, "gains a factor of 1.6"
assert round(speed["unrolled"] / speed["outer_product_batched"], 2) == 1.05, "gains the rest, 5 %"
capped = [twins.result("bank_conflicts" + end)["gflops"] for end in ("_32_registers", "")]
assert round(capped[0] / capped[1], 2) == 1.09, "gained 9 % in this way"
by_block = {(r["rung"], *r["block"]): r["gflops"] for r in twins.results if "block" in r}
assert model.occupancy(64, 32, 0, gpu).warps == 2 * model.occupancy(16, 32, 0, gpu).warps, (
    "full warps, and twice as many"
)
assert 1.95 < by_block["naive_uint64_32", 8, 8] / by_block["naive_uint64_32", 4, 4] < 2.05, "it is twice as fast"
narrow, wide = ({r["block"][0]: r for r in twins.results if r.get("rung") == "tiled"}[width] for width in (4, 8))
assert f"{wide['gflops'] / narrow['gflops']:.1f}" == "4.8", "gains 4.8 times"
assert round(100 * wide["instructions"] / narrow["instructions"]) == 28, "the instructions fall to 28 %"
assert (32 * 80, 16384 / 2560, 4 * 6 // 2) == (2560, 6.4, 12), "2,560 registers a warp, 6.4 warps a file"
assert 0.95 < ladder.result("best")["gflops"] / ladder.result("cublas")["gflops"] < 1.1, "at the speed of cuBLAS"
assert (32 * 40, 16384 / 1280, 4 * 12 // 2) == (1280, 12.8, 24), "1,280 registers a warp, 12.8 warps a file, 24 blocks"
assert 32 * 256 * -(-34 * 32 // 256) == 40960, "one block takes 40,960 registers"
assert 20 < measured.latency["DRAM"] / measured.latency["shared"] < 25, "more than twenty times as long"
assert [*range(0, 26, 4)][-1] == 24, "K = 26: the last iteration begins at 24"
waits = {r["rung"]: r["measured_waits"] for r in measurements.load("waiting").results if r["what"] == "ladder"}
assert waits["best"]["global memory"] < 0.01, "less than 1 % of its waiting"
loads = [each.operation.startswith("LDG") for each in code["unrolled"].body]
first = next(i for i, each in enumerate(code["unrolled"].body) if each.operation == "FFMA")
assert loads[:first].count(True) == 20, "all 20 loads come before the first multiplication"
assert not any(loads[first:]), "and none after it"
assert round(measurements.load("counters").result("best", N=4096)["issue_active_percent"]) == 88, "in 88 of 100 cycles"
full = [r for r in measurements.load("residency").results if r["rung"] == "tiled" and r["params"]["tile_width"] == 16]
one, eight = (next(r for r in full if r["warps"] == warps) for warps in (8, 64))
assert [round(r["issue_active_percent"]) for r in (one, eight)] == [22, 73], "in 22 of 100 cycles, and in 73"
assert round(eight["gflops"] / one["gflops"], 1) == 3.3, "3.3 times as fast"
