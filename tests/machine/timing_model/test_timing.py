"""The timing model: exact results in simple cases, and its distance from measurements."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from nightly import NIGHTLY, at_night

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.machine import measurements, timing_model
from course_lib.machine.timing_model import predictions
from course_lib.machine.timing_model.instruction_streams import Instruction
from course_lib.machine.timing_model.predictions import STALLS
from course_lib.machine.timing_model.stall_reasons import reasons, stalls_of
from course_lib.machine.timing_model.traced_block import traced_streams
from tools.lab.__main__ import main
from tools.lab.predictions import ordered, table

H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
JUDGED = measurements.load("predictions").results


def traced(name, M, N, K, **params):
    """Return a kernel of the ladder and the trace of its launch."""
    r = rung(name)
    params = {**r.params, **params}
    rng = np.random.default_rng(0)
    A, B = rng.random((M, K), np.float32), rng.random((K, N), np.float32)
    kernel = r.make(**params)
    grid, block = r.launch(M, N, K, **params)
    return kernel, simulate(kernel, trace=True)[grid, block](A, B, np.zeros((M, N), np.float32)).trace


def test_the_machine_is_what_was_measured():
    """Latencies are as recorded; DRAM delivers 64 bytes at a time, since only the next 32 arrive faster."""
    values = {r["probe"]: r["value"] for r in measurements.load("latencies").results}
    assert H200.latency["DRAM"] == values["DRAM latency"] > 2 * H200.latency["L2"] > 10 * H200.latency["L1"]
    assert H200.dram_bytes == 64
    assert all(cycles > 0 for cycles in (H200.copy, *H200.barrier))
    assert (round(H200.request, 1), round(H200.constant_request, 1)) == (4.0, 8.1)
    assert values["clock"] < H200.hertz == measurements.load("latencies").provenance["clock_hertz"]
    assert H200.wavefront == pytest.approx(1, abs=1e-4)  # shared reads of 1 to 32 wavefronts


def test_a_chain_waits_for_every_link():
    """64 dependent multiply-adds take 64 latencies; 64 independent ones take a cycle each."""
    timing = timing_model.simulate_warps([predictions.chain("multiply-add")], H200)
    assert timing.cycles == pytest.approx(63 * H200.multiply_add + 1)
    assert timing.waits["arithmetic"] == pytest.approx(63 * (H200.multiply_add - 1) / timing.cycles)
    assert timing_model.simulate_warps([[Instruction("multiply-add", 0)] * 64], H200).cycles == 64


def test_a_scheduler_stays_with_its_warp():
    """Of three warps on one scheduler one issues all it has, then the next: they do not alternate."""
    one = replace(H200, schedulers=1)
    timing = timing_model.simulate_warps([[Instruction("multiply-add", 0)] * 16] * 3, one)
    assert [spans[-1][2] for spans in timing.spans] == [16, 32, 48]


def test_the_block_that_began_first_goes_first():
    """Of three one-warp blocks with pauses after instructions the first is not delayed; the others fill its pauses."""
    one = replace(H200, schedulers=1)
    timing = timing_model.simulate_warps([[Instruction("multiply-add", 0, pace=2)] * 16], one, blocks=3, rounds=2)
    ends = [[last for reason, _, last in spans if reason == "issuing"] for spans in timing.spans]
    assert [times[15] for times in ends] == [31, 32, 63], "the third has the first's place when that is done"
    assert max(times[-1] for times in ends) == pytest.approx(96, abs=2), "no slot is lost before the last one's gaps"


def test_a_warp_waits_for_the_unit_or_is_not_selected():
    """As in a profiler, a ready warp is not selected in a cycle in which another one issues."""
    one = replace(H200, schedulers=1, integer=2.0)
    timing = timing_model.simulate_warps([[Instruction("integer", 0)] * 16] * 2, one)
    waits = Counter()
    for reason, first, last in timing.spans[1]:
        waits[reason] += last - first
    assert timing.cycles == pytest.approx(64, abs=1)
    assert waits["not selected"] == pytest.approx(16)
    assert waits["arithmetic"] == pytest.approx(16 + 15)


#: The largest relative errors of two probes, of which README.md says why, and of all others.
BOUNDS = {"asked for, store": 0.32, "warps without turns": 0.29, "": 0.1}


def test_the_kernels_that_measured_the_machine_are_predicted(monkeypatch):
    """Barriers, lists of addresses, lines of DRAM, bank conflicts, copies, outer products, which warp goes first."""
    monkeypatch.setattr(predictions, "ITERATIONS", 64 if NIGHTLY else 16)
    found = predictions.probes()
    assert len(found) == 61
    assert [r for r in found if abs(r["error"]) > BOUNDS.get(r["probe"], BOUNDS[""])] == []


def test_dram_gives_once_what_several_blocks_load():
    """Of four blocks that load the same data each asks DRAM for a quarter; in step, all wait, and its share is four."""
    alike = replace(H200, dram_spread=())
    walks = [[Instruction("load", 0, sectors=(("x", 128 * w + 2 * i),)) for i in range(64)] for w in range(8)]
    alone, step, turns = (
        timing_model.simulate_warps(walks, alike, served="DRAM", loaded_by={"x": by}, in_step=in_step).fetches
        for by, in_step in ((1, True), (4, True), (4, False))
    )
    last, shared = (fetches[-1][1] - H200.latency["DRAM"] for fetches in (alone, step))
    assert last == pytest.approx(512 * 64 / H200.bytes_per_cycle["DRAM"], rel=0.05)
    assert shared == pytest.approx(last / 4, rel=0.2)
    late = sum(arrival - start > H200.latency["DRAM"] * 0.9 for start, arrival in turns)
    assert late == pytest.approx(len(alone) / 4, rel=0.2)


def test_a_scheduler_sends_a_request_every_four_cycles():
    """All four schedulers together send one a cycle, the capacity of the path to shared memory."""
    stores = [Instruction("shared store", 0, wavefronts=1)] * 64
    alone, all_four = (timing_model.simulate_warps([stores] * warps, H200).cycles for warps in (1, 4))
    assert alone == pytest.approx(all_four, rel=0.05) == pytest.approx(64 * H200.request, rel=0.1)


def test_a_bank_of_registers_gives_one_operand_a_cycle():
    """Two operands from the even registers take two cycles, one from each bank one."""
    for reads, cycles in (((2, 0), 2), ((1, 1), 1), ((0, 3), 3)):
        timing = timing_model.simulate_warps([[Instruction("multiply-add", 0, reads=reads)] * 64], H200)
        assert timing.cycles == pytest.approx(64 * cycles, abs=cycles)


def test_a_value_of_the_whole_warp_costs_its_reader_a_turn_of_that_unit():
    """The cycles of 32 warps are as measured: a step changes uniform values by 4 instructions each, 4 more use each.

    If those kept no unit, such a step would take 8 cycles, not 12.6.
    """
    measured = [r for r in measurements.load("latencies").results if r["probe"] == "values of a warp"]
    assert sorted((r["values"], r["readers"]) for r in measured) == [(1, 0), (1, 1), (2, 0), (2, 2)]
    change, use = Instruction("uniform", 0), Instruction("integer", 0, uniform_read=True)
    for r in measured:
        turn = [change, use] * 2 if r["readers"] else [change] * 2
        cycles = timing_model.simulate_warps([turn * 2 * r["values"] * 32] * 32, H200).cycles / 32 / 8
        assert cycles == pytest.approx(r["value"], rel=0.05)


def test_the_ways_to_lines_differ():
    """They differ as measured around the latency of the second-level cache, always equally for the same line."""
    loads = [[Instruction("load", 0, sectors=(("x", 4 * i),))] for i in range(256)]
    waits = [timing_model.simulate_warps([load], H200).fetches[0] for load in loads]
    taken = [arrived - asked for asked, arrived in waits]
    assert len(set(np.round(taken, 3))) == len(set(H200.spread)) > 10
    assert np.mean(taken) == pytest.approx(H200.latency["L2"], abs=6)
    assert [timing_model.simulate_warps([load], H200).fetches[0] for load in loads] == waits


def test_blocks_follow_each_other():
    """Two rounds of a block take twice as long as one, with twice as many iterations and memory of their own."""
    walk = [Instruction("load", 0, sectors=(("x", i),), iteration=i + 1) for i in range(8)]
    once, twice = (timing_model.simulate_warps([walk], H200, rounds=rounds) for rounds in (1, 2))
    assert twice.issued == 2 * once.issued
    assert (len(twice.iterations[0]), twice.bytes_loaded) == (16, 2 * once.bytes_loaded)


def test_bytes_in_flight_are_latency_times_bandwidth():
    """Of warps that follow lists, twice as many load twice as much a cycle, until the bandwidth is reached."""
    rates = {}
    for warps in (1, 2, 64):
        lists = [[tuple(("x", 256 * w + 4 * i + s) for s in range(4)) for i in range(64)] for w in range(warps)]
        walks = [predictions.chain("load", 0, sectors.__getitem__) for sectors in lists]
        timing = timing_model.simulate_warps(walks, H200)
        rates[warps] = timing.bytes_loaded / timing.cycles
        assert timing.in_flight == pytest.approx(rates[warps] * H200.latency["L2"], rel=0.25)
    assert rates[2] == pytest.approx(2 * rates[1], rel=0.05)
    assert rates[64] == pytest.approx(min(64 * rates[1], H200.bytes_per_cycle["L2"]), rel=0.15)


def test_a_sector_is_fetched_once():
    """A second warp finds it in the first-level cache, or waits for the same arrival."""
    load = Instruction("load", 0, sectors=(("x", 7),))
    timing = timing_model.simulate_warps([[load], [load]], H200, served="DRAM")
    assert timing.bytes_loaded == 32


def test_nobody_passes_a_barrier_alone():
    """A warp without work waits for the one that loads."""
    slow = [
        Instruction("load", 0, sectors=(("x", 0),)),
        Instruction("multiply-add", 0, (0,)),
        Instruction("barrier", 0),
    ]
    timing = timing_model.simulate_warps([slow, [Instruction("barrier", 0)]], H200)
    waits = [(reason, last - first) for reason, first, last in timing.spans[1] if reason == "barrier"]
    assert waits[0][1] > H200.latency["L2"]
    assert timing.waits["global memory"] > 0.3


ADDS = [Instruction("multiply-add", 0)] * 4
GATE = Instruction("barrier", 0)


def test_who_has_ended_is_not_waited_for():
    """A warp passes a barrier that other warps have left before, or have no part in, as on a GPU."""
    for other in ([*ADDS], []):
        timing = timing_model.simulate_warps([[GATE, *ADDS], other], H200)
        assert timing.issued == 5 + len(other)
        assert timing.spans[0][-1][0] == "issuing"
    assert timing.spans[1] == ()


def test_a_warp_ends_when_its_last_barrier_opens():
    """Its next block does not begin before, and no cycle of a warp is counted twice."""
    timing = timing_model.simulate_warps([[*ADDS, GATE]] * 4, H200, rounds=2)
    for spans in timing.spans:
        assert all(a[2] <= b[1] for a, b in zip(spans, spans[1:], strict=False))
        assert [reason for reason, *_ in spans].count("barrier") == 2
    assert timing.cycles == max(last for spans in timing.spans for *_, last in spans)


@pytest.mark.parametrize("size", [(9, 3, 5), (1, 1, 1), (32, 32, 32)])
def test_blocks_with_idle_warps_are_simulated(size):
    """Naive in blocks of 16×16: beyond the matrix whole warps have no work."""
    kernel, trace = traced("naive", *size)
    timing = timing_model.simulate_blocks(kernel, trace, H200)
    lengths = [len(stream) for stream in traced_streams(kernel, trace)]
    assert len(timing.spans) == len(lengths)
    assert min(lengths) < max(lengths) or size == (32, 32, 32)


def test_what_cannot_be_simulated_is_refused():
    """The message is a sentence that lists what there is."""
    adds = [ADDS]
    kernel, trace = traced("tiled", 16, 16, 64, tile_width=16)
    for call, says in (
        (lambda: timing_model.simulate_warps(adds, H200, blocks=0), "one or more, not 0"),
        (lambda: timing_model.simulate_warps(adds, H200, blocks=1.5), "a whole number of blocks, one or more, not 1.5"),
        (
            lambda: timing_model.simulate_warps(adds, H200, blocks=33),
            "33 blocks of 1 warps do not fit: .* of 32 blocks",
        ),
        (
            lambda: timing_model.simulate_warps(adds * 32, H200, blocks=3),
            "3 blocks of 32 warps do not fit: .* 64 warps",
        ),
        (lambda: timing_model.simulate_warps(adds, H200, served=None), 'from "DRAM", "L2", not from "None"'),
        (
            lambda: timing_model.simulate_warps(adds, H200).share("global"),
            "reason is 'global'; choose from .*global memory",
        ),
        (lambda: timing_model.simulate_warps(adds, H200, rounds=0), "rounds must be a whole number, 1 or more"),
        (lambda: timing_model.simulate_warps([[]], H200), "no warp of the traced block issues anything"),
        (lambda: timing_model.simulate_warps([], H200), "no warp of the traced block issues anything"),
        (lambda: timing_model.simulate_warps(adds, H200, served="l2"), 'from "DRAM", "L2", not from "l2"'),
        (
            lambda: timing_model.simulate_warps(adds, H200, 4, shared_bytes=200_000),
            "4 blocks with 200,000 bytes .* 262,144",
        ),
        (lambda: timing_model.simulate_warps([[GATE]], H200).cycles_per_iteration(), "larger K"),
        (lambda: timing_model.Multiprocessor.measured(measurements.load("ladder")), "not of ladder"),
    ):
        with pytest.raises(ValueError, match=says):
            call()


def test_what_is_no_trace_and_no_multiprocessor_is_refused():
    """A student forgot `trace=True` or `.trace`, or passed the recording instead of the multiprocessor."""
    kernel, trace = traced("tiled", 16, 16, 64, tile_width=16)
    for wrong in (None, simulate(kernel)):
        with pytest.raises(
            TypeError, match=r"streams of instructions are made of the trace of a run, not .*trace=True.*\.trace"
        ):
            timing_model.simulate_blocks(kernel, wrong, H200)
    with pytest.raises(TypeError, match="multiprocessor is a Recording; give a Multiprocessor"):
        timing_model.simulate_blocks(kernel, trace, measurements.load("latencies"))


def test_a_blocks_shared_arrays_are_taken_from_the_cache():
    """Two tiles of 4×4 float32 are 128 bytes; of a cache of 256 two blocks leave nothing for the next iteration."""
    kernel, trace = traced("tiled", 4, 4, 64, tile_width=4)
    small = replace(H200, l1_bytes=2 * 128)
    warps = traced_streams(kernel, trace)
    given, none = (timing_model.simulate_warps(warps, small, 2, shared_bytes=size) for size in (128, 0))
    assert timing_model.simulate_blocks(kernel, trace, small, 2) == given != none
    with pytest.raises(ValueError, match="3 blocks with 128 bytes"):
        timing_model.simulate_blocks(kernel, trace, small, 3)


@pytest.mark.parametrize("name", ["vectorized", *map(at_night, ("warp_tiled", "register_2d", "whole_tiles", "best"))])
def test_blocks_take_turns_in_waiting_for_dram(name):
    """What matrices in DRAM cost a launch beside matrices in the second-level cache is as measured, within 5 %."""
    r = next(r for r in measurements.load("cold").results if r["rung"] == name)
    seen = np.median(r["warm_milliseconds"]) / np.median(r["cold_milliseconds"])
    launch = predictions.launch_of(r, H200, measurements.load("cold"))
    share = launch.gflops() / replace(launch, cached=True).gflops()

    assert share == pytest.approx(seen, abs=0.05)


def residency(width, warps, rung="prefetched", what="residency"):
    """Return the predicted and the measured speed of a rung over that of tiled."""
    rows = {
        r["rung"]: r
        for r in JUDGED
        if r["what"] == what
        and (r["params"].get("tile_width"), r["warps"]) == (width, warps)
        and r["params"].get("stages", 3) == 3
    }
    return tuple(rows[rung][what] / rows["tiled"][what] for what in ("predicted", "measured"))


CASES = [(8, w) for w in (2, 4, 8, 16, 32, 64)] + [(16, w) for w in (8, 16, 32, 64)] + [(32, w) for w in (32, 64)]


@pytest.mark.parametrize("what", ["cached", "residency"])
@pytest.mark.parametrize(("width", "warps"), CASES)
def test_the_model_says_whether_prefetching_pays(width, warps, what):
    """The predictions agree wherever it changes the speed by more than 3 %, but for one that README tells."""
    predicted, measured = residency(width, warps, what=what)
    if abs(measured - 1) > 0.03 and (width, warps) != (16, 64):
        assert (predicted > 1) == (measured > 1)


@pytest.mark.parametrize("what", ["ladder", "capstone"])
def test_the_errors_of_the_ladder_and_of_students_kernels_are_small(what):
    """Half of the speeds are within 5 %, all within 15 %; each of a rung is one that was measured."""
    errors = {r["rung"]: abs(r["error"]) for r in JUDGED if r["what"] == what}
    assert np.median(list(errors.values())) <= 0.05 and max(errors.values()) <= 0.15
    measured = {r["rung"] for r in measurements.load("ladder").results if "gflops" in r} - {"cublas"}
    assert set(errors) <= measured if what == "ladder" else len(errors) == 24


@pytest.mark.nightly
def test_the_recorded_predictions_are_the_models():
    """The recorded table of a few rungs equals the present model, which simulates recorded or compiled code."""
    names = ("tiled", "outer_product") if NIGHTLY else ("tiled",)
    now = {
        r["rung"]: r
        for r in predictions.launches(lambda items, label: [i for i in items if i["rung"] in names], "ladder")
    }
    recorded = {r["rung"]: r for r in JUDGED if r["what"] == "ladder"}
    for name in names:
        for key in ("cycles", "predicted"):
            assert now[name][key] == pytest.approx(recorded[name][key])
    assert "outer_product" in table(JUDGED)


def test_the_command_writes_what_it_prints(tmp_path, monkeypatch, capsys):
    """It writes into a folder that it creates before it begins, since the simulations take minutes."""
    monkeypatch.setattr("course_lib.machine.timing_model.predictions.rows", lambda progress, gpu: JUDGED)
    assert main(["predictions", "--output", str(tmp_path / "new" / "folder")]) == 0
    assert capsys.readouterr().out == table(JUDGED) + "\n"
    assert json.loads((tmp_path / "new" / "folder" / "predictions.json").read_text())["results"] == JUDGED


def test_the_cases_of_residency():
    """Half of the cases are within 5 %; of all ordered pairs three are in the wrong order, where two are the aim."""
    rows = [r for r in JUDGED if r["what"] == "residency"]
    assert np.median([abs(r["error"]) for r in rows]) <= 0.05
    for what in ("cached", "residency"):
        wrong, pairs = ordered(JUDGED, what)
        assert pairs > 250
        assert len(wrong) <= 3


def test_matrices_that_the_cache_does_not_keep_cost_tiled_more_than_prefetched():
    """A launch brings every line from DRAM once; the model shows the two measured consequences.

    With 32 warps of T = 16 it decides whether fetching ahead pays, and for T = 8 whether prefetched with 64 warps is
    faster than tiled with 32.
    """
    cached, brought = residency(16, 32, what="cached"), residency(16, 32)
    assert cached[1] < 1 < brought[1]
    assert cached[0] < brought[0] - 0.05
    for key in ("measured", "predicted"):
        speeds = {
            (r["what"], r["rung"], r["warps"]): r[key]
            for r in JUDGED
            if r["what"] in ("cached", "residency") and r["params"].get("tile_width") == 8
        }
        ahead = {what: speeds[what, "prefetched", 64] / speeds[what, "tiled", 32] for what in ("cached", "residency")}
        assert ahead["residency"] > 1 > ahead["cached"]


def test_the_stalls_of_a_reason_add_up_to_it():
    """Nsight Compute's stalls, by its own names, beside the reasons of the model that they are sorted into."""
    for r in JUDGED:
        if r["what"] in ("ladder", "residency", "cached"):
            stalls = stalls_of(r)
            for reason, names in STALLS.items():
                assert sum(stalls[name] for name in names) == pytest.approx(r["measured_waits"][reason]), r["rung"]


