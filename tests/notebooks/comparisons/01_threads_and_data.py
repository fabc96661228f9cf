"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

waits = {key: value for key, value in measurements.load("counters").result("per_row").items() if "stalled" in key}
assert 0.45 < speed[4] / speed[8] < 0.55, "half the speed"
narrow, wide = (variants.result("naive", **widths[width]) for width in (4, 8))
assert abs(narrow["instructions"] / wide["instructions"] - 2) < 0.001, (
    "twice as many warps execute the same instructions"
)
assert [round(each["issue_active_percent"]) for each in (narrow, wide)] == [73, 73], "73 % of the highest possible"
assert [each["blocks_per_multiprocessor"] for each in (narrow, wide)] == [32, 32], "at most 32 blocks"
assert max(speed[width] for width in (8, 16, 32)) < 1.02 * min(speed[width] for width in (8, 16, 32)), (
    "equally fast within two percent"
)
assert measurements.load("counters").result("per_row")["occupancy_percent"] < 10, "few other warps"
assert waits["stalled_long_scoreboard_percent"] > 0.8 * sum(waits.values()), "most of the waiting is for global memory"
assert row_loads == 144 and 2 * 3 * 6 == 36, "36 loads for each of 4 threads, 144 in all"
assert signed[3, 2] == 1101, "block (1, 1), thread (0, 1)"
