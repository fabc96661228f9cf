"""Functions and statements of Python in a kernel, whose values are those of Python and numba's CPU compiler."""

import enum
import operator

import numpy as np
import pytest
from numba import cuda, float32, int8, njit
from oracles import numba_typing as oracle

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator.language import packages


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 7


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


ALIAS = Colour.RED


def tuples_in_and_out(x, out):
    i = cuda.threadIdx.x
    three = (x[i, 0], x[i, 1], x[i, 2])
    out[i, 0], out[i, 1] = min(three), max(three)
    out[i, 2] = sum(three) + sum((x[i, 0], 2.5, True), 4)
    out[i, 3] = tuple(three)[1] + (0, *three, 5)[3]
    out[i, 4] = len((x[i, 0], 2) * 3) + ((x[i, 0], 2) * 2)[2]
    out[i, 5] = max(x.shape) - min((x.ndim,))


def operators_as_functions(x, out):
    i = cuda.threadIdx.x
    a, b = x[i, 0], x[i, 1]
    out[i, 0] = operator.add(a, operator.mul(b, 2)) - operator.truediv(a, 7)
    out[i, 1] = operator.iadd(a, b) + operator.floordiv(a, 3) + operator.neg(b)
    out[i, 2] = operator.lt(a, b) + 2 * operator.eq(a, b) + 4 * operator.not_(a)
    out[i, 3] = operator.getitem(x, (i, 2)) + operator.add((a,), (b,))[1]
    out[i, 4] = operator.and_(a, 3) | operator.lshift(b, 2)


def cases(x, out):
    i = cuda.threadIdx.x
    match x[i, 0]:
        case 0 | 2:
            out[i, 0] = 1
        case Level.LOW:
            out[i, 0] = 2
        case -1:
            out[i, 0] = 9
        case (4 | 5) as n if n > 4:
            out[i, 0] = 10 * n
        case n if n == x[i, 1]:
            out[i, 0] = 100 + n
        case _:
            out[i, 0] = -1
    match x[i, 1] + 1:
        case 3:
            out[i, 1] = 5
        case other:
            out[i, 1] = other
    match bool(x[i, 2] > 2):
        case True:
            match i:
                case 2:
                    out[i, 2] = 4
        case False:
            out[i, 2] = 8
    kind = None
    match kind:
        case None:
            out[i, 3] = 6
        case _:
            out[i, 3] = 7


def enumerations(x, out):
    i = cuda.threadIdx.x
    out[i, 0] = x[i, 0] == Level.LOW
    out[i, 1] = x[i, 0] + Level.HIGH.value
    out[i, 2] = (Colour.RED == Colour.BLUE) + 2 * (Colour.RED is ALIAS) + 4 * (Colour.RED != Colour.BLUE)
    out[i, 3] = x[i, 0] > Level.LOW and x[i, 0] is not None
    out[i, 4] = Level["HIGH"] + (Colour["RED"] is ALIAS)


@pytest.fixture(autouse=True)
def numba_cuda(monkeypatch):
    """It compiles all of them."""
    monkeypatch.setattr(packages, "installed", lambda: packages.NUMBA_CUDA)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda x: sum((x[0], x[1])), r"sum\(t, 0\)"),
        (lambda x: max((x[0], x[1])), "write its items out"),
        (lambda x: np.int64(x[0]).bit_count(), r"write cuda.popc\(x\)"),
    ],
)
def test_what_numba_alone_lacks_names_numba_cuda(use, words, monkeypatch):
    def kernel(x):
        x[0] = device(x)

    device = cuda.jit(device=True)(use)
    simulate(kernel)[1, 1](np.array([3.0, 1]))
    monkeypatch.setattr(packages, "installed", lambda: packages.NUMBA)
    with pytest.raises(UnsupportedKernelError, match=f"but numba-cuda has.*{words}"):
        simulate(kernel)[1, 1](np.array([3, 1]))


