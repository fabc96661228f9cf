"""Machine code in place of a model of the compiler: its control information, and the traced path through it."""

from functools import cache

import numpy as np
import pytest
from nightly import at_night

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.machine import measurements, waiting
from course_lib.machine.waiting.instructions import programs
from course_lib.machine.waiting.machine_code import iterations_of, machine_programs, operations, register_bank_conflicts
from course_lib.machine.waiting.probes.disassembly import CONTROL, loops, word

RECORDED = measurements.load("machine_code")
H200 = waiting.Machine.measured(measurements.load("latencies"))


@cache
def code_of(name, **params):
    """Return the recorded code of a rung, and its warps' programs as lowered from a trace."""
    r = rung(name)
    params = {**r.params, **params}
    M, N = r.tile(**params)
    A, B = np.ones((M, 160), np.float32), np.ones((160, N), np.float32)
    kernel = r.make(**params)
    grid, block = r.launch(M, N, 160, **params)
    trace = simulate(kernel, trace=True)[grid, block](A, B, np.zeros((M, N), np.float32)).trace
    recorded = next(c for c in RECORDED.results if (c["rung"], c["params"]) == (name, params))
    return recorded["code"], programs(kernel, trace)


def test_a_word_on_waiting():
    """Four cycles; counter 1 is lowered with the result, 0 when the operands are read; wait for 2 and 5."""
    bits = 4 | 1 << 5 | 0 << 8 | 0b100100 << 11
    assert word(bits << CONTROL) == "4 1 0 25"
    assert word((1 | 7 << 5 | 7 << 8) << CONTROL) == "1 - - -"


def test_loops_are_cut_out_of_a_listing():
    """A loop reaches from the target of a backward branch to that branch; every instruction has its word."""

    def line(place, text, upper):
        return f"        /*{place:04x}*/   {text} ;   /* 0x{0:016x} */\n      /* 0x{upper << CONTROL:016x} */\n"

    plain = 1 | 7 << 5 | 7 << 8
    listing = line(0, "S2R R0, SR_TID.X", plain) + ".L_x_1:\n" + line(16, "FFMA R1, R2, R3, R1", plain + 3)
    listing += line(32, "IADD3 R4, R4, 1, RZ", plain) + line(48, "@P0 BRA `(.L_x_1)", plain + 4)
    listing += line(64, "EXIT", plain)
    code = loops(listing)
    assert code[0] == ".L_x_1:"
    assert code[1:] == ["4 - - -  FFMA R1, R2, R3, R1", "1 - - -  IADD3 R4, R4, 1, RZ", "5 - - -  @P0 BRA `(.L_x_1)"]
    ops = operations(code)
    assert [(op.kind, op.pace) for op in ops] == [("multiply-add", 4), ("integer", 1), ("branch", 5)]
    assert (ops[2].guarded, ops[2].target) == (True, 0)


def test_operands_come_from_two_banks():
    """Even and odd registers are counted; the next instruction does not read a kept operand again."""
    code = [
        "1 - - -  FFMA R60, R61.reuse, R64, R60",
        "1 - - -  FFMA R59, R61, R66, R59",
        "1 - - -  FFMA R58, R61, R75, R58",
        "1 - - -  LDG.E R29, desc[UR14][R8.64]",
    ]
    assert [op.reads for op in operations(code)] == [(2, 1), (1, 1), (1, 2), (1, 1)]


@pytest.mark.parametrize(("name", "T"), [("tiled", 8), ("tiled", 16), at_night("tiled", 32), ("prefetched", 16)])
def test_machine_code_does_what_was_traced(name, T):
    """Multiply-adds, barriers and loaded sectors equal those of the traced iterations."""
    code, lowered = code_of(name, tile_width=T)
    coded = machine_programs(code, lowered, H200)
    iterations = iterations_of(lowered[0])
    assert sum(i.kind == "multiply-add" for i in coded[0]) == sum(iteration.multiply_adds for iteration in iterations)
    assert sum(i.kind == "barrier" for i in coded[0]) == sum(iteration.barriers for iteration in iterations)
    wanted = sum(
        len(i.sectors)
        for iteration in iterations
        for found in iteration.memory.values()
        for i in found
        if i.kind != "store"
    )
    assert sum(len(i.sectors) for i in coded[0]) == wanted
    for number, instruction in enumerate(coded[0]):
        assert all(need < number for need in instruction.needs)


