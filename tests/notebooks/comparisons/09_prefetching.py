"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

assert races, "with a single buffer there is a race"
assert more == 0, "as many loads"
plain, second, third = (
    [twins.result(which + end)["gflops"] for end in ends]
    for which, ends in (("tiled", ("_unsigned", "_c")), ("prefetched", ("_unsigned", "_c")), ("pipelined", ("", "_c")))
)
gains = [round(100 * (second[i] / plain[i] - 1)) for i in (0, 1)]
assert gains == [9, 7], "prefetched gains 9 % in numba and 7 % in CUDA C"
assert third[0] < plain[0] and third[1] < plain[1], "is slower than tiled in both languages"
of_warp_0 = [
    (sum(to - since for memory, since, to in order.waits[0] if memory == "global memory"), max(order))
    for order in (each["the model's"] for each in orders)
]
assert of_warp_0 == [(1213, 2656), (453, 2500)], "453 of 2,500 cycles, instead of 1,213 of 2,656"
