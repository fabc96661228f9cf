"""Generated kernels: the simulator's values and counts equal those of slower programs that share nothing with it.

Values: the per-thread reference with numba's typing for every kernel; numba's own simulator for the kernels in
which Python's arithmetic and numba's agree (it computes int32·int32 in int32 and float32·int32 in float32, wraps
where numba does not, and raises on division by zero); numba's compiler, for the CPU, for a sample.
Counts: the reference, which lists every access of every thread.

`--nightly` runs thousands of new kernels, and shrinks what fails (which takes minutes).
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings
from nightly import NIGHTLY
from numba.core.errors import TypingError
from numba.cuda.cudadrv.driver import CudaAPIError
from oracles import generator, numba_cpu, reference, threads
from oracles.comparison import assert_same_counts
from oracles.sources import import_kernel

from course_lib import UnsupportedKernelError, simulate
from course_lib.machine import gpu


def examples(day, night):
    """Settings for this many cases: always the same ones by day, new ones every night."""
    return settings(
        max_examples=night if NIGHTLY else day,
        derandomize=not NIGHTLY,
        deadline=None,
        database=None,
        phases=list(Phase) if NIGHTLY else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def run_simulator(case, folder):
    """Simulate a case; no rule may be found broken. Return the run and the arrays after it."""
    kernel, arrays = import_kernel(case.source, folder), case.arguments()
    run = simulate(kernel, strict=False)[case.grid, case.block](*arrays)
    assert [f for f in run.findings if f.kind != "float64"] == []
    return run, arrays, kernel


def assert_same_values(case, got, right):
    for one, two in zip(got, right, strict=True):
        np.testing.assert_array_equal(one, two, err_msg=repr(case))


def check_with_reference(case, folder):
    run, arrays, kernel = run_simulator(case, folder)
    right = case.arguments()
    record = reference.run(kernel, case.grid, case.block, *right)
    assert_same_values(case, arrays, right)
    assert_same_counts(run, record)
    return arrays, record


@examples(day=5, night=1500)
@given(case=generator.cases(typed=True))
def test_typed_kernels(folder, case):
    """Mixtures of types, wrap-around, division by zero, shuffles: values and counts equal the reference's."""
    check_with_reference(case, folder)


@examples(day=5, night=1000)
@given(case=generator.cases(typed=False))
def test_plain_kernels(folder, numba_simulator, case):
    """Kernels without type trouble: values equal numba's simulator's too, and the reference finds no race in them."""
    arrays, record = check_with_reference(case, folder)
    assert (record.races(), record.uninitialized) == (set(), [])
    assert (record.negative, record.out_of_bounds) == ([], [])
    assert_same_values(case, arrays, numba_simulator.run(case.source, case.grid, case.block, case.arguments()))


@examples(day=2, night=150)
@given(case=generator.cases(typed=True, shared=False))
def test_numbas_own_code(folder, case):
    """Kernels of independent threads: values equal those of numba's compiled code, thread by thread."""
    source = case.source.replace("min(", "helper(").replace("max(", "helper(")  # NaN: fmin on a GPU only
    case = replace(case, source=source)
    _, arrays, _ = run_simulator(case, folder)
    right = case.arguments()
    try:
        numba_cpu.run(source, case.grid, case.block, right)
    except TypingError as error:
        # numba joins the types that its inference left behind, see test_typing_oracle, and refuses such an index
        assert "Unsupported array index type float64" in str(error)
        reject()
    assert_same_values(case, arrays, right)


@examples(day=15, night=600)
@given(case=generator.complex_cases(gpu=True))
def test_complex_kernels(folder, case):
    """Complex numbers and float16: values and counts equal the reference's."""
    check_with_reference(case, folder)


@examples(day=4, night=150)
@given(case=generator.complex_cases(gpu=False))
def test_complex_kernels_in_numbas_own_code(folder, case):
    """Complex numbers: values equal those of numba's compiled code."""
    _, arrays, _ = run_simulator(case, folder)
    right = case.arguments()
    right[4] = right[2]  # a CPU has no float16
    numba_cpu.run(case.source, case.grid, case.block, right)
    assert_same_values(case, arrays[:4] + arrays[5:], right[:4] + right[5:])


@examples(day=10, night=5000)
@given(case=generator.effect_cases())
def test_effects(folder, numba_simulator, case):
    """What an expression does happens once and in Python's order, even where the compiler knows its value."""
    arrays = case.arguments()
    simulate(import_kernel(case.source, folder), strict=False)[case.grid, case.block](*arrays)
    assert_same_values(case, arrays, numba_simulator.run(case.source, case.grid, case.block, case.arguments()))


def holds_none_alone(error):
    """Whether a kernel is refused because a variable is None in all threads, of which numba knows no number, either."""
    return re.search(r"None\b.*(only an array|is needed|takes an array|loops over)", str(error))


