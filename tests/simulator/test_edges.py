"""Kernels at the edges of the language: arrays that blocks choose, odd sources, deep nesting, tuples of functions."""

import os
import pickle

import numpy as np
import pytest
from numba import cuda, float32
from oracles.sources import import_kernel, import_module

from course_lib import KernelError, UnsupportedKernelError, simulate


@cuda.jit(device=True)
def one_more(x):
    return x + 1


@cuda.jit(device=True)
def twice(x):
    return 2 * x


@cuda.jit(device=True)
def all_meet():
    cuda.syncthreads()


lambda_function = cuda.jit(device=True)(lambda x: x + 1)


def by_expression(a, b, out):
    source = a if cuda.blockIdx.x % 2 == 0 else b
    i = cuda.grid(1)
    out[i] += source[i]


def by_statement(a, b, out):
    source = a
    if cuda.blockIdx.x % 2:
        source = b
    i = cuda.grid(1)
    out[i] += source[i]


def by_view(a, b, out):
    source = a[1:]
    if cuda.blockIdx.x % 2:
        source = b[1:]
    i = cuda.grid(1)
    if i < out.size - 1:
        out[i + 1] += source[i]


@pytest.mark.parametrize("kernel", [by_expression, by_statement, by_view])
def test_blocks_choose_between_arrays(kernel):
    """Every block takes its own; the launch begins anew for that, and adds nothing twice."""
    a, b, out = np.arange(128.0), -np.arange(128.0), np.full(128, 1000.0)
    run = simulate(kernel)[4, 32](a, b, out)
    shifted = np.arange(128) - (kernel is by_view)
    np.testing.assert_array_equal(out, 1000 + np.where(shifted // 32 % 2, b, a))
    assert run.traffic.select(array="out", op="store").accesses == 128 - (kernel is by_view)


def test_threads_of_a_warp_choose_between_arrays():
    def kernel(a, b, out):
        i = cuda.grid(1)
        source = a if i % 2 == 0 else b
        out[i] = source[i]

    with pytest.raises(UnsupportedKernelError, match="threads of one warp choose different arrays"):
        simulate(kernel)[2, 32](*np.zeros((3, 64)))


def test_a_comment_in_the_first_column(tmp_path):
    text = "if True:\n    def kernel(out):\n# out[0] = 1\n        out[0] = 2\n"
    out = np.zeros(1)
    run = simulate(import_kernel(text, tmp_path))[1, 1](out)
    assert out[0] == 2
    assert [row.line for row in run.traffic.rows] == [4]


def test_a_file_that_was_edited_after_its_import(tmp_path):
    """The text in the file is no longer what the imported function does: neither may be taken for the other."""
    module = import_module("def kernel(out):\n    out[0] = 1\n", tmp_path)
    path = module.__file__
    with open(path, "w") as file:
        file.write("def kernel(out):\n    out[0] = 2\n")
    os.utime(path, (2e9, 2e9))
    with pytest.raises(UnsupportedKernelError, match=r"has changed since it was imported; import it again"):
        simulate(module.kernel)[1, 1](np.zeros(1))


def test_an_edit_elsewhere_in_the_file_and_a_closure(tmp_path):
    inner = "    def kernel(out):\n        for k in range(n):\n            out[k] = n / 7.5\n"
    text = f"def make(n):\n{inner}    return kernel\n"
    module = import_module(text, tmp_path)
    with open(module.__file__, "a") as file:
        file.write("\nother = 1\n")
    os.utime(module.__file__, (2e9, 2e9))
    out = np.zeros(3)
    simulate(module.make(2))[1, 1](out)
    assert out.tolist() == [2 / 7.5, 2 / 7.5, 0]


def test_code_that_is_exchanged_in_a_function(tmp_path):
    """As a reloader does: the function object stays, and its code is new."""
    old, new = (import_module(f"def kernel(out):\n    out[0] = {n}\n", tmp_path).kernel for n in (1, 2))
    out = np.zeros(1)
    simulate(old)[1, 1](out)
    old.__code__ = new.__code__
    simulate(old)[1, 1](out)
    assert out[0] == 2


def test_tuples_of_functions():
    def kernel(out):
        functions = (one_more, twice)
        out[0] = functions[0](5) + 100 * functions[1](5)
        out[1] = applied(functions, 7)

    @cuda.jit(device=True)
    def applied(both, x):
        return both[1](both[0](x))

    out = np.zeros(2)
    simulate(kernel)[1, 1](out)
    assert out.tolist() == [1006, 16]


def test_a_function_beside_a_number_in_a_tuple():
    def kernel(out):
        both = (one_more, 3)
        out[0] = both[1]

    with pytest.raises(UnsupportedKernelError, match="both .*holds a function, a module or a type beside values"):
        simulate(kernel)[1, 1](np.zeros(1))


def shared_box(out):
    box = cuda.shared.array((), float32)
    out[0] = box[()]


def local_box(out):
    box = cuda.local.array((), float32)
    out[0] = box[()]


@pytest.mark.parametrize(("kernel", "space"), [(shared_box, "shared"), (local_box, "local")])
def test_an_array_without_dimensions(kernel, space):
    with pytest.raises(UnsupportedKernelError, match=f"a {space} array has at least one dimension"):
        simulate(kernel)[1, 1](np.zeros(1))


@pytest.mark.parametrize("terms", [400, 700])
def test_a_sum_of_many_terms(terms, tmp_path):
    sum_of_all = " + ".join(f"{k} * x[{k}]" for k in range(terms))
    kernel = import_kernel(f"def kernel(x, out):\n    out[0] = {sum_of_all}\n", tmp_path)
    x, out = np.arange(terms), np.zeros(1, np.int64)
    simulate(kernel)[1, 1](x, out)
    assert out[0] == sum(k * k for k in range(terms))


def test_too_many_levels(tmp_path):
    chain = "".join(f"    elif n == {k}:\n        out[0] = {k}\n" for k in range(1, 120))
    kernel = import_kernel(f"def kernel(n, out):\n    if n == 0:\n        out[0] = 0\n{chain}", tmp_path)
    with pytest.raises(UnsupportedKernelError, match="nested too deeply.*an elif is one level deeper"):
        simulate(kernel)[1, 1](3, np.zeros(1))


def test_a_traced_run_is_pickled():
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 2 * i

    run = simulate(kernel, trace=True)[1, 32](np.zeros(20))
    again = pickle.loads(pickle.dumps(run))
    assert len(again.trace.steps) == len(run.trace.steps) > 0
    assert [s.line for s in again.trace.steps] == [s.line for s in run.trace.steps]


def test_a_lambda_and_a_declared_function():
    foreign = cuda.declare_device("foreign", "int32(int32)")

    def calls_a_lambda(out):
        out[0] = lambda_function(1)

    def calls_another_language(out):
        out[0] = foreign(1)

    one, two = (lambda x: x + 1), (lambda x: x + 2)  # fmt: skip
    one = cuda.jit(device=True)(one)

    def calls_one_of_two(out):
        out[0] = one(two.__code__.co_argcount)

    out = np.zeros(1)
    simulate(calls_a_lambda)[1, 1](out)
    assert out[0] == lambda_function.py_func(1)
    with pytest.raises(
        UnsupportedKernelError, match=r"the lambda in line \d+ cannot be read by itself; write it with def"
    ):
        simulate(calls_one_of_two)[1, 1](out)
    with pytest.raises(UnsupportedKernelError, match="foreign is only declared.*write it in Python"):
        simulate(calls_another_language)[1, 1](np.zeros(1))


def test_a_barrier_in_a_function_that_is_called_in_a_branch():
    """The finding names the branch that kept the others away, which stands in the kernel."""

    def kernel(out):
        i = cuda.threadIdx.x
        if i < 32:
            all_meet()
        out[i] = 1

    with pytest.raises(KernelError) as caught:
        simulate(kernel)[1, 64](np.zeros(64))
    first = kernel.__code__.co_firstlineno
    (finding,) = caught.value.findings
    assert (finding.kind, finding.other_line) == ("barrier-divergence", first + 2)
