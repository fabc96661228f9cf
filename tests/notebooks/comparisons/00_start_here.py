"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib import measurements

speeds = [speed.written for speed in measurements.speeds().values() if speed.written]
assert 2 * 4096**3 / (speeds[0] * 1e9) > 5, "more than five seconds"
assert 2000 < speeds[-1] / speeds[0] < 2500, "two thousand times as fast"
assert 2 * 4096**3 / (speeds[-1] * 1e9) < 0.003, "less than three thousandths of a second"
assert threads == 270_336 and round(4096**2 / threads) == 62, "an n of 4,096 fills the GPU 62 times"
assert round(flop_per_second / bytes_per_second) == 16, "about 16 flop a byte"
assert A.size + B.size == 18, "18 numbers"
