"""Kernels outside the ladder: lowered as they are, or refused in a sentence that names the line."""

import inspect
from collections import Counter
from dataclasses import replace

import elsewhere
import numpy as np
import pytest
from elsewhere import loaded, squared
from nightly import every
from numba import cuda, float32, float64
from oracles.sources import import_kernel, import_module, line_of

from course_lib import simulate
from course_lib.kernels import TENSOR_CORES, async_copy, rung
from course_lib.kernels.async_copy import commit_copies, copy4_async, copy_async, wait_copies
from course_lib.machine import measurements, waiting
from course_lib.machine.waiting.idioms import MULTIPLY_ADD, UNIT
from course_lib.machine.waiting.instructions import groups_arrived, programs
from course_lib.machine.waiting.syntax import other_values

H200 = waiting.Machine.measured(measurements.load("latencies"))
X = np.random.default_rng(0).random(1024, np.float32)
SQUARE = np.random.default_rng(1).random((32, 32), np.float32)


def lowered(kernel, *arguments, out=None):
    """Return the program of the one warp of a launch; the last argument is the array that it stores to."""
    out = np.zeros(1024, np.float32) if out is None else out
    trace = simulate(kernel, trace=True)[1, 32](*arguments, out).trace
    (program,) = programs(kernel, trace)
    for position, instruction in enumerate(program):
        assert all(need < position for need in instruction.needs)
    assert waiting.play_programs([program], H200).cycles > 0
    return program


def kinds(kernel, *arguments, out=None):
    """Return how many instructions of each kind the warp issues."""
    return Counter(i.kind for i in lowered(kernel, *arguments, out=out))


def refused(kernel, text, message, *arguments, out=None):
    """Assert that a kernel is refused, in one sentence that begins with the line that contains `text`."""
    line = line_of(kernel, text)
    with pytest.raises(ValueError, match=f"^line {line}: [^.]*{message}") as error:
        lowered(kernel, *arguments, out=out)
    assert "; " in str(error.value), "what to do"


# --- loads in tests --------------------------------------------------------------------------------------------------


def above(A, C):
    i = cuda.threadIdx.x
    total = float32(0)
    for k in range(8):
        if A[k] > 0.5:
            total += A[k + i]
    C[i] = total


def until_zero(P, C):
    i = cuda.threadIdx.x
    k = i
    while P[k] > 0:
        k += 1
    C[i] = k


def test_what_the_test_of_an_if_loads_is_loaded_and_waited_for():
    program = lowered(above, X)
    chosen = int((X[:8] > 0.5).sum())
    assert 0 < chosen < 8
    loads = [n for n, i in enumerate(program) if i.kind == "load"]
    assert len(loads) == 8 + chosen
    guards = [i for i in program if i.arithmetic == "guard"]
    assert len(guards) == 8
    assert all(any(program[need].kind == "load" for need in guard.needs) for guard in guards)


def test_each_iteration_of_a_while_loop_waits_for_what_its_test_loads():
    P = np.ones(1024, np.int64)
    P[40:] = 0
    out = np.zeros(1024, np.int64)
    program = lowered(until_zero, P, out=out)
    # the lane that iterates longest begins at 0, or its neighbours end first
    iterations = int(out[:32].max()) - 31 + 31 + 1
    loads = [n for n, i in enumerate(program) if i.kind == "load"]
    assert len(loads) == 41 + (iterations > 41)
    decides = [i for i in program if i.arithmetic == "guard" and any(need in loads for need in i.needs)]
    assert len(decides) == len(loads)
    assert waiting.play_programs([program], H200).cycles > len(loads) * H200.latency["L1"]


