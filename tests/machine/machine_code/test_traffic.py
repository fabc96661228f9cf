"""Random kernels: the machine code moves what the simulator counts, but for what the compiler merged.

The accesses of each thread between two barriers are compared: the simulator's as the reference lists them (its counts
are the simulator's), the machine code's as the emulator executes them, each instruction as often as it is reached.
"""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from oracles import generator, reference
from oracles.comparison import assert_same_counts
from oracles.sources import import_kernel

from course_lib import simulate
from course_lib.machine.machine_code import available, machine_code, run_block
from course_lib.machine.machine_code.emulator import SHARED

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(not available(), reason="the compiler is not installed")]


def source_accesses(record):
    """Return {(block, thread, barriers passed, array, op): [(element, line)]}."""
    found = defaultdict(list)
    for a in record.accesses:
        found[a.block, a.thread, a.epoch[0], "" if a.space == "shared" else a.array, a.op].append(
            (a.address // a.itemsize, a.line)
        )
    return found


def machine_accesses(run, block, sizes):
    """Return the same of one block of machine code: [elements of one instruction]."""
    found = defaultdict(list)
    for warp, executed in enumerate(run.executed):
        passed = 0
        for number, place in enumerate(executed):
            passed += run.code.instructions[place].operation.startswith("BAR")
            if (access := run.accesses[warp].get(number)) is None:
                continue
            size, base = sizes[access.array], SHARED if access.space == "shared" else 0
            for lane in np.flatnonzero(access.active).tolist():
                first = int(access.addresses[lane]) - base
                elements = range(first // size, (first + access.bytes - 1) // size + 1)
                found[block, 32 * warp + lane, passed, access.array, access.op].append(elements)
    return found


def explained(source, machine):
    """Return what the compiler did to how many accesses, {(what, op): number}; fail for what has no name.

    kept; merged: an element that the thread had between the same two barriers, by another line; hoisted: by the same
    line, in another iteration; forwarded: loaded after the thread stored it, and taken from a register; ahead: loaded
    before it was known whether it is needed, from shared memory, where no load can fail; widened: elements of one
    instruction.
    """
    did = Counter()
    for key in machine.keys() | source.keys():
        *where, array, op = key
        lines = defaultdict(list)
        for element, line in source.get(key, ()):
            lines[element].append(line)
        moved = Counter(element for elements in machine.get(key, ()) for element in elements)
        stored = {element for element, _ in source.get((*where, array, "store"), ())}
        for element in lines.keys() | moved.keys():
            more = len(lines[element]) - moved[element]
            what = "merged" if len({*lines[element]}) > 1 else "hoisted"
            if more < 0:
                assert (array, op) == ("", "load"), f"element {element} of {key}: {-more} times too often"
                what = "ahead"
            elif not moved[element]:
                assert op == "load" and element in stored, f"element {element} of {key}: lost, {lines[element]}"
                what = "forwarded"
            did["kept", op] += min(moved[element], len(lines[element]))
            did[what, op] += abs(more)
        did["widened", op] += sum(len(elements) for elements in machine.get(key, ()) if len(elements) > 1)
    return did


def moved(case, folder, changed=lambda code: code):
    """Hold a kernel's machine code against the simulator; return what the compiler did."""
    kernel, arrays, right = import_kernel(case.source, folder), case.arguments(), case.arguments()
    run = simulate(kernel, strict=False)[case.grid, case.block](*arrays)
    assert [f for f in run.findings if f.kind != "float64"] == []
    record = reference.run(kernel, case.grid, case.block, *right)
    assert_same_counts(run, record)
    code, got, machine = changed(machine_code(kernel, tuple(right))), case.arguments(), {}
    names = kernel.py_func.__code__.co_varnames[: len(arrays)]
    sizes = {"": 4, **{name: array.itemsize for name, array in zip(names, right, strict=True)}}
    for x, y in np.ndindex((*case.grid, 1)[:2]):
        block = run_block(code, got, case.block, case.grid, (x, y, 0), names=names)
        machine |= machine_accesses(block, (x, y, 0), sizes)
    did = explained(source_accesses(record), machine)
    np.testing.assert_array_equal(got[-1], arrays[-1])
    np.testing.assert_allclose(got[-2], arrays[-2], rtol=1e-4)
    return did


@settings(
    max_examples=12,
    derandomize=True,
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(case=generator.counted_cases())
def test_machine_code_moves_what_the_simulator_counts(tmp_path, case):
    """Whatever the compiler did to the accesses has a name, and the results are the same."""
    moved(case, tmp_path)
