"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib.machine.timing_model.traced_block import traced_streams
from tools.prefetching_page import share, stand

assert in_turn[-1] == 3200 and in_advance[-1] == 3200 - 3 * 200, "it saves 3·200 of the 3,200 cycles"
loads = [run.traffic.select(space="global", op="load").accesses for run in (tiled_run, prefetched_run)]
assert loads[0] == loads[1], "prefetching saves no load"
assert races, "with a single buffer there is a race"
of_warp_0 = [
    (sum(to - since for memory, since, to in order.waits[0] if memory == "global memory"), max(order))
    for order in (each["the model's"] for each in orders)
]
(wait, end), (shorter, earlier) = of_warp_0
assert (wait - shorter, end - earlier) == (760, 156), "saves 760 cycles of this wait, and ends only 156 earlier"
assert of_warp_0 == [(1213, 2656), (453, 2500)], "453 of 2,500 cycles, instead of 1,213 of 2,656"
streams = [traced_streams(kernel, run.trace) for kernel, run in zip(pair_of_kernels, traced, strict=True)]
assert [len(warps[0]) for warps in streams] == [417, 559], "559 instructions instead of 417"
timings = [timing_model.simulate_warps(warps, H200) for warps in streams]
for_results = [sum(to - at for why, at, to in timing.spans[0] if why == "arithmetic") for timing in timings]
assert for_results[0] < for_results[1], "waits longer for their results"

shared = [measurements.load("ladder").result(name)["shared_bytes"] / 1024 for name in ("tiled", "prefetched")]
assert shared == [8, 16], "16 instead of 8 KiB"

both = {language: [switched(loads, 1, 2, language) for loads in (AFTER, BEFORE)] for language in ("numba", "CUDA C")}
gained = {language: round(100 * (early["gflops"] / after["gflops"] - 1)) for language, (after, early) in both.items()}
assert gained == {"numba": 7, "CUDA C": 10}, "early loads gain 7 % here, and 10 % in CUDA C"
after, early = both["numba"]
path = [each["l1_wavefronts_percent"] for each in (after, early)]
assert [round(each) for each in path] == [86, 92], "busy in 86 of 100 cycles before, and in 92 after"
assert 0.99 < early["l1_wavefronts"] / after["l1_wavefronts"] < 1.01, "as many accesses as before"
assert f"{100 / path[0]:.2f}" == "1.16", "1.16 times as fast"
assert [round(100 * share(each, "long_scoreboard")) for each in both["numba"]] == [17, 9], "only 17 %, and 9 %"
at_2048 = {r["rung"]: r["gflops"] for r in recorded.results if r.get("M") == 2048 and r.get("rung")}
of_2048 = [[at_2048[name + end] for end in ("", "_unsigned", "_c")] for name in ("tiled", "prefetched")]
assert all(second < 1.005 * first for first, second in zip(*of_2048, strict=True)), "is not faster than tiled"

places = [switched(AFTER, buffers, 2, "CUDA C") for buffers in (1, 2)]
early_in_c = [switched(BEFORE, buffers, 2, "CUDA C")["gflops"] for buffers in (1, 2)]
assert round(100 * (1 - places[1]["gflops"] / places[0]["gflops"])) == 12, "the second buffer makes it 12 % slower"
assert round(100 * (early_in_c[1] / places[1]["gflops"] - 1)) == 24, "over this kernel early loads gain 24 %"
assert round(100 * (1 - early_in_c[1] / early_in_c[0])) == 1, "the two kernels with early loads differ by 1 %"
waits = [100 * share(after, why) for why in ("mio_throttle", "barrier", "not_selected", "short_scoreboard")]
assert [round(each) for each in waits] == [38, 17, 15, 7], "what the other waits are for"
assert [round(100 * share(each, "long_scoreboard")) for each in places] == [17, 24], "24 % instead of 17"
assert [round(each["l1_wavefronts_percent"]) for each in places] == [89, 78], "78 % instead of 89"
with_two = table["buffers: 2"]
assert round(100 * (1 - with_two[1] / early["gflops"])) == 4, "4 % with early loads"
assert with_two[0] < after["gflops"] and with_two[1] > with_two[0], "the early loads gain"
one_barrier = switched(BEFORE, buffers=2, barriers=1)["gflops"]
assert with_two[1] < one_barrier < early["gflops"], "loses more than the saved barrier gains: 9,111 is less than 9,399"
in_c = [switched(BEFORE, buffers, barriers, "CUDA C")["gflops"] for buffers, barriers in ((1, 2), (2, 1))]
assert abs(in_c[0] / in_c[1] - 1) < 0.01, "are equally fast"