def above_between_barriers(A, C):
    tile = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for k in range(A.shape[0] // 32):
        tile[i] = A[32 * k + i]
        cuda.syncthreads()
        if tile[31 - i] > 0.5:
            total += tile[i]
        cuda.syncthreads()
    C[i] = total


def test_a_test_between_barriers_loads_too():
    program = lowered(above_between_barriers, X[:128])
    assert sum(i.kind == "shared load" for i in program) == 2 * 4
    branches = [i for i in program if i.kind == "branch" and "if tile" in source_of(above_between_barriers, i.line)]
    assert len(branches) == 4


def source_of(kernel, line):
    """Return a line of a kernel's source."""
    lines, first = inspect.getsourcelines(kernel)
    return lines[line - first]


def rows_of_lengths(P, A, C):
    i = cuda.threadIdx.x
    total = float32(0)
    for k in range(P[i], P[i] + 4):
        total += A[k]
    C[i] = total


def test_a_loop_waits_for_the_loads_of_its_bounds_once():
    program = lowered(rows_of_lengths, np.full(64, 5), X)
    loads = [n for n, i in enumerate(program) if i.kind == "load"]
    assert len(loads) == 2 + 4
    assert [i.arithmetic for i in program].count("guard") == 1
    assert all(loads[0] in program[load].needs for load in loads[2:]), "the bound is in the index"


# --- what is loaded by what was loaded -----------------------------------------------------------------------------


def chase(P, C):
    i = cuda.threadIdx.x
    k = P[i]
    for _ in range(7):
        k = P[k]
    C[i] = k


def gather(P, A, C):
    i = cuda.threadIdx.x
    C[i] = A[P[i]]


def test_an_index_that_was_loaded_is_waited_for():
    P = np.arange(1024)[::-1].copy()
    chain = [i for i in lowered(chase, P, out=np.zeros(1024, np.int64)) if i.kind == "load"]
    assert [i.needs for i in chain] == [(), *((n,) for n in range(7))]
    assert [i.needs for i in lowered(gather, P, X)] == [(), (0,), (1,)]


# --- arithmetic ------------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def square_of(A, k):
    return A[k] * A[k]


@cuda.jit(device=True)
def multiplied_and_added(a, b, c):
    return a * b + c


def with_equals(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(32):
        s = s + A[k] * A[i]
    C[i] = s


def with_fma(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(32):
        s = cuda.fma(A[k], A[i], s)
    C[i] = s


def with_a_product_returned(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(32):
        s += square_of(A, k)
    C[i] = s


def with_a_sum_returned(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(32):
        s = multiplied_and_added(A[k], A[i], s)
    C[i] = s


def with_a_name(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(32):
        a = A[k]
        p = a * A[i]
        s = s + p
    C[i] = s


@pytest.mark.parametrize("kernel", [with_equals, with_fma, with_a_product_returned, with_a_sum_returned, with_a_name])
def test_a_product_that_is_added_is_one_instruction_however_it_is_written(kernel):
    """Each has two loads, and depends on the one before: the sum is one of all of them."""
    program = lowered(kernel, X)
    assert sum(i.kind == "multiply-add" for i in program) == 32
    assert sum(i.kind == "load" for i in program) == 2 * 32
    needed = [n for i in program if i.kind == "multiply-add" for n in i.needs]
    assert sorted(needed) == [n for n, i in enumerate(program) if i.kind == "load"]


def read_twice(A, C):
    i = cuda.threadIdx.x
    p = A[i] * A[i + 1]
    C[i] = p + p


def added_in_a_loop(A, n, C):
    i = cuda.threadIdx.x
    s = float32(0)
    p = A[i] * A[i + 1]
    for _ in range(n):
        s += p
    C[i] = s


def two_products(A, C):
    i = cuda.threadIdx.x
    p = A[i] * A[i + 1]
    C[i] = p + A[i + 2] * A[i + 3]


def added_in_a_loop_without_length(A, n, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(n):
        p = A[i] * A[k]
        s += p
    C[i] = s


def test_a_product_under_a_name_is_one_with_its_sum_where_nothing_else_needs_it():
    assert kinds(read_twice, X)["multiply-add"] == 2
    assert kinds(added_in_a_loop, X, 4)["multiply-add"] == 5
    assert kinds(two_products, X)["multiply-add"] == 2
    program = lowered(added_in_a_loop_without_length, X, 4)
    assert Counter(i.kind for i in program)["multiply-add"] == 4
    assert not any(i.arithmetic == "add" for i in program)


def sums_and_products(A, C):
    i = cuda.threadIdx.x
    C[i] = A[i] + A[i + 1] - A[i + 2] * A[i + 3] + -A[i] * A[i + 1]


def in_a_tuple(A, C):
    i = cuda.threadIdx.x
    pair = (A[i] * A[i + 1], A[i + 2])
    C[i] = pair[0] - pair[1]


def of_the_first(A, C):
    i = cuda.threadIdx.x
    a, b = A[i], A[i + 1]
    C[i] = a * a
    C[i + 32] = b


def test_each_of_several_names_comes_from_its_own_value():
    program = lowered(of_the_first, X)
    (product,) = (i for i in program if i.kind == "multiply-add")
    first, second = (n for n, i in enumerate(program) if i.kind == "load")
    assert product.needs == (first,)
    assert program[-1].needs == (second,)


def given_to_a_function(A, C):
    i = cuda.threadIdx.x
    C[i] = multiplied_and_added(A[i] * A[i + 1], A[i + 2] - A[i], A[i + 3])


def test_every_operation_of_floats_is_an_instruction():
    """The kernel has +, then - with its product, then + with the other, also of tuples and of arguments."""
    assert kinds(sums_and_products, X) == {"load": 6, "multiply-add": 3, "store": 1}
    assert kinds(in_a_tuple, X) == {"load": 3, "multiply-add": 2, "store": 1}
    assert kinds(given_to_a_function, X) == {"load": 5, "multiply-add": 3, "store": 1}


def scaled(A, alpha, C):
    i = cuda.threadIdx.x
    C[i] = alpha * A[i]


def test_a_number_of_the_launch_has_its_type():
    assert kinds(scaled, X, np.float32(2))["multiply-add"] == 1
    refused(scaled, "alpha * A", "of float64", X, 2.0)


def larger(A, C):
    i = cuda.threadIdx.x
    C[i] = A[i] if A[i] > A[i + 1] else A[i + 1]


def test_a_choice_between_floats_compares_and_chooses():
    program = lowered(larger, X)
    *_, compared, chosen, stored = program
    assert [i.kind for i in (compared, chosen, stored)] == ["integer", "integer", "store"]
    assert {program[need].kind for need in compared.needs} == {"load"}


def one_of_two_ways(A, C):
    i = cuda.threadIdx.x + 32 * cuda.blockIdx.x
    C[i] = A[i] * A[i + 1] if i < 32 else A[i] + A[i + 1] - A[i + 2]


def both_ways(A, C):
    i = cuda.threadIdx.x
    C[i] = A[i] * A[i + 1] if i < 16 else A[i] + A[i + 1] - A[i + 2]


def compared_after_and(A, n, C):
    i = cuda.threadIdx.x
    C[i + 32] = A[i]
    if i < n and A[i] * A[i + 1] > -1:
        C[i] = A[i]


def nothing_told(A, C):
    i = cuda.threadIdx.x
    x = A[i]
    C[i] = x * x if i < 32 else x + x  # unknown


def nothing_told_after_and(A, C):
    i = cuda.threadIdx.x
    x = A[i]
    if i < 32 and x + x > 1:  # unknown
        C[i] = x


def test_of_the_ways_of_an_expression_those_are_issued_that_the_warp_goes():
    trace = simulate(one_of_two_ways, trace=True)[2, 32](X, X.copy()).trace
    found = [Counter(i.kind for i in programs(one_of_two_ways, trace, (block, 0, 0))[0]) for block in (0, 1)]
    assert [each["multiply-add"] for each in found] == [1, 2]
    assert [each["load"] for each in found] == [2, 3]
    assert kinds(both_ways, X)["multiply-add"] == 3
    assert [kinds(compared_after_and, X, n)["multiply-add"] for n in (0, 16)] == [0, 1]
    refused(nothing_told, "# unknown", "write an if statement", X)
    refused(nothing_told_after_and, "# unknown", "write an if statement", X)


NOT_MEASURED = """\
import math
from numba import cuda, float32

def kernel(A, C):
    i = cuda.threadIdx.x
"""


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("C[i] = math.sqrt(A[i])", "math.sqrt"),
        ("C[i] = A[i] / A[i + 1]", "/ of float32"),
        ("C[i] = min(A[i], A[i + 1])", "min of float32"),
        ("C[i] = cuda.shfl_xor_sync(0xFFFFFFFF, A[i], 1)", "cuda.shfl_xor_sync"),
        ("if cuda.any_sync(0xFFFFFFFF, A[i] > 0.5):  # unknown\n    C[i] = A[i]", "cuda.any_sync"),
        ("C[i] = A[i] * 0.5", r"\* of float64"),
        ("C[i] = A[i] + float32(i)", "conversion of int32 to float32"),
        ("cuda.atomic.add(C, 0, A[i])", "cuda.atomic.add"),
        ("n = cuda.syncthreads_count(int(i < 3))  # unknown\nif n == 3:\n    C[i] = A[i]", "cuda.syncthreads_count"),
        ("assert i < 32  # unknown\nC[i] = A[i]", "assert"),
        ("C[i] = A[i]\ncuda.threadfence()  # unknown", "cuda.threadfence"),
    ],
)
def test_what_is_not_measured_is_refused(body, what, tmp_path):
    kernel = import_kernel(NOT_MEASURED + "".join(f"    {line}\n" for line in body.splitlines()), tmp_path)
    marked = next((line for line in body.splitlines() if "# unknown" in line), body)
    refused(kernel, marked, f"does not know .*{what}", X)


@pytest.mark.parametrize("r", every(3, TENSOR_CORES), ids=lambda r: r.name)
def test_the_rungs_with_tensor_cores_are_refused(r):
    rng = np.random.default_rng(0)
    A, B = (r.operand(rng.random(shape, np.float32)) for shape in ((128, 64), (64, 128)))
    kernel = r.make()
    _, block = r.launch(128, 128, 64)
    trace = simulate(kernel, trace=True)[(1, 1), block](A, B, np.zeros((128, 128), np.float32)).trace
    with pytest.raises(ValueError, match=r"line \d+: the model of waiting does not know"):
        programs(kernel, trace)


# --- chains through memory ------------------------------------------------------------------------------------------


def powers_in_shared(A, C):
    tile = cuda.shared.array((32, 4), float32)
    i = cuda.threadIdx.x
    tile[i, 0] = A[i]
    for q in range(3):
        tile[i, q + 1] = tile[i, q] * A[i]
    C[i] = tile[i, 3]


def test_loads_become_no_wide_one_across_a_store_to_their_array():
    program = lowered(powers_in_shared, X)
    assert [i.bytes for i in program if i.kind == "shared load"] == [4] * 4


def powers_in_global(A, C):
    i = cuda.threadIdx.x
    for _ in range(4):
        C[i] = C[i] * A[i]


def powers_in_one_row(A, C):
    tile = cuda.shared.array((2, 32), float32)
    other = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    tile[0, i] = A[i]
    tile[1, i] = A[i + 1]
    other[i] = A[i + 2]
    cuda.syncthreads()
    for _ in range(A.shape[0] // 256):
        tile[0, i] = tile[0, i] * tile[1, i]
        A[i] = other[i]
    cuda.syncthreads()
    C[i] = tile[0, i]


def test_loads_pass_no_store_that_may_be_to_what_they_load():
    """In global memory they pass none, since names do not exclude overlaps; in shared memory none to the same array."""

    def order(kernel, text):
        moved = [i for i in lowered(kernel, X) if i.kind.endswith(("load", "store"))]
        return "".join(i.kind.split()[-1][0] for i in moved if text in source_of(kernel, i.line))

    assert order(powers_in_global, "C[i] = C[i]") == "lls" * 4
    assert order(powers_in_one_row, "tile[0, i] = tile") == "lls" * 4
    assert order(powers_in_one_row, "other[i]\n").startswith("ll"), "the other array's pass the stores to this one"


# --- arrays of each thread's own -----------------------------------------------------------------------------------


def chosen_by_data(P, A, C):
    i = cuda.threadIdx.x
    kept = cuda.local.array(4, float32)
    for k in range(4):
        kept[k] = A[i + k]
    C[i] = kept[P[i] % 4]  # unknown


def chosen_by_thread(A, C):
    i = cuda.threadIdx.x
    kept = cuda.local.array(4, float32)
    kept[i % 4] = A[i]  # unknown
    C[i] = A[i]


def chosen_by_long_loop(A, n, C):
    i = cuda.threadIdx.x
    kept = cuda.local.array((2, 4), float32)
    for k in range(n):
        kept[1][k] = A[i + k]  # unknown
    C[i] = kept[1, 0]


@cuda.jit(device=True)
def element_of(values, k):
    return values[0, k]


def chosen_by_constants(A, n, C):
    i = cuda.threadIdx.x
    kept = cuda.local.array((2, 5), float32)
    last = 3
    for k in range(4):
        back = last - k
        kept[0, back] = A[i + k]
    for _ in range(n):
        for k in range(4):
            C[i + 32 * k] = element_of(kept, k) + kept[0, last]


def test_local_arrays_are_registers_where_the_compiler_knows_the_element():
    P = np.arange(1024)
    refused(chosen_by_data, "# unknown", "local arrays in registers", P, X)
    refused(chosen_by_thread, "# unknown", "local arrays in registers", X)
    refused(chosen_by_long_loop, "# unknown", "local arrays in registers", X, 4)
    assert kinds(chosen_by_constants, X, 2)["multiply-add"] == 2 * 4


@cuda.jit(device=True)
def total_of(A, i):
    total = A[i] + A[i + 1]
    return total


def names_it_alike(A, C):
    i = cuda.threadIdx.x
    total = total_of(A, i)
    C[i] = total


def names_it_otherwise(A, C):
    i = cuda.threadIdx.x
    t = total_of(A, i)
    C[i] = t


def test_a_name_in_a_function_and_in_its_caller_is_two():
    one, other = (lowered(kernel, X) for kernel in (names_it_alike, names_it_otherwise))
    assert [i.kind for i in one] == [i.kind for i in other] == ["load", "load", "multiply-add", "store"]
    assert [i.needs for i in one] == [i.needs for i in other]


# --- element types ----------------------------------------------------------------------------------------------------


def copied(A, C):
    i = cuda.threadIdx.x
    for k in range(4):
        C[i + 32 * k] = A[i + 32 * k]


def without_dimensions(A, C):
    i = cuda.threadIdx.x
    C[i] = A[()]


def test_an_array_without_dimensions():
    assert kinds(without_dimensions, np.array(2, np.float32)) == {"load": 1, "store": 1}


def index_by_index(A, n, C):
    i = cuda.threadIdx.x
    for k in range(n):
        C[k + 32 * i] = A[i][k]


def test_an_index_after_an_index_moves():
    assert Counter(i.arithmetic for i in lowered(index_by_index, SQUARE, 8))["signed"] == 2 * 8


def copied_through_shared(A, C):
    tile = cuda.shared.array((32, 32), float64)
    i = cuda.threadIdx.x
    for k in range(32):
        tile[k, i] = A[32 * k + i]
    cuda.syncthreads()
    for k in range(32):
        C[32 * k + i] = tile[i, k]


def summed(A, C):
    i = cuda.threadIdx.x
    total = A[i]
    for k in range(4):
        total += A[k] * A[i]  # unknown
    C[i] = total


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "int32", "float32", "int64", "float64", "complex128"])
def test_elements_of_any_size_are_moved(dtype):
    """Bytes are those of the elements, sectors those of global memory; wide elements take the passes that they need."""
    program = lowered(copied, X.astype(dtype), out=np.zeros(1024, dtype))
    size = np.dtype(dtype).itemsize
    assert Counter(i.kind for i in program) == {"load": 4, "store": 4}
    assert {i.bytes for i in program} == {size}
    assert {len(i.sectors) for i in program} == {size}
    assert {i.wavefronts for i in program} == {max(1, size // 4)}


def test_two_neighbours_of_eight_bytes_become_one_load():
    program = lowered(copied_through_shared, X.astype(float), out=np.zeros(1024))
    assert [i.bytes for i in program if i.kind == "shared load"] == [16] * 16
    assert [i.bytes for i in program if i.kind == "shared store"] == [8] * 32


@pytest.mark.parametrize(
    ("dtype", "what"),
    [
        ("int8", "products of int64 elements"),
        ("int64", "products of int64 elements"),
        ("float16", r"\* of float16"),
        ("float64", r"\* of float64"),
        ("complex64", r"\* of complex64"),
    ],
)
def test_arithmetic_of_other_types_is_refused(dtype, what):
    refused(summed, "# unknown", what, X.astype(dtype), out=np.zeros(1024, dtype))


# --- statements and loops ------------------------------------------------------------------------------------------


# fmt: off
def loop_on_a_line(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(32): s += A[k] * A[i]  # noqa: E701
    C[i] = s


def if_on_a_line(A, C):
    i = cuda.threadIdx.x
    if A[i] > 0.5: C[i] = A[i]  # noqa: E701


def two_on_a_line(A, C):
    i = cuda.threadIdx.x
    a = A[i]; b = A[i + 1]  # noqa: E702
    C[i] = a * b
# fmt: on


def test_several_statements_on_a_line_are_refused():
    for kernel, text in ((loop_on_a_line, "for k"), (if_on_a_line, "if A"), (two_on_a_line, "; b")):
        refused(kernel, text, "write each statement on its own line", X)


def while_strided(A, n, C):
    i = cuda.threadIdx.x
    while i < n:
        C[i] = A[i]
        i += cuda.blockDim.x


def for_strided(A, n, C):
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        C[i] = A[i]


def test_what_moves_in_a_while_loop_costs_index_arithmetic():
    """It is as much as in the same for loop, which updates its variable itself."""
    indices = [Counter(i.arithmetic for i in lowered(kernel, X, 256)) for kernel in (while_strided, for_strided)]
    assert indices[0]["signed"] == indices[1]["signed"] == 2 * 8
    assert (indices[0]["add"], indices[1]["add"]) == (8, 0)


def halving(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for d in (16, 8, 4, 2, 1):
        s += A[i + d]
    C[i] = s


STEPS = (16, 8, 4, 2, 1)


def halving_by_name(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for d in STEPS:
        s += A[i + d]
    C[i] = s


def elements(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for x in A:
        s += x
    C[i] = s


def test_loops_over_tuples_and_arrays():
    """A loop over a literal tuple is unrolled; any other has costs in each iteration, and a load for each element."""
    assert kinds(halving, X) == {"load": 5, "multiply-add": 5, "store": 1}
    assert Counter(i.arithmetic for i in lowered(halving_by_name, X))["loop"] >= 5
    program = lowered(elements, X[:8])
    sums = [i for i in program if i.kind == "multiply-add"]
    assert len(sums) == 8
    assert all([program[need].kind for need in i.needs] == ["load"] for i in sums)


# --- functions ------------------------------------------------------------------------------------------------------


@cuda.jit(device=True)
def sum_of_squares(A, n):
    s = float32(0)
    for k in range(n):
        s += A[k] * A[k]
    return s


def calling(function):
    """Return a kernel that calls a function by the name of a variable of its closure."""

    def calls(A, n, C):
        i = cuda.threadIdx.x
        C[i] = function(A, n)

    return calls


def by_position(A, n, C):
    i = cuda.threadIdx.x
    C[i] = sum_of_squares(A, n)


def by_name(A, n, C):
    i = cuda.threadIdx.x
    C[i] = sum_of_squares(n=n, A=A)


def by_another_name(A, n, C):
    i = cuda.threadIdx.x
    g = sum_of_squares
    C[i] = g(A, n)


@pytest.mark.parametrize("kernel", [by_name, by_another_name, calling(sum_of_squares)])
def test_a_function_is_the_same_however_it_is_called(kernel):
    def shape(program):
        return [(i.kind, i.needs, i.arithmetic, i.pace) for i in program]

    expected = lowered(by_position, X, 8)
    assert sum(i.kind == "multiply-add" for i in expected) == 8
    assert sum(i.kind == "store" for i in expected) == 1
    assert shape(lowered(kernel, X, 8)) == shape(expected)


@cuda.jit(device=True)
def row_moves(A, row, column):
    return A[row, column]


def moves_by_position(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(A.shape[0]):
        s += row_moves(A, k, i)
    C[i] = s


def moves_by_name(A, C):
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(A.shape[0]):
        s += row_moves(column=i, A=A, row=k)
    C[i] = s


def test_an_argument_by_name_moves_as_one_by_position():
    both = [Counter(i.arithmetic for i in lowered(k, SQUARE)) for k in (moves_by_position, moves_by_name)]
    assert both[0] == both[1]
    assert both[0]["signed"] == 32


def elsewhere_by_name(A, C):
    i = cuda.threadIdx.x
    C[i] = squared(A, i)  # unknown


def elsewhere_by_attribute(A, C):
    i = cuda.threadIdx.x
    C[i] = elsewhere.squared(A, i)  # unknown


def loaded_elsewhere(A, C):
    i = cuda.threadIdx.x
    C[i] = elsewhere.loaded(A, k=i) - loaded(A, i + 1)


def test_functions_of_other_files():
    """One that computes is refused under any name; one that only loads is not."""
    for kernel in (elsewhere_by_name, elsewhere_by_attribute):
        refused(kernel, "# unknown", "squared is in another file", X)
    assert kinds(loaded_elsewhere, X) == {"load": 2, "multiply-add": 1, "store": 1}


@cuda.jit(device=True)
def of_function(f, A, n):
    return f(A, n)  # unknown


def passes_a_function(A, n, C):
    i = cuda.threadIdx.x
    C[i] = of_function(sum_of_squares, A, n)


def asks_a_function(A, n, C):
    i = cuda.threadIdx.x
    if sum_of_squares(A, n) > 1:  # unknown
        C[i] = A[i]


@cuda.jit(device=True)
def plus(a, b):
    return a + b  # unknown


def adds_indices_and_elements(A, C):
    i = cuda.threadIdx.x
    j = plus(i, 1)
    C[i] = plus(A[i], A[j])


def times(n):
    @cuda.jit(device=True)
    def sums(A, i):
        s = float32(0)
        for k in range(n):
            s += A[i + k]
        return s

    return sums


twice, five_times = times(2), times(5)


def made_twice(A, C):
    i = cuda.threadIdx.x
    C[i] = twice(A, i) + five_times(A, i)


def test_what_cannot_be_told_apart_is_refused():
    with pytest.raises(ValueError, match=r"line \d+: .* cannot tell that sum_of_squares is called here; call it"):
        lowered(passes_a_function, X, 8)
    refused(asks_a_function, "# unknown", "call of sum_of_squares in the head", X, 8)
    with pytest.raises(ValueError, match=r"line \d+: plus is called with arguments of several types"):
        lowered(adds_indices_and_elements, X)
    with pytest.raises(ValueError, match=r"line \d+: sums is made several times .*; define one function for each use"):
        lowered(made_twice, X)


# --- copies --------------------------------------------------------------------------------------------------------


def few_groups(A, C):
    tile = cuda.shared.array((4, 32), float32)
    i = cuda.threadIdx.x
    copy_async(tile, 0, i, A, 0, i)
    commit_copies()
    copy_async(tile, 1, i, A, 1, i)
    commit_copies()
    wait_copies(3)
    cuda.syncthreads()
    wait_copies(1)
    cuda.syncthreads()
    wait_copies(0)
    cuda.syncthreads()
    C[i] = tile[0, i] + tile[1, i]


def copies_of_a_module(A, C):
    tile = cuda.shared.array((4, 32), float32)
    i = cuda.threadIdx.x
    async_copy.copy_async(tile, 0, i, A, 0, i)
    async_copy.commit_copies()
    async_copy.wait_copies(0)
    cuda.syncthreads()
    C[i] = tile[0, i]


def wide_copies(A, C):
    tile = cuda.shared.array((4, 32), float32)
    i = cuda.threadIdx.x
    copy4_async(tile, i // 8, i % 8 * 4, A, i // 8, i % 8 * 4)
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    C[i] = tile[0, i]


def test_a_wait_for_more_groups_than_there_are_waits_for_none():
    program = lowered(few_groups, SQUARE)
    copies = [n for n, i in enumerate(program) if i.kind == "copy"]
    assert [i.needs for i in program if i.kind == "wait"] == [(), (copies[0],), (copies[1],)]
    assert [groups_arrived([1, 2, 3], pending) for pending in range(4)] == [[1, 2], [1], [], []]


def test_copies_under_a_modules_name_are_copies():
    found = kinds(copies_of_a_module, SQUARE)
    assert (found["copy"], found["commit"], found["wait"], found["load"], found["shared store"]) == (1, 1, 1, 0, 0)
    assert [i.bytes for i in lowered(wide_copies, SQUARE) if i.kind == "copy"] == [16]


# --- names ----------------------------------------------------------------------------------------------------------


TEMPLATE = """
from numba import cuda, float32

def kernel(A, n, C):
    tile = cuda.shared.array((32, 32), float32)
    i = cuda.threadIdx.x
    {name} = float32(0)
    for start in range(0, n, 8):
        if start + i < n:
            tile[i, start % 32] = A[i, start + 1]
        cuda.syncthreads()
        for j in range(8):
            {name} += tile[j, (start + j) % 32] * tile[0, (start + j) % 32]
        if start + i < n:
            A[i, start + 1] = {name}
        cuda.syncthreads()
    C[i] = {name}
"""


def program_of(kernel):
    """Return the program of a warp, for a matrix of 64 columns."""
    trace = simulate(kernel, trace=True, strict=False)[1, 32](np.ones((32, 64), np.float32), 32, X.copy()).trace
    return programs(kernel, trace)[0]


@pytest.mark.parametrize("name", ["sum", "load", "store", "window", "local", "total"])
def test_no_name_changes_the_program(name, tmp_path):
    one, other = (program_of(import_kernel(TEMPLATE.format(name=each), tmp_path)) for each in (name, "accumulated"))
    assert [i._replace(sectors=()) for i in one] == [i._replace(sectors=()) for i in other]


def sum_that_changes(A, n, C):
    tile = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    for start in range(n):
        k = start
        if k + i < n:
            tile[i] = A[k + i]
        cuda.syncthreads()
        k += start
        if k + i < n:
            C[k + i] = tile[i]
        cuda.syncthreads()


def test_a_sum_is_made_anew_when_a_name_in_it_changes():
    """It is compared with a constant bound; the second `k + i` is another number than the first."""
    program = [i for i in lowered(sum_that_changes, X, 4) if i.iteration == 2]
    lines = Counter(source_of(sum_that_changes, i.line).strip() for i in program if i.kind == "integer")
    compared, sum_of_both, stored = 2, 2, lines["C[k + i] = tile[i]"]
    assert lines["if k + i < n:"] == 2 * (compared + sum_of_both)
    assert stored > 0


# --- choices --------------------------------------------------------------------------------------------------------


def of_a_variable(A, n, C):
    i = cuda.threadIdx.x
    for k in range(n):
        inside = k + i < n
        if inside:
            C[k + 32 * i] = A[k]


def of_itself(A, n, C):
    i = cuda.threadIdx.x
    for k in range(n):
        if k + i < n:
            C[k + 32 * i] = A[k]


def breaks(A, n, C):
    tile = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(n):
        tile[i] = A[k]
        cuda.syncthreads()
        if k > 5:
            break
    C[i] = s


def otherwise_adds(A, n, C):
    tile = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    s = float32(0)
    for k in range(n):
        tile[i] = A[k]
        cuda.syncthreads()
        if k > 5:
            s = s
        else:
            s += tile[31 - i]
        cuda.syncthreads()
    C[i] = s


def test_a_variable_that_is_tested_is_compared():
    both = [Counter(i.arithmetic for i in lowered(k, X, 32))["guard"] for k in (of_a_variable, of_itself)]
    assert both == [32, 32]


def test_only_what_chooses_values_is_no_branch():
    """A break is a branch, and so is an else that loads."""
    for kernel in (breaks, otherwise_adds):
        branches = [i for i in lowered(kernel, X, 8) if i.kind == "branch"]
        tested = [i for i in branches if source_of(kernel, i.line).strip() == "if k > 5:"]
        assert len(tested) == (7 if kernel is breaks else 8)


# --- traces ---------------------------------------------------------------------------------------------------------


def nothing(A, C):
    pass


def test_a_block_in_which_nothing_ran_was_launched_all_the_same():
    trace = simulate(nothing, trace=True)[2, 32](X, X.copy()).trace
    with pytest.raises(ValueError, match=r"nothing has no statement that ran in block \(1, 0, 0\); trace"):
        programs(nothing, trace, (1, 0, 0))
    with pytest.raises(ValueError, match=r"block \(2, 0, 0\) was not launched"):
        programs(nothing, trace, (2, 0, 0))


def test_the_trace_is_one_of_the_kernel():
    trace = simulate(copied, trace=True)[1, 32](X, X.copy()).trace
    with pytest.raises(ValueError, match="not of gather but of copied"):
        programs(gather, trace)
    with pytest.raises(ValueError, match="made by hand"):
        programs(copied, replace(trace, program=None))


def of_turns(n, table=STEPS):
    """Return a kernel of a factory."""

    def of_these_turns(A, C):
        i = cuda.threadIdx.x
        s = float32(table[0])
        for k in range(n):
            s += A[i + k]
        C[i] = s

    return of_these_turns


def test_the_trace_is_one_of_a_kernel_of_the_same_values():
    """They are those in its closure; equal arrays and functions count as the same."""
    table = np.ones(2, np.float32)
    trace = simulate(of_turns(4), trace=True)[1, 32](X, X.copy()).trace
    assert sum(i.kind == "load" for i in programs(of_turns(4, tuple([*STEPS])), trace)[0]) == 4
    with pytest.raises(ValueError, match="is of of_these_turns with another n; trace this one"):
        programs(of_turns(16), trace)
    with pytest.raises(ValueError, match="with another n and table"):
        programs(of_turns(16, table), trace)
    assert other_values(of_turns(4, table), of_turns(4, table.copy())) == []
    assert other_values(of_turns(4, table), of_turns(4, 2 * table)) == ["table"]
    assert other_values(calling(sum_of_squares), calling(sum_of_squares)) == []
    assert other_values(calling(sum_of_squares), calling(square_of)) == ["function"]


CELL = """
from numba import cuda

def kernel(A, C):
    i = cuda.threadIdx.x
    C[i] = A[i] + A[i + 1]
"""


def test_a_trace_of_what_a_kernel_was_before_is_refused(tmp_path):
    kernel = import_kernel(CELL, tmp_path)
    trace = simulate(kernel, trace=True)[1, 32](X, X.copy()).trace
    assert programs(import_kernel(CELL, tmp_path), trace) == programs(kernel, trace)
    changed = import_kernel(CELL.replace("+ A", "- A"), tmp_path)
    with pytest.raises(ValueError, match="^kernel has changed since this trace; trace it again"):
        programs(changed, trace)


FUNCTION = """
from numba import cuda

@cuda.jit(device=True)
def product(A, i):
    return A[i] * A[i + 1]


def kernel(A, C):
    i = cuda.threadIdx.x
    C[i] = product(A, i) + A[i]
"""


def test_a_function_may_be_defined_again_if_it_is_the_same(tmp_path):
    module = import_module(FUNCTION, tmp_path)
    trace = simulate(module.kernel, trace=True)[1, 32](X, X.copy()).trace
    before = programs(module.kernel, trace)
    module.product = import_module(FUNCTION, tmp_path).product
    assert programs(module.kernel, trace) == before
    module.product = import_module(FUNCTION.replace("i + 1", "i + 2"), tmp_path).product
    with pytest.raises(
        ValueError, match=r"line \d+: product has been defined again since this trace; trace the kernel"
    ):
        programs(module.kernel, trace)


def test_what_a_compiler_assumes_is_near_what_the_machine_takes():
    """The compiler's table belongs to the model of the compiler; it fits the measured machine."""
    assert pytest.approx(H200.multiply_add, rel=0.1) == MULTIPLY_ADD
    assert pytest.approx(H200.integer, rel=0.05) == UNIT["integer"][1]
    assert pytest.approx(H200.request, rel=0.05) == UNIT["load"][1]


def test_every_rung_of_one_block_is_lowered():
    for name, size in (("per_element", 16), ("single_block", 16)):
        r = rung(name)
        A, B = (np.ones((size, size), np.float32) for _ in "AB")
        grid, block = r.launch(size, size, size)
        trace = simulate(r.make(), trace=True)[grid, block](A, B, np.zeros((size, size), np.float32)).trace
        assert sum(i.kind == "multiply-add" for i in programs(r.make(), trace)[0]) == size