def counted(run):
    """The counts of a run that `threads` has too, by (line, array, space, op)."""
    return {(r.line, r.array, r.space, r.op): (r.accesses, r.requests, r.sectors) for r in run.traffic.rows}


@examples(day=10, night=2000)
@given(case=generator.choice_cases())
def test_choices_of_arrays(folder, numba_simulator, case):
    """Threads of a warp choose between arrays: values, counts by array and findings equal those of single threads."""
    try:
        run, arrays, kernel = run_simulator(case, folder)
    except UnsupportedKernelError as error:
        assert holds_none_alone(error)
        reject()
    right = case.arguments()
    alone = threads.ThreadByThreadLaunch(kernel, *case.grid, *case.block, *right)
    assert_same_values(case, arrays, right)
    assert counted(run) == alone.rows(), repr(case)
    assert alone.races() == set()
    assert_same_values(case, arrays, numba_simulator.run(case.source, case.grid, case.block, case.arguments()))


@examples(day=5, night=1000)
@given(case=generator.choice_cases(unordered=True))
def test_races_of_arrays_that_threads_choose(folder, case):
    """A race is found of the array that holds the element, whatever the variable is called."""
    kernel = import_kernel(case.source, folder)
    try:
        run = simulate(kernel, strict=False)[case.grid, case.block](*case.arguments())
    except UnsupportedKernelError as error:
        assert holds_none_alone(error)
        reject()
    races = threads.ThreadByThreadLaunch(kernel, *case.grid, *case.block, *case.arguments()).races()
    found = pairs_of_lines(run.findings, "race")
    assert {array for array, _ in found} == {array for array, _ in races}, repr(case)


@pytest.mark.parametrize("schedule", ["reversed", *range(5)])
@examples(day=3, night=20)
@given(case=generator.cases(typed=True))
def test_schedules(folder, schedule, case):
    """The order of the warps changes no bit, no count and no finding of a kernel without a race."""
    run, arrays, kernel = run_simulator(case, folder)
    again = case.arguments()
    other = simulate(kernel, strict=False, schedule=schedule)[case.grid, case.block](*again)
    assert_same_values(case, again, arrays)
    assert other.traffic.rows == run.traffic.rows
    assert {(f.kind, f.line) for f in other.findings} == {(f.kind, f.line) for f in run.findings}


def pairs_of_lines(findings, kind):
    """Return {(array, the two lines)} of the findings of a kind."""
    return {(f.array, frozenset({f.line, f.other_line} - {None})) for f in findings if f.kind == kind}


@examples(day=9, night=1500)
@given(case=generator.unsafe_cases())
def test_findings(folder, case):
    """In kernels that may break every rule, the simulator finds what an exhaustive search of all accesses finds."""
    kernel = import_kernel(case.source, folder)
    run = simulate(kernel, strict=False)[case.grid, case.block](*case.arguments())
    kinds = {f.kind for f in run.findings}
    try:
        record = reference.run(kernel, case.grid, case.block, *case.arguments())
    except reference.Divergence:
        assert "barrier-divergence" in kinds
        return
    assert "barrier-divergence" not in kinds
    races = record.races()
    found = pairs_of_lines(run.findings, "race")
    assert found <= races
    assert {array for array, _ in found} == {array for array, _ in races}
    for kind, noted in (("out-of-bounds", record.out_of_bounds), ("negative-index", record.negative)):
        assert {(f.array, f.line) for f in run.findings if f.kind == kind} == set(noted)
    uninitialized = {(f.array, f.line) for f in run.findings if f.kind == "uninitialized-read"}
    raced = {array for array, _ in races}
    found, noted = ({u for u in either if u[0] not in raced} for either in (uninitialized, record.uninitialized))
    assert {array for array, _ in found} == {array for array, _ in noted}
    atomics = {access.array for access in record.accesses if access.op == "atomic"}  # any of them may be the first
    assert {u for u in found if u[0] not in atomics} == {u for u in noted if u[0] not in atomics}


KERNELS = generator.cases(typed=True) | generator.complex_cases(gpu=True)
KERNELS |= generator.effect_cases() | generator.counted_cases()


@pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")
@examples(day=40, night=500)
@given(case=KERNELS)
def test_a_gpu_computes_the_same(folder, case):
    """Values are those of a real GPU, within what its fused multiply-adds and its functions round otherwise."""
    kernel, arrays, right = import_kernel(case.source, folder), case.arguments(), case.arguments()
    try:
        simulate(kernel, strict=False)[case.grid, case.block](*arrays)
        kernel[case.grid, case.block](*right)
    except CudaAPIError:
        raise
    except Exception:  # noqa: BLE001 - one of both does not compile it
        reject()
    for one, two in zip(arrays, right, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-6, err_msg=repr(case))
