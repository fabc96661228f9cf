"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

assert -(-(multiprocessors + 1) // multiprocessors) == 2, "twice as long"
assert max(abs(kept_busy(tiles_of(n)) - speed[n] / speed[4096]) for n in speed) < 0.05, "a twentieth of the whole"
assert 0.0575 < speed[512] / speed[4096] < 0.0585, "5.8 % of the speed at n = 4096"
assert tiles_of(2112) == 153, "153 tiles at n = 2112"
assert round(reads[32, 32] / reads[128, 256], 1) == 2.7, "2.7 times as many in tiles of 32×32"
assert 1.9 < partial_bytes / matrix_bytes < 2.2, "twice as many bytes"
library = recorded["series"].result("cublas", N=512)["gflops"]
assert 5 * speed[512] < library, "far slower than the library"