KERNELS = [tuples_in_and_out, operators_as_functions, cases, enumerations]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_it_equals_python(kernel, monkeypatch):
    x = np.random.default_rng(4).integers(0, 7, (64, 3))
    got, want = np.zeros((64, 6)), np.zeros((64, 6))
    simulate(kernel)[1, 64](x, got)
    for thread in range(64):
        monkeypatch.setattr(cuda, "threadIdx", type("At", (), {"x": thread}))
        kernel(x, want)
    np.testing.assert_array_equal(got, want)


VALUES = {
    "int8": np.int8(1), "int32": np.int32(1), "int64": np.int64(1), "uint8": np.uint8(1), "bool": True,
    "float32": np.float32(1), "float64": 1.0, "complex64": np.complex64(1), "tuple": (1, 2.0),
}  # fmt: skip
CLASSES = [int, float, bool, complex, range, np.float32, np.int64, np.bool_, float32, int8, (int, np.int32)]


def asking(asked):
    def kernel(value, out):
        out[0] = isinstance(value, asked)

    return kernel


@pytest.mark.parametrize(
    ("asked", "found"), [(int, ["int64"]), ((float, np.int32), ["int32", "float64"]), (tuple, ["tuple"])]
)
def test_isinstance_asks_for_the_exact_type(asked, found):
    """As numba does, of which the next test asks."""
    got = {name: np.zeros(1) for name in VALUES}
    for name, value in VALUES.items():
        simulate(asking(asked))[1, 1](value, got[name])
    assert [name for name, out in got.items() if out[0]] == found


@pytest.mark.nightly
@pytest.mark.parametrize("asked", [*CLASSES, (int, float)], ids=str)
def test_isinstance_says_what_numba_says(asked):
    compiled = njit(asking(asked))
    for name, value in VALUES.items():
        got, want = np.zeros(1), np.zeros(1)
        simulate(asking(asked))[1, 1](value, got)
        compiled(value, want)
        assert got[0] == want[0], name


@pytest.mark.parametrize("asked", [np.ndarray, np.floating, type(None)], ids=str)
def test_isinstance_refuses_what_numba_refuses(asked):
    with pytest.raises(UnsupportedKernelError, match="numba cannot ask"):
        simulate(asking(asked))[1, 1](np.float32(1), np.zeros(1))


def typed(x, y, out):
    end = sum((x[0], x[1]), 0) + operator.mul(x[0], y[0])
    out[0] = end


@pytest.mark.parametrize(("a", "b"), [("float32", "float32"), ("int8", "uint8"), ("float32", "int64")])
def test_results_have_the_types_of_numba(a, b):
    kinds = [oracle.from_dtype(np.dtype(kind))[::1] for kind in (a, b, "float64")]
    run = simulate(typed, trace=True)[1, 1](np.ones(2, a), np.ones(2, b), np.zeros(1))
    found = [s.variables["end"].dtype for s in run.trace.steps if "end" in s.variables]
    assert found == [oracle.oracle_variable(typed, kinds, "end")]


def refuse_sum_of_nothing(x):
    x[0] = sum(())


def refuse_sum_of_an_array(x):
    x[0] = sum(x)


def refuse_sequence(x):
    match (x[0], 1):
        case (0, n):
            x[0] = n


def refuse_a_class(x):
    match x[0]:
        case float():
            x[0] = 1


def refuse_bit_count_of_a_float(x):
    x[0] = x[0].bit_count()


def refuse_operator_of_one(x):
    x[0] = operator.add(x[0])


def refuse_tuple_of_an_array(x):
    x[0] = tuple(x)[0]


REFUSED = [value for name, value in list(globals().items()) if name.startswith("refuse_")]


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.__name__)
def test_the_rest_is_refused_at_its_line(kernel):
    with pytest.raises(UnsupportedKernelError, match=r"^line \d+: "):
        simulate(kernel)[1, 1](np.zeros(2))
