"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

by_rung = {step.rung: step for step in ladder}
column, below = by_rung["outer_product"], by_rung["register_1d"]
first = [by_rung[name] for name in ("per_row", "per_column", "naive", measurements.PUT_RIGHT)]
assert 2 * 4096**3 / (min(speeds) * 1e9) > 5, "more than five seconds"
assert 2000 < max(speeds) / min(speeds) < 2500, "two thousand times as fast"
assert 2 * 4096**3 / (max(speeds) * 1e9) < 0.003, "less than three thousandths of a second"
assert column.loads > below.loads and column.speed > below.speed, "more loads than the row below it, and is faster"
assert {step.loads for step in first} == {2 * 4096}, "the first four kernels make equally many"
assert f"{first[3].speed / first[2].speed:.1f}" == "4.9", "the second is 4.9 times as fast"
assert min(step.loads for step in ladder) == 48, "the fewest loads are 48"
