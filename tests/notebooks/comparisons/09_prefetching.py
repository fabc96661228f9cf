"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

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
more_instructions = [round(100 * (each[2]["instructions"] / each[0]["instructions"] - 1)) for each in three]
assert more_instructions == [43, 20], "43 % more instructions in numba and 20 % more in CUDA C"
more_wavefronts = [round(100 * (each[2]["l1_wavefronts"] / each[0]["l1_wavefronts"] - 1)) for each in three]
assert more_wavefronts == [9, 13], "9 and 13 % more wavefronts"
waiting_c = [{key: of[key] for key in of if key.startswith("stalled_")} for of in (three[1][0], three[1][2])]
queued = [round(100 * of["stalled_mio_throttle_percent"] / sum(of.values())) for of in waiting_c]
assert queued == [43, 57], "57 instead of 43 % of the waiting"
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
