"""What the text of the lesson compares, held by what was counted and measured: runs after its last cell."""

from course_lib import show_machine_code

by_wavefronts = [times[2 * stride] / times[stride] for stride in (2, 4, 8, 16)]
slow, quick = traffic.of("bank_conflicts"), traffic.of("padded")
few, many = counted["padded"]["shared_load_wavefronts"], counted["bank_conflicts"]["shared_load_wavefronts"]
requests = counted["bank_conflicts"]["shared_load_requests"]
waits = {key: value for key, value in counted["bank_conflicts"].items() if "stalled" in key}
held = {which: entry["occupancy_percent"] for which, entry in counted.items()}
assert tiled_run.traffic.select(space="shared").bank_conflicts == 0, "the tiled kernel has no conflicts"
assert all(1.95 < longer < 2.05 for longer in by_wavefronts) and times[2] / times[1] < 1.8, "the time doubles"
assert 1.285 < gain[8] < 1.295, "it is worth 29 %"
assert 4 < no_tile / with_conflicts < 4.3, "a tile with conflicts is four times slower than no tile"
assert round(100 * (1 - with_conflicts / capped)) == 8, "so the missing warps cost 8 %"
as_many = [variants.result(which)["blocks_per_multiprocessor"] for which in ("bank_conflicts_32_registers", "padded")]
assert as_many[0] == as_many[1], "the rest of the difference is between kernels with equally many warps"
assert 4.9 < gain[32] < 5.1 and gain[4] < 1, "5 times in speed at T = 32, nothing at T = 4"
assert 4.9 < gain[32] < 5.1, "padding makes the kernel 5 times as fast"
assert 4 * requests == as_written and round(many / requests) == 17, "a quarter of the requests, 17 wavefronts for each"
codes = {which: show_machine_code(rung(which).make(tile_width=32)).code.instructions for which in counted}
wide = {which: sum(each.operation == "LDS.128" for each in code) for which, code in codes.items()}
single = {which: sum(each.operation == "LDS" for each in code) for which, code in codes.items()}
assert (wide, single) == ({"bank_conflicts": 16, "padded": 8}, {"bank_conflicts": 0, "padded": 32}), "joins four loads"
assert few < many / 5, "less than a fifth of the wavefronts"
assert slow.lowest == quick.lowest == "L1 and shared memory", "the lowest roof of both kernels"
reached = [round(100 * level.share(level.lowest)) for level in (slow, quick)]
assert reached == [90, 77], "reaches 90 % of it, and the padded kernel 77 %"
alone = [f"{level.milliseconds * level.share(level.lowest):.3g}" for level in (slow, quick)]
assert alone == ["79", "13.5"], "what L1 and shared memory alone need falls from 79 to 13.5 ms"
times_of_both = [f"{level.milliseconds:.3g}" for level in (slow, quick)]
assert times_of_both == ["87.7", "17.6"], "the measured time from 87.7 to 17.6 ms"
assert round(100 * waits["stalled_short_scoreboard_percent"] / sum(waits.values())) == 71, "71 % of all waiting"
assert 0.49 < held["bank_conflicts"] / held["padded"] < 0.51, "half as many of its warps"
assert 70 % 32 == 6, "word 70 is in bank 6"
