"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib.exercises import capstone

assert list(speeds.values())[:-1] == sorted(list(speeds.values())[:-1]), "each milestone is faster than the one before"
near = [ladder.result(name)["gflops"] for name in ("prefetched", "pipelined")]
assert round(100 * (1 - near[0] / near[1])) == 2, "a little slower, by 2 %"
results = measurements.load("predictions").results
students = [r["predicted"] / r["measured"] - 1 for r in results if r["what"] == "capstone"]
assert f"{100 * max(map(abs, students)):.0f}" == "12", "by up to 12 % for kernels written as students write them"
modelled = {r["rung"]: r["predicted"] for r in results if r["what"] == "ladder"}
assert modelled["prefetched"] > modelled["pipelined"], "the rung prefetched to be faster than pipelined"
assert ladder.result("best")["registers"] > 230, "nearly all of the 255 registers"
assert ladder.result("best")["blocks_per_multiprocessor"] == 1, "one block on each multiprocessor"
assert round(counters.result("best", M=4096)["issue_active_percent"]) == 88, "in 88 of 100 cycles"
most_shared = max(r["shared_bytes"] * r["blocks_per_multiprocessor"] for r in ladder.results if "registers" in r)
assert most_shared < gpu["shared_bytes_per_multiprocessor"] / 2, "no kernel of the ladder is limited by it"
assert 4 * (16384 // (32 * 128)) * 32 == 2 * 256, "16 warps are two blocks"
assert (-(-32 * 100 // 256) * 256, 16384 // 3328) == (3328, 4), "3,328 registers a warp, four warps a file"
assert [model.occupancy(64, registers, 0, gpu).blocks for registers in (100, 200)] == [8, 4], "eight blocks, four"
assert (capstone.OF, capstone.FIRST, capstone.LAST) == (25, 1000, 44000), "the last one for 44,000"
