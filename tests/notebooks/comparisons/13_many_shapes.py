"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

assert -(-(multiprocessors + 1) // multiprocessors) == 2, "twice as long"
edge = {n: recorded["ragged"].result("large_tiles", M=n)["gflops"] for n in (4096, 4097)}
waves = [-(-tiles_of(n) // multiprocessors) for n in edge]
assert waves == [4, 5] and 0.75 < edge[4097] / edge[4096] < 4 / 5, "take a fifth of its speed"
assert planning.plan(4097, 4097, 4097, gpu, wide=False).copied, "`product` first copies such matrices"
assert max(abs(kept_busy(tiles_of(n)) - speed[n] / speed[4096]) for n in speed) < 0.05, "a twentieth of the whole"
assert len(planning.TILES) > 12, "more than a dozen shapes"
assert 0.0575 < speed[512] / speed[4096] < 0.0585, "5.8 % of the speed at n = 4096"
assert tiles_of(2112) == 153, "153 tiles at n = 2112"
assert 30 < deep["product"]["gflops"] / one_multiprocessor < 35, "30 times as fast as one multiprocessor"
assert round(reads[0] / reads[1], 1) == 2.7, "2.7 times as many in tiles of 32×32"
assert 1.9 < partial_bytes / matrix_bytes < 2.2, "twice as many bytes"
assert deep["product"]["params"] == {"kernels": "32×64", "whole": 0, "shares": 128}, "smaller tiles, of 32×64"
assert 0.2 < product_bytes / matrix_bytes < 0.3, "a quarter of the bytes of A and B"
losses = {
    n: 1 - recorded["ragged"].result("best", M=n)["gflops"] / recorded["ragged"].result("best", M=4096)["gflops"]
    for n in (4095, 4097)
}
assert [round(100 * loss) for loss in losses.values()] == [10, 13], "loses 10 % and 13 %"
alone = {
    key: one_factor.result("best", M=key[0], N=key[1], K=key[2])["gflops"]
    for key in ((4096, 4096, 4096), (4096, 4096, 4097), (4096, 4096, 4100), (4100, 4096, 4096), (4096, 4100, 4096))
}
rest = [round(100 * (1 - rate / alone[4096, 4096, 4096])) for rate in alone.values()]
assert rest == [0, 9, 0, 0, 14], "loses 9 %; nothing; four more rows cost nothing, four more columns 14 %"
all_three = one_factor.result("best", M=4100, N=4100, K=4100)["gflops"]
assert round(100 * (1 - all_three / alone[4096, 4096, 4096])) == 14, "with four more of all three sizes, too, 14 %"
library = recorded["series"].result("cublas", N=512)["gflops"]
assert 5 * speed[512] < library, "far slower than the library"
