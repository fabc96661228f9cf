"""Programs of machine code: what a block executes, with the compiler's control information and its accesses."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from nightly import at_night

from course_lib import show_machine_code, simulate
from course_lib.kernels import rung
from course_lib.machine import measurements
from course_lib.machine.timing_model.from_machine_code import kind_of
from course_lib.machine.timing_model.register_banks import bank_queue, lost_in_queues, register_reads
from course_lib.machine.timing_model.traced_block import traced_streams


@cache
def traced(name, depth=96, **params):
    """Return the run of one block of a rung, and the programs of its warps."""
    r = rung(name)
    params = {**r.params, **params}
    M, N = r.tile(**params) or (32, 32)
    A, B = np.ones((M, depth), np.float32), np.ones((depth, N), np.float32)
    kernel = r.make(**params)
    grid, block = r.launch(M, N, depth, **params)
    run = simulate(kernel, trace=True)[grid, block](A, B, np.zeros((M, N), np.float32))
    return run, traced_streams(kernel, run.trace)


def test_operands_come_from_two_banks():
    """Even and odd registers are counted; the next instruction does not read an operand again that is reused."""
    reused, reads = {}, []
    for text in (
        "FFMA R60, R61.reuse, R64, R60",
        "FFMA R59, R61, R66, R59",
        "FFMA R58, R61, R75, R58",
        "LDG.E R29, desc[UR14][R8.64]",
    ):
        found, reused = register_reads(text, reused)
        reads.append(found)
    assert reads == [([64, 60], [61]), ([66], [59]), ([58], [61, 75]), ([8], [9])]


@pytest.mark.parametrize(
    ("name", "params"),
    [("tiled", {"tile_width": 16}), ("prefetched", {"tile_width": 16}), ("pipelined", {}), at_night("vectorized", {})],
)
def test_programs_move_what_the_simulator_counts(name, params):
    """Multiply-adds, sectors, barriers, bytes and wavefronts of shared memory: merged loads move as much as single."""
    run, warps = traced(name, **params)
    kinds = Counter(i.kind for warp in warps for i in warp)
    counted = run.traffic.select
    M, N = (run.trace.arrays["C"].shape[axis] for axis in (0, 1))
    assert kinds["multiply-add"] >= M * N * 96 / 32
    loads = [i for warp in warps for i in warp if i.kind in ("load", "copy")]
    assert sum(len(i.sectors) for i in loads) == counted(space="global", op="load").sectors
    stored = [i for warp in warps for i in warp if i.kind == "store"]
    assert sum(len(i.sectors) for i in stored) == counted(space="global", op="store").sectors
    steps = run.trace.columns.step
    assert kinds["barrier"] == int((steps["flags"] & 1).sum())
    for number, instruction in enumerate(warps[0]):
        assert all(need < number for need in instruction.needs)


def test_four_loads_merged_into_one_cost_their_own_wavefronts():
    """Four of A's elements in one load, the same for half a warp: two wavefronts, where four loads take four."""
    _, warps = traced("tiled", tile_width=16)
    merged = [i for i in warps[0] if i.kind == "shared load" and i.bytes == 16]
    assert merged and {i.wavefronts for i in merged} == {2}


def test_naive_executes_what_the_profiler_counted():
    """As many instructions for each multiply-add in the unrolled loop, within a thousandth."""
    _, warps = traced("naive", block_width=32)
    inside = [i for i in warps[0] if i.iteration]
    counted = next(c for c in measurements.load("counters").results if (c["rung"], c["M"]) == ("naive", 4096))
    each = len(inside) / sum(i.kind == "multiply-add" for i in inside)
    assert each == pytest.approx(counted["instructions"] / (4096**3 / 32), rel=0.001)


@pytest.mark.parametrize("name", ["naive", "tiled", "bank_conflicts", at_night("register_1d"), at_night("register_2d")])
def test_units_take_what_the_profiler_counted(name):
    """Instructions of the main loop for each multiply-add, of the integer, product and uniform units, within 0.1."""
    r = next(r for r in measurements.load("variants").results if r["rung"] == name)
    cycles = r["instructions"] / (4096**3 / 32) / r["issue_active_percent"] * 100
    seen = [r[f"{pipe}_percent"] / 100 * cycles * rate for pipe, rate in (("alu", 0.5), ("fma", 1), ("uniform", 0.5))]
    kinds = Counter(i.kind for warp in traced(name, **r["params"])[1] for i in warp if i.iteration)
    products = kinds["multiply-add"] + kinds["multiply"] + kinds["wide multiply"]
    found = [n / kinds["multiply-add"] for n in (kinds["integer"], products, kinds["uniform"])]
    assert found == pytest.approx(seen, abs=0.1)


def test_copies_of_machine_code_wait_for_their_group():
    """Three stages leave one group pending: an iteration waits for the copies of the iteration before the last."""
    _, warps = traced("pipelined", tile_width=16, stages=3)
    assert sum(i.kind == "copy" for i in warps[0]) == 2 * 6
    waits = [i for i in warps[0] if i.kind == "wait"]
    assert all({warps[0][need].kind for need in i.needs} <= {"copy"} for i in waits)
    assert any(i.needs for i in waits)


def test_an_operation_whose_time_is_not_known_is_refused():
    with pytest.raises(ValueError, match="does not know the instruction HGMMA"):
        kind_of("HGMMA.64x256x16.F32.BF16")
    assert (kind_of("ULOP3.LUT"), kind_of("SHFL.IDX"), kind_of("LDGSTS.E")) == ("uniform", "shared load", "copy")


def test_the_order_of_the_multiplications_changes_the_registers_and_not_how_many_instructions():
    """The machine code and the loops confirm what the rung `best` says of itself and of `whole_tiles`."""
    loops_of = {r["rung"]: r["instructions"] for r in measurements.load("instructions").results}
    assert loops_of["best"] == loops_of["whole_tiles"] == 2350
    codes = [show_machine_code(rung(name).make()).code.instructions for name in ("best", "whole_tiles")]
    assert [round(lost_in_queues([each.text for each in code]), 2) for code in codes] == [0.14, 0.17]


def test_an_operand_that_was_kept_is_not_delivered_again():
    """It is delivered again if another instruction is in between; zero is no register."""
    again = "FFMA R1, R2, R5, R8"
    assert bank_queue([again]) == [(0, [2, 8], [5])]
    assert bank_queue(["FFMA R1, R2.reuse, R4, R7", again]) == [(0, [2, 4], [7]), (2, [8], [5])]
    assert bank_queue(["FFMA R1, R2.reuse, R4, R7", "LDS R3, [R9]", again]) == [(0, [2, 4], [7]), (2, [2, 8], [5])]
    assert bank_queue(["FFMA R1, RZ, R2, R5"]) == [(0, [2], [5])]
    assert (lost_in_queues([again, again]), lost_in_queues([])) == (0.5, 0)
