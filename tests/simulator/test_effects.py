"""What an expression does happens once and in Python's order, even where the compiler knows its value.

The kernels' functions write down, in the order of their calls, who called them. Numba's own simulator, which runs the
kernel as plain Python, says what must be there.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, int64
from oracles.numba_simulator import NumbaSimulator
from oracles.sources import import_kernel
from simulator.test_differential import examples

from course_lib import UnsupportedKernelError, simulate

PROGRAM = """\
from collections import namedtuple
from numba import cuda

Point = namedtuple("Point", "x y")

@cuda.jit(device=True)
def one(c, i, k):
    c[i, 0] += 1
    c[i, k] = 10 * c[i, k] + c[i, 0]
    return k

@cuda.jit(device=True)
def pair(c, i, k):
    return one(c, i, k), k + 1

@cuda.jit(device=True)
def none(c, i, k):
    c[i, k] = 10 * c[i, k] + one(c, i, k)

@cuda.jit(device=True)
def flag(c, i, k):
    return (one(c, i, k) + i) % 2 == 0

@cuda.jit(device=True)
def same(c, i, k):
    one(c, i, k)
    return c

@cuda.jit
def kernel(c, out):
    i = cuda.grid(1)
"""
THREADS, CALLERS = 4, 6

CALLER = st.integers(1, CALLERS)
NUMBERS, TUPLES, CONDITIONS = (st.deferred(lambda name=name: globals()[name]) for name in ("NUMBER", "TUPLE", "TRUTH"))


def written(form, *parts):
    return st.builds(lambda *given: form.format(*given), *parts)


ARRAY = written("same(c, i, {})", CALLER)
NUMBER = st.one_of(
    written("one(c, i, {})", CALLER),
    st.integers(0, 3).map(str),
    st.just("i"),
    written("cuda.atomic.add(c, (i, {}), 1)", CALLER),
    written("({})[{}]", TUPLES, st.integers(0, 1)),
    written("({})[:2][-1]", TUPLES),
    written("len({})", TUPLES),
    written("len({})", ARRAY),
    written("{}.ndim", ARRAY),
    written("{}.shape[{}]", ARRAY, st.integers(0, 1)),
    written("{}[i, {}]", ARRAY, CALLER),
    written("Point(y={}, x={}).x", NUMBERS, NUMBERS),
    written("Point({}, {}).y", NUMBERS, NUMBERS),
    written("divmod({}, 3)[{}]", NUMBERS, st.integers(0, 1)),
    written("({} if {} else {})", NUMBERS, CONDITIONS, NUMBERS),
    written("({} + {})", NUMBERS, NUMBERS),
    written("({} {} {})", NUMBERS, st.sampled_from(["and", "or"]), NUMBERS),
    written("max({}, {})", NUMBERS, NUMBERS),
    written("one({}, i, 1 + {} % 5)", ARRAY, NUMBERS),
)
TUPLE = st.one_of(
    written("pair(c, i, {})", CALLER),
    written("({}, {})", NUMBERS, NUMBERS),
    written("({}, {}, {})", NUMBERS, NUMBERS, NUMBERS),
    written("({} + {})", TUPLES, TUPLES),
    written("({} + {})[1:]", TUPLES, TUPLES),
    written("{}.shape", ARRAY),
    written("Point(y={}, x={})", NUMBERS, NUMBERS),
)
TRUTH = st.one_of(
    written("flag(c, i, {})", CALLER),
    written("{} < {}", NUMBERS, NUMBERS),
    written("{} < {} < {}", NUMBERS, NUMBERS, NUMBERS),
    written("{} {} {}", TUPLES, st.sampled_from(["==", "!="]), TUPLES),
    written("{} {} None", st.one_of(NUMBERS, TUPLES), st.sampled_from(["is", "is not"])),
    written("none(c, i, {}) {} None", CALLER, st.sampled_from(["is", "is not"])),
    written("{} in {}", NUMBERS, TUPLES),
    written("(not {})", CONDITIONS),
    written("(not {})", TUPLES),
    written("({} {} {})", CONDITIONS, st.sampled_from(["and", "or"]), CONDITIONS),
)
STATEMENT = st.one_of(
    written("out[i, 0] = {}", NUMBERS),
    written("out[i, {} % 4] += {}", NUMBERS, NUMBERS),
    written("if {}: out[i, 1] += {}", CONDITIONS, NUMBERS),
    written("if {}: one(c, i, {})", TUPLES, CALLER),
    written("for j in range({} % 3): out[i, 2] += {}", NUMBERS, NUMBERS),
    written("for v in {}: out[i, 2] += v", TUPLES),
    written("v, w = ({})[:2]; out[i, 3] = v - w", TUPLES),
    written("v = w = {}; out[i, 3] += v + w", NUMBERS),
    written("v = {}", TUPLES),
    written("len({})", TUPLES),
    written("assert not {} or True", TUPLES),
)


@pytest.fixture(scope="module")
def numba_simulator():
    simulator = NumbaSimulator()
    yield simulator
    simulator.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("effects")


def launched(statements, folder):
    """The kernel's arrays after a launch here, and the kernel's source."""
    source = PROGRAM + "".join(f"    {statement}\n" for statement in statements)
    arrays = np.zeros((THREADS, CALLERS + 2), np.int64), np.zeros((THREADS, 4), np.int64)
    simulate(import_kernel(source, folder), strict=False)[1, THREADS](*arrays)
    return arrays, source


def check(statements, folder, numba_simulator):
    arrays, source = launched(statements, folder)
    zeros = np.zeros_like(arrays[0]), np.zeros_like(arrays[1])
    for found, right in zip(arrays, numba_simulator.run(source, 1, THREADS, zeros), strict=True):
        np.testing.assert_array_equal(found, right, err_msg=source.split("grid(1)\n")[1])


KNOWN = [
    "out[i, 0] = (one(c, i, 1), 5)[1]",
    "out[i, 0] = (one(c, i, 1), pair(c, i, 2))[1][0]",
    "out[i, 0] = (5, one(c, i, 1), one(c, i, 2))[:1][0]",
    "if cuda.atomic.add(c, (i, 1), 1) is not None: out[i, 0] = 1",
    "if none(c, i, 1) is None: out[i, 0] = 1",
    "out[i, 0] = len(pair(c, i, 1))",
    "len(pair(c, i, 1))",
    "out[i, 0] = same(c, i, 1).ndim",
    "out[i, 0] = Point(y=one(c, i, 1), x=one(c, i, 2)).x",
    "if pair(c, i, 1) == (1, 2, 3): out[i, 0] = 1",
    "if one(c, i, 2) in ((1, 2), pair(c, i, 1))[1]: out[i, 0] = 1",
    "if not pair(c, i, 1): out[i, 0] = 1",
    "if none(c, i, 1): out[i, 0] = 1",
    "out[i, 0] = 7 if pair(c, i, 1) else 3",
    "v = same(c, i, 1).shape; out[i, 0] = v[0] + v[1]",
    "assert pair(c, i, 1)",
    "(pair(c, i, 1), one(c, i, 2))[1:]",
    "i > 1 and flag(c, i, 1)",
    "one(c, i, 1) if i > 1 else one(c, i, 2)",
    "c[i, one(c, i, 1)]",
]


@pytest.mark.parametrize("statement", KNOWN)
def test_a_call_whose_value_is_known(statement, folder, numba_simulator):
    check([statement], folder, numba_simulator)


def test_a_barrier_in_a_call_whose_value_is_known():
    """The threads meet in it: without the barrier, reading a neighbour's element is a race."""

    @cuda.jit(device=True)
    def meet():
        cuda.syncthreads()
        return 1, 2

    @cuda.jit
    def shifted(x, out):
        i = cuda.threadIdx.x
        tile = cuda.shared.array(64, int64)
        tile[i] = x[i]
        if len(meet()) == 2:
            out[i] = tile[(i + 1) % 64]

    x, out = np.arange(64), np.zeros(64, np.int64)
    assert simulate(shifted)[1, 64](x, out).findings == ()
    np.testing.assert_array_equal(out, np.roll(x, -1))


def test_every_load_that_is_written_counts():
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[i] = (x[i], x[i + 1], 5)[2]

    run = simulate(kernel)[1, 32](np.arange(33), np.zeros(32, np.int64))
    assert run.traffic.select(op="load").accesses == 2 * 32


def test_a_call_beside_a_type_is_refused():
    @cuda.jit(device=True)
    def same(x):
        x[0] = 1
        return x

    def kernel(x):
        x[1] = same(x).dtype.type(3)

    with pytest.raises(UnsupportedKernelError, match="assign the call to a name first"):
        simulate(kernel)[1, 1](np.zeros(2))


@examples(day=10, night=5000)
@given(statements=st.lists(STATEMENT, min_size=1, max_size=3))
def test_effects_are_those_of_python(statements, folder, numba_simulator):
    check(statements, folder, numba_simulator)
