"""What a launch's machine code requests, line by line, beside what the source asks for; and why it differs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import show_machine_code
from course_lib.machine.machine_code import available, machine_code
from course_lib.machine.machine_code.as_compiled import as_compiled
from course_lib.machine.simulated_launch import simulated
from tools.lab.ordinary import own

pytestmark = pytest.mark.skipif(not available(), reason="the compiler is not installed")


@cuda.jit
def four_of_each(x, out):
    tile = cuda.shared.array((32, 4), float32)
    t = cuda.threadIdx.x
    for k in range(4):
        tile[t, k] = x[k, t]
    cuda.syncthreads()
    total = float32(0)
    for k in range(4):
        total += tile[t, k]
    out[t] = total


def launch_of(kernel, grid, block, *arguments):
    return simulated(kernel, grid, block, arguments)


def ordinary(name):
    found = next(each for each in own() if each.name == name)
    return simulated(found.kernel, found.grid, found.block, found.make())


def rows(made, **options):
    """Return {(space, op, array): row} of the rows that differ."""
    found = as_compiled(machine_code(made.kernel, made.before), made, **options)
    assert not found.why
    return {(row.space, row.op, row.array): row for row in found.rows if row.written != row.compiled}


@pytest.mark.parametrize(
    "name, key, written, compiled, cause",
    [
        ("squared", ("global", "load", "p"), (174, 2088), (87, 1044), "joined"),
        ("attracted", ("global", "load", "bodies"), (4224, 50688), (192, 2304), "hoisted"),
        ("row_sums", ("global", "load", "A"), (132, 477), (231, 528), "split"),
        ("places_in_order", ("global", "load", "wanted"), (160, 1249), (16, 125), "hoisted"),
        ("heat", ("global", "load", "u"), (280, 1258), (140, 629), "joined"),
        ("compacted", ("global", "load", "x"), (18, 68), (0, 0), "joined"),
        ("bitonic_sorted", ("shared", "store", ""), (317, 317), (318, 317), "no lane"),
    ],
)
def test_a_line_says_what_the_compiler_made_and_why(name, key, written, compiled, cause):
    """The kernels that a reader compares with a profiler; each line of theirs with one difference."""
    row = rows(ordinary(name))[key]
    assert (row.written, row.compiled, row.causes) == (written, compiled, (cause,))


def test_neighbouring_words_become_one_access():
    """Four words of a row of shared memory: one access of 16 bytes."""
    row = rows(launch_of(four_of_each, 1, 32, np.ones((4, 32), np.float32), np.zeros(32, np.float32)))[
        "shared", "load", ""
    ]
    assert (row.written.requests, row.compiled.requests, row.causes) == (4, 1, ("widened",))


@pytest.mark.parametrize("barrier", ["syncthreads_count", "syncthreads_and", "syncthreads_or"])
def test_a_barrier_that_counts_votes_is_executed(barrier):
    """In each of three blocks of two warps, other threads vote; some threads of the last one have ended."""
    vote = getattr(cuda, barrier)

    @cuda.jit
    def voted(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = vote(x[i])

    x = np.repeat(np.array([0, 1, 1], np.int32), [64, 64, 50])
    x[[3, 70]] = 1, 0
    made = simulated(voted, 3, 64, (x, np.full(178, -1, np.int32)))
    found = as_compiled(machine_code(voted, made.before), made)
    assert not found.why
    assert all(row.written == row.compiled for row in found.rows)
    of_block = {"syncthreads_count": [1, 63, 50], "syncthreads_and": [0, 0, 1], "syncthreads_or": [1, 1, 1]}[barrier]
    assert np.array_equal(made.after[1], np.repeat(of_block, [64, 64, 50]))


def test_what_the_compiler_reads_from_its_own_constants_is_named_in_its_line():
    """A sine of float64 has its table in constant memory of the compiler, which the emulator does not have."""

    @cuda.jit
    def sines(x, out):
        i = cuda.grid(1)
        out[i] = math.sin(x[i])

    made = simulated(sines, 1, 32, (np.ones(32), np.zeros(32)))
    found = as_compiled(machine_code(sines, made.before), made)
    assert "c[0x4]" in found.why
    assert all(row.written == row.compiled for row in found.rows)
    (line,) = {row.line for row in found.rows}
    assert [*found.unknown] == [line] and "not executed: LDC.64" in str(found)


def test_what_is_not_executed_has_the_counts_of_the_source_and_a_reason(monkeypatch):
    """A launch that is too long; an instruction that is not known, which its line names; other values."""
    made = ordinary("squared")
    code = machine_code(made.kernel, made.before)
    long = as_compiled(code, made, most=10)
    assert "10 instructions" in long.why and all(row.written == row.compiled for row in long.rows)
    place = next(n for n, each in enumerate(code.instructions) if each.operation == "FMUL")
    unknown = code.instructions[place]._replace(text="HMMA.16816.F32 R4, R8, R12, R4")
    instructions = (*code.instructions[:place], unknown, *code.instructions[place + 1 :])
    found = as_compiled(replace(code, instructions=instructions), made)
    assert [*found.unknown.values()] == ["HMMA.16816.F32"] and "HMMA" in found.why
    assert {*found.unknown} == {row.line for row in found.rows} and "not executed: HMMA" in str(found)
    other = code.instructions[place]._replace(text="FADD R5, R6, R6")
    wrong = replace(code, instructions=(*code.instructions[:place], other, *code.instructions[place + 1 :]))
    assert "other values" in as_compiled(wrong, made).why


def test_a_notebook_shows_both_counts_of_a_launch():
    """With grid, block and arguments, which stay as they were; without, the machine code alone."""
    p, out = np.ones((96, 3), np.float32), np.zeros(96, np.float32)
    kernel = next(each for each in own() if each.name == "squared").kernel
    shown = show_machine_code(kernel, (p, out), 96, grid=1)
    assert shown.compared is not None and not out.any()
    assert "as written 6 requests, 72 sectors / as compiled 3 requests, 36 sectors" in repr(shown)
    page = shown._repr_html_()
    assert ">6 requests, 72 sectors</td>" in page and ">3 requests, 36 sectors</td>" in page and ">joined</td>" in page
    assert show_machine_code(kernel, (p, out)).compared is None
    with pytest.raises(ValueError, match="grid, block and a tuple"):
        show_machine_code(kernel, (p, out), grid=1)
