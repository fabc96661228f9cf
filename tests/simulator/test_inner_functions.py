"""Functions that a kernel defines, by def or lambda: each gives what Python and numba's CPU compiler give."""

import ast
import inspect
import pickle
import warnings

import numpy as np
import pytest
from numba import cuda, float32, njit

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator.language.regions import assigned_names, nodes


@cuda.jit(device=True)
def twice(function, value):
    return function(function(value))


doubled = cuda.jit(device=True)(lambda value: 2 * value)


def late_value(x, out):
    i = cuda.threadIdx.x
    scale = 1.0
    scaled = lambda v: v * scale  # noqa: E731
    scale = x[1]
    out[i] = scaled(x[i])


def value_of_each_lane(x, out):
    i = cuda.threadIdx.x
    step = 1

    def next_to(k):
        return x[k + step]

    if i % 2:
        step = 2
    out[i] = next_to(i)


def new_in_each_iteration(x, out):
    i = cuda.threadIdx.x
    total = 0.0
    for k in range(4):
        shifted = lambda v: v * k  # noqa: B023, E731
        total += shifted(x[i])
    out[i] = total


def branches_and_loop(x, out):
    i = cuda.threadIdx.x
    last = 5

    def largest(first):
        best = x[first]
        for k in range(first, last):
            if x[k] > best:
                best = x[k]
        return best

    out[i] = largest(i % 5)


def stores(x, out):
    i = cuda.threadIdx.x

    def put(k, v, twofold=2):
        out[k] = twofold * v

    put(i, x[i])
    if i > 3:
        put(i, x[i], 7)


def calls_another(x, out):
    i = cuda.threadIdx.x
    shift = x[2]

    def moved(v):
        return v + shift

    def both(v):
        return moved(v) * (lambda w: w - shift)(v)

    out[i] = both(x[i])


def own_variables(x, out):
    i = cuda.threadIdx.x
    value = 3.0

    def changed(v):
        value = v * 2
        rest = value + 1
        return rest

    rest = 5.0
    out[i] = changed(x[i]) + value + rest


KERNELS = [
    late_value,
    value_of_each_lane,
    new_in_each_iteration,
    branches_and_loop,
    stores,
    calls_another,
    own_variables,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_it_equals_python(kernel, monkeypatch):
    x = np.random.default_rng(3).random(12)
    got, want = np.zeros(8), np.zeros(8)
    simulate(kernel)[1, 8](x, got)
    for thread in range(8):
        monkeypatch.setattr(cuda, "threadIdx", type("At", (), {"x": thread}))
        kernel(x, want)
    np.testing.assert_array_equal(got, want)


def test_a_function_without_variables_is_an_argument():
    def kernel(x, out):
        i = cuda.threadIdx.x
        grown = lambda v: v + 1  # noqa: E731
        out[i] = twice(grown, x[i]) + doubled(x[i])

    x, out = np.arange(8.0), np.zeros(8)
    simulate(kernel)[1, 8](x, out)
    np.testing.assert_array_equal(out, x + 2 + 2 * x)


@cuda.jit(device=True)
def applied(function, *rest):
    return function(*rest) + len(rest)


def test_a_function_that_reads_constants_is_an_argument():
    def kernel(x, out):
        i, y = cuda.threadIdx.x, 10

        def more(a, b):
            return a * b + y

        out[i] = applied(more, x[i], 3) + applied(lambda: y) + applied(lambda *v: v[0] + len(v), *(x[i], 2))

    x, out = np.arange(8.0), np.zeros(8)
    simulate(kernel)[1, 8](x, out)
    np.testing.assert_array_equal(out, (3 * x + 10 + 2) + 10 + (x + 2 + 2))


def test_a_function_that_reads_variables_is_no_argument():
    def reads_a_variable(x):
        y = x[0]
        x[1] = applied(lambda: y)

    def reads_what_changes(x):
        y = 1
        x[1] = applied(lambda: y)
        y = 2
        x[0] = y

    for kernel in (reads_a_variable, reads_what_changes):
        with pytest.raises(UnsupportedKernelError, match="reads y .* numba knows only constants"):
            simulate(kernel)[1, 1](np.zeros(2))


def test_a_kernel_names_its_arguments():
    def kernel(*arrays):
        arrays[0][0] = 1

    with pytest.raises(UnsupportedKernelError, match="no kernel with \\*arrays"):
        simulate(kernel)[1, 1](np.zeros(2))


def exchanging(wait):
    def kernel(out):
        tile = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x

        def exchange():
            tile[i] = i
            if wait:
                cuda.syncthreads()
            out[i] = tile[63 - i]

        exchange()

    return kernel


@pytest.mark.parametrize("wait", [True, False])
def test_its_accesses_barriers_and_races_are_found_at_their_lines(wait):
    kernel, out = exchanging(wait), np.zeros(64, np.float32)
    run = simulate(kernel, strict=False)[1, 64](out)
    assert {finding.kind for finding in run.errors} == (set() if wait else {"race", "uninitialized-read"})
    assert not wait or out.tolist() == list(range(64))[::-1]
    lines = {row.array: row.line for row in run.traffic.rows if row.op == "load"}
    assert lines["tile"] == kernel.__code__.co_firstlineno + 8


def test_a_traced_run_names_its_variables():
    def kernel(x):
        i = cuda.threadIdx.x

        def grown(v):
            more = v + 1
            return more

        x[i] = grown(x[i])

    run = simulate(kernel, trace=True)[1, 2](np.zeros(2))
    for trace in (run.trace, pickle.loads(pickle.dumps(run)).trace):
        assert any("more" in step.variables for step in trace.steps)


def refuse_named(x):
    f = lambda v: v  # noqa: E731
    x[0] = f(v=1)  # here


def refuse_itself(x):
    def f(v):
        return f(v) if v else 0  # here

    x[0] = f(1)


def refuse_a_value_that_comes_later(x):
    f = lambda v: v * late  # noqa: E731  # here
    late = 2
    x[0] = f(late)


def refuse_other_arguments(x):
    def f(*v):  # here
        return v[0]

    x[0] = f(1)


def refuse_decorated(x):
    @njit
    def f(v):  # here
        return v

    x[0] = f(1)


def refuse_a_choice(x):
    if x[0] > 0:
        f = lambda v: v  # noqa: E731
    else:
        f = lambda v: 2 * v  # noqa: E731
    x[0] = f(1)  # here


def refuse_its_variables_elsewhere(x):
    n = x[0]
    f = lambda v: v + n  # noqa: E731
    x[0] = twice(f, 1)  # here


REFUSED = [value for name, value in list(globals().items()) if name.startswith("refuse_")]


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.__name__)
def test_what_numba_refuses_is_refused_too(kernel):
    with pytest.raises(UnsupportedKernelError):
        simulate(kernel)[1, 1](np.zeros(2))
    with warnings.catch_warnings(), pytest.raises(Exception):  # noqa: B017, PT011
        warnings.simplefilter("error")  # numba compiles a choice of functions on the CPU, as an experiment
        njit(kernel)(np.zeros(2))


def test_nodes_are_those_of_the_standard_library():
    tree = ast.parse(inspect.getsource(inspect))
    assert nodes(tree) == list(ast.walk(tree))
    outer = (
        "def outer():\n    a = 1\n    def inner(b=(c := 2)):\n        d = 3\n    return lambda e=(f := 4): (g := 5)\n"
    )
    assert assigned_names(ast.parse(outer).body[0].body) == {"a", "inner", "c", "f"}
