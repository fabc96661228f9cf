"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from tools.prefetching import COPIED, EARLY, ONE_BARRIER, Found, gain, share
from tools.prefetching import speed as speed_of

assert races, "with a single buffer there is a race"
assert more == 0, "as many loads"
plain, second, third = (
    [twins.result(which + end)["gflops"] for end in ends]
    for which, ends in (("tiled", ("_unsigned", "_c")), ("prefetched", ("_unsigned", "_c")), ("pipelined", ("", "_c")))
)
gains = [round(100 * (second[i] / plain[i] - 1)) for i in (0, 1)]
assert gains == [9, 7], "prefetched gains 9 % in numba and 7 % in CUDA C"
pairs = (("tiled_unsigned", "prefetched_unsigned", "pipelined"), ("tiled_c", "prefetched_c", "pipelined_c"))
three = [[twins.result(which) for which in names] for names in pairs]
busy_path = [[round(of["l1_wavefronts_percent"]) for of in each[:2]] for each in three]
assert busy_path == [[83, 91], [87, 93]], "L1 and shared memory are busy in 83 of 100 cycles, then in 91 and 93"
assert 1.19 < 100 / three[0][0]["l1_wavefronts_percent"] < 1.2, "it can gain a fifth at most"
assert round(three[0][0]["issue_active_percent"]) == 43, "start an instruction in only 43 of 100 cycles"
same = [each[1]["l1_wavefronts"] / each[0]["l1_wavefronts"] for each in three]
assert all(0.99 < part < 1.01 for part in same), "as many accesses"
more_wavefronts = [round(100 * (each[2]["l1_wavefronts"] / each[0]["l1_wavefronts"] - 1)) for each in three]
assert more_wavefronts == [9, 13], "9 and 13 % more wavefronts"
varied = measurements.load("prefetching")
of_2048 = [[varied.result(name + end, N=2048) for name in ("tiled", "prefetched")] for end in ("_unsigned", "_c")]
gains_2048 = [round(second["gflops"] / first["gflops"], 2) for first, second in of_2048]
assert gains_2048 == [0.99, 1.00], "0.99 and 1.00 times as fast"
busy_2048 = [round(first["l1_wavefronts_percent"]) for first, _ in of_2048]
assert busy_2048 == [89, 91], "busy in 89 and 91 of 100 cycles"

found = Found(varied)
six = [(language, width) for language in ("numba", "CUDA C") for width in (8, 16, 32)]
pairs_of_six = [[found.variant(*case, setting, None) for setting in (ONE_BARRIER, COPIED)] for case in six]
wavefronts = [after["l1_wavefronts"] / before["l1_wavefronts"] for before, after in pairs_of_six]
assert [round(100 * (end(wavefronts) - 1)) for end in (min, max)] == [11, 30], "11 to 30 % more wavefronts"
of_pairs = {
    "speed": [speed_of(before) / speed_of(after) for before, after in pairs_of_six],
    "wavefronts": wavefronts,
    "instructions": [after["instructions"] / before["instructions"] for before, after in pairs_of_six],
    "queue": [share(after, "mio_throttle") - share(before, "mio_throttle") for before, after in pairs_of_six],
}
in_order = {what: list(np.argsort(values)) for what, values in of_pairs.items()}
assert in_order["wavefronts"] == in_order["speed"], "the more wavefronts a pair adds, the more speed it loses"
assert in_order["speed"] not in (in_order["instructions"], in_order["queue"]), "do not follow this order"
with_both = [gain(found.variant, (*case, EARLY, 64), (*case, ONE_BARRIER, 64)) for case in six]
together = [round(100 * (each - 1)) for each in with_both]
assert [together[0], together[3]] == [3, 5] and max(together[2], together[5]) <= 0, "together gain 3 and 5 % at T = 8"
assert set(late) == set(early_loads) == {8, 32}, "T = 8 and T = 32"
gained_early = [round(100 * (late[T]["median"] / early_loads[T]["median"] - 1)) for T in (8, 32)]
assert gained_early == [4, 10], "early loads alone gain 4 % at T = 8, and 10 % at T = 32"
assert all(two[T] > 1.02 * early_loads[T]["median"] for T in two), "the slower one at both widths"
given = [r for r in measurements.load("answers").results if r["exercise"] == "last-iteration"]
resident = {r["block"][0]: r["blocks_per_multiprocessor"] for r in given}  # as many as with one buffer
assert all(
    resident[T] == late[T]["blocks_per_multiprocessor"] == early_loads[T]["blocks_per_multiprocessor"] for T in two
)
assert {r["params"]["sizes"]["K"] for r in one} == {4096}, "n = 4096"
assert third[0] < plain[0] and third[1] < plain[1], "is slower than tiled in both languages"
of_warp_0 = [
    (sum(to - since for memory, since, to in order.waits[0] if memory == "global memory"), max(order))
    for order in (each["the model's"] for each in orders)
]
(wait, end), (shorter, earlier) = of_warp_0
assert (wait - shorter, end - earlier) == (760, 156), "saves 760 cycles of this wait, and ends only 156 earlier"
assert of_warp_0 == [(1213, 2656), (453, 2500)], "453 of 2,500 cycles, instead of 1,213 of 2,656"