def test_the_way_leads_through_the_loop_that_the_compiler_wrote_out():
    """The profiler counted as many instructions per multiply-add; the remainder loop has four more."""
    r = rung("naive")
    A, B = np.ones((32, 64), np.float32), np.ones((64, 32), np.float32)
    kernel = r.make(**r.params)
    grid, block = r.launch(32, 32, 64, **r.params)
    lowered = programs(kernel, simulate(kernel, trace=True)[grid, block](A, B, np.zeros((32, 32), np.float32)).trace)
    coded = machine_programs(RECORDED.result("naive")["code"], lowered[:1], H200)[0]
    counted = next(c for c in measurements.load("counters").results if (c["rung"], c["M"]) == ("naive", 4096))
    each = len(coded) / sum(i.kind == "multiply-add" for i in coded)
    assert each == 36.5 == pytest.approx(counted["instructions"] / (4096**3 / 32), rel=0.001)


def test_copies_of_machine_code_wait_for_their_group():
    """Three stages leave one group pending: an iteration waits for the copies of the iteration before the last."""
    code, lowered = code_of("pipelined", tile_width=16, stages=3)
    coded = machine_programs(code, lowered, H200)[0]
    assert sum(i.kind == "copy" for i in coded) == 2 * (len(iterations_of(lowered[0])) - 2)
    waits = [i for i in coded if i.kind == "wait"][2:]
    assert all({coded[need].kind for need in i.needs} <= {"copy"} for i in waits)
    assert any(i.needs for i in waits)


def test_code_of_another_kernel_is_refused():
    """No path through naive's loop has barriers and shared memory."""
    code, _ = code_of("tiled", tile_width=16)
    other = next(c for c in RECORDED.results if c["rung"] == "naive")["code"]
    _, lowered = code_of("tiled", tile_width=16)
    assert code != other
    with pytest.raises(ValueError, match="no path through the machine code"):
        machine_programs(other, lowered, H200)


def test_what_the_model_does_not_know_of_machine_code_is_refused():
    """The message names an unknown instruction of the loop, or says that the traced kernel has no multiply-adds."""
    code, lowered = code_of("tiled", tile_width=16)
    strange = [line.replace("LOP3.LUT", "SHFL.IDX") for line in code]
    assert strange != code
    with pytest.raises(ValueError, match="does not know the instruction '.*SHFL.IDX"):
        machine_programs(strange, lowered, H200)
    with pytest.raises(ValueError, match="no loop that multiplies and adds"):
        machine_programs(code, [[i for i in program if i.kind != "multiply-add"] for program in lowered], H200)


def test_the_order_of_the_multiplications_changes_the_registers_and_not_how_many_instructions():
    """The machine code and the loops confirm what the rung `best` says of itself and of `whole_tiles`."""
    loops_of = {r["rung"]: r["instructions"] for r in measurements.load("instructions").results}
    assert loops_of["best"] == loops_of["whole_tiles"] == 2350
    shares = []
    for name in ("best", "whole_tiles"):
        conflicts, multiply_adds = register_bank_conflicts(RECORDED.result(name)["code"])
        shares.append(round(100 * conflicts / multiply_adds))
    assert shares == [14, 20]


def test_an_operand_that_was_kept_is_not_read_again():
    """It is read again only if another instruction is in between; zero is no register."""
    again = "FFMA R1, R2, R5, R8"
    assert register_bank_conflicts([again]) == (1, 1)
    assert register_bank_conflicts(["FFMA R1, R2.reuse, R4, R7", again]) == (1, 2)
    assert register_bank_conflicts(["FFMA R1, R2.reuse, R4, R7", "LDS R3, [R9]", again]) == (2, 2)
    assert register_bank_conflicts(["FFMA R1, RZ, R2, R5"]) == (0, 1)