four = [switched(loads, buffers, 2, of) for loads in (AFTER, BEFORE) for buffers in (1, 2) for of in both]
assert all(each["registers"] <= 32 and each["blocks_per_multiprocessor"] == 2 for each in four), "up to 32 registers"
whole = [measurements.load("variants").result(name)["gflops"] for name in ("tiled_unsigned", "prefetched_unsigned")]
assert f"{whole[1] / whole[0]:.2f}" == "1.09", "prefetched itself is 1.09 times as fast as tiled"
assert [round(each) for each in whole] == [8515, 9291], "9,291 and 8,515 GFLOP/s"
assert one_barrier < whole[1], "also faster than the last kernel of the table"


def one_over_two(language, width=8):
    """Return the speed with two buffers and one barrier, over that with one buffer and two barriers."""
    name = {"numba": "prefetch_variants", "CUDA C": "prefetch_variants_c"}[language]
    settings = ((2, 1), (1, 2))
    ways = [
        {"tile_width": width, "buffers": buffers, "loads": BEFORE, "barriers": barriers}
        for buffers, barriers in settings
    ]
    two, one = (recorded.result(name, params=params, warps=64)["gflops"] for params in ways)
    return round(100 * (two / one - 1))


assert one_over_two("numba") == 3, "3 % faster than one buffer and two barriers"
assert one_over_two("CUDA C") == 5, "and 5 % in CUDA C"


def loop(loads, buffers=1):
    params = {"tile_width": 32, "buffers": buffers, "loads": loads, "barriers": 2}
    return next(
        r["loop"] for r in recorded.results if r.get("params") == params and r["language"] == "numba" and r.get("loop")
    )


assert [loop(BEFORE, buffers)["kinds"]["address"] for buffers in (1, 2)] == [6, 14], "instructions for addresses"
assert all(abs(switched(LATE, language=of)["gflops"] / early["gflops"] - 1) < 0.01 for of, (_, early) in both.items())
assert [stand(loop(loads)["code"]) for loads in (AFTER, LATE, BEFORE)] == [
    "30, behind the barrier",
    "20 and 30",
    "16 and 30",
], "have moved up among the products"

paired = measurements.load("prefetching_pairs")
early_at = {"tile_width": 32, "a_after": 0, "b_after": 4}
before, after = (
    paired.result(
        "prefetch_variants", params={"tile_width": 32, "buffers": 1, "loads": "behind", "barriers": 2}, warps=64
    ),
    paired.result("prefetch_places", params=early_at, warps=64),
)
assert round(100 * (after["gflops"] / before["gflops"] - 1)) == 12, "they gain 12 %, not 7 %"
at_28 = [
    paired.result("prefetch_places", params={"tile_width": 32, "a_after": a, "b_after": 28}, warps=64) for a in (16, 28)
]
assert [round(100 * (each["gflops"] / before["gflops"] - 1)) for each in at_28] == [7, 7], "they gain 7 %"
last = {"tile_width": 32, "buffers": 2, "loads": "early", "barriers": 1}
compiled, held = (paired.result(f"prefetch_variants{end}", params=last, warps=None) for end in ("", "_held"))
names = "prefetched_inside_uint64", "prefetched_before_uint64"
inside, ahead = (paired.result(name, params={"tile_width": 32}) for name in names)
assert round(held["gflops"]) == 9650, "with its loads held before all products, it reaches 9,650"
assert compiled["loop"]["multiply_adds_before_loads"] == [24, 30], "after 24 and 30 of the 32 multiply-adds"
assert inside["loop"]["multiply_adds_before_loads"] == [0, 0], "its loads are before all products"
assert ahead["loop"]["multiply_adds_before_loads"] == [31, 31], "the compiler moves the loads down, after 31"
in_c_code = next(
    r["loop"]["code"]
    for r in recorded.results
    if r.get("params") == {"tile_width": 32, "buffers": 1, "loads": BEFORE, "barriers": 2}
    and r["language"] != "numba"
    and r.get("loop")
)
assert stand(in_c_code) == "0 and 4", "in CUDA C after 0 and 4"

for width in (8, 16, 32):
    plain, promised = (paired.result(f"tiled_c{end}", params={"tile_width": width}) for end in ("", "_restrict"))
    assert abs(promised["gflops"] / plain["gflops"] - 1) < 0.005, "as fast with __restrict__ as without it"
for warps in (32, 64):
    one = {"tile_width": 32, "buffers": 1, "barriers": 2}
    names = {"_c_restrict": "behind", "_c": "early"}
    promised, in_the_source = (
        paired.result(f"prefetch_variants{end}", params=one | {"loads": loads}, warps=warps)
        for end, loads in names.items()
    )
    assert abs(promised["gflops"] / in_the_source["gflops"] - 1) < 0.005, "as much as early loads in the source"
    assert warps == 64 or promised["loop"]["multiply_adds_before_loads"] == [0, 4], "to the beginning of the products"