def test_a_full_queue_is_not_called_a_value_on_its_way():
    """tiled waits mostly for a place in the queue to shared memory, bank_conflicts for values."""
    of = {r["rung"]: r for r in JUDGED if r["what"] == "ladder"}
    queue, value = (stalls_of(of[name]) for name in ("tiled", "bank_conflicts"))
    assert queue["mio_throttle"] > 4 * queue["short_scoreboard"]
    assert value["short_scoreboard"] > 4 * value["mio_throttle"]
    (line,) = repr(reasons([of["tiled"]])).splitlines()[1:]
    assert line.index("mio_throttle") < line.index("short_scoreboard")


def test_the_reasons_stand_beside_the_profilers():
    """Each kernel has a line with its three largest reasons, as sampled and as modelled."""
    rows = [r for r in JUDGED if r["what"] == "ladder"]
    table = reasons(rows)
    lines = repr(table).splitlines()
    assert len(lines) == len(rows) + 1
    assert all(line.count(" %") == 6 for line in lines[1:])
    assert table._repr_html_().count("<td") == 2 * len(rows)
    assert " %" not in table._repr_html_() and ", " in table._repr_html_()  # a number stays beside its %


def test_what_was_not_counted_has_the_reasons_of_the_model_alone():
    (row, *_) = (r for r in JUDGED if r["what"] == "ladder")
    uncounted = {key: value for key, value in row.items() if key != "measured_waits"}
    ((_, known, modelled),), ((_, unknown, same),) = reasons([row]).rows, reasons([uncounted]).rows
    assert same == modelled and known != unknown == "not recorded"
