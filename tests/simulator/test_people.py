"""Forms that kernels of public projects use, and that the simulator once refused or ran where numba does not."""

import itertools
import math
import subprocess
import sys

import numba.cuda.random as nr
import numpy as np
import pytest
from nightly import at_night
from numba import cuda, float32, from_dtype, types
from oracles import numba_typing as oracle
from oracles.sources import import_kernel

from course_lib import LaunchError, UnsupportedKernelError, simulate
from course_lib.simulator.language.types import typing_rules
from course_lib.simulator.language.types.value_types import TypingError
from course_lib.simulator.testing import assert_clean


def agreed(kernel, numba_types, values):
    """Launch with one thread if numba compiles the kernel; else show that the simulator refuses it, too."""
    if oracle.compiles(kernel, numba_types):
        simulate(kernel)[1, 1](*values)
        return True
    with pytest.raises(UnsupportedKernelError):
        simulate(kernel)[1, 1](*values)
    return False


# --- numbers that numba cuts ------------------------------------------------------------------------------------------


def test_ranges_have_the_types_that_numba_gives_them():
    """For every choice of types of one, two or three bounds; floats and bools are converted, complex ones refused."""
    for count in (1, 2, 3):
        for kinds in itertools.product(oracle.SCALARS, repeat=count):
            wanted = oracle.oracle_operands(range, *kinds)
            try:
                found = typing_rules.range_type([kind.name for kind in kinds])
            except TypingError:
                found = None
            assert found == (wanted and wanted[0].name), kinds


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bool", "complex64"])
def test_a_range_of_a_float_is_cut(dtype):
    """`range(math.ceil(x))`, where a float's ceiling is a float on a GPU, and bounds that are no whole numbers."""

    def kernel(x, out):
        for i in range(x[0], x[1], 2):
            out[i] = i + 1

    out = np.zeros(8, np.int32)
    x = np.array([1.9, 6.9]).astype(dtype)
    if agreed(kernel, (types.Array(oracle._numba_type(dtype), 1, "C"), types.int32[::1]), (x, out)):
        begin, end = (math.trunc(v) if dtype != "float16" else round(float(v)) for v in x.tolist())
        assert out.tolist() == [i + 1 if i in range(begin, end, 2) else 0 for i in range(8)]


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("out[0] = a[x:, :b][0, 0]", (120, [8, 0, 0])),
        ("out[0] = a[::x][1, 0]", (120, [8, 0, 0])),
        ("cuda.atomic.add(out, x, 5); cuda.atomic.max(out, b, 7)", (120, [0, 7, 5])),
        ("cuda.atomic.add(a, (x, b), 5)", (125, [0, 0, 0])),
        ("place = x, b; cuda.atomic.add(a, place, 5)", (125, [0, 0, 0])),
        ("cuda.atomic.add(out, (x,), 5)", None),
        ("out[0] = a[0, x]", None),
    ],
)
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_an_index_of_a_float(statement, wanted, kind, folder):
    """numba cuts floats in slices and in indices of atomic operations, and refuses them as indices of elements."""
    kernel = import_kernel(f"from numba import cuda\ndef kernel(a, x, b, out):\n    {statement}\n", folder)
    a, out = np.arange(16, dtype=np.int32).reshape(4, 4), np.zeros(3, np.int32)
    numba_types = (types.int32[:, ::1], oracle._numba_type(kind), types.boolean, types.int32[::1])

    assert agreed(kernel, numba_types, (a, np.dtype(kind).type(2.9), True, out)) == (wanted is not None)
    if wanted:
        assert (a.sum(), out.tolist()) == wanted and a[2, 1] - 9 == a.sum() - 120


@pytest.mark.parametrize(("function", "runs"), [(float, False), (float32, True), (int, True)])
def test_a_number_of_a_bool(function, runs):
    """numba has int() of a bool, and no float()."""

    def kernel(x, out):
        out[0] = function(x[0] > 2)

    out = np.zeros(1)
    assert agreed(kernel, (types.float32[::1], types.float64[::1]), (np.float32([3]), out)) == runs
    assert out[0] == runs


# --- one object, many names -------------------------------------------------------------------------------------------


DRAWS = """
import numba
import numba.cuda.random as nr
from numba import cuda
from numba.cuda import random
from numba.cuda.random import xoroshiro128p_uniform_float32

def kernel(states, out):
    i, draws = cuda.grid(1), numba.cuda.random
    out[i] = {}xoroshiro128p_uniform_float32(states, i)
"""


@pytest.mark.parametrize("home", ["", "nr.", "random.", "cuda.random.", "numba.cuda.random.", "draws."])
def test_random_numbers_by_any_name(home, folder):
    """The numbers that numba's own function draws on the CPU."""
    states, again = np.zeros((2, 40), nr.xoroshiro128p_dtype)
    nr.init_xoroshiro128p_states_cpu(states, 7, 0)
    again[:] = states
    out = np.zeros(40, np.float32)
    simulate(import_kernel(DRAWS.format(home), folder))[2, 20](states, out)

    assert out.tolist() == [nr.xoroshiro128p_uniform_float32(again, i) for i in range(40)]
    assert states.tolist() == again.tolist() and len(set(out.tolist())) == 40


def test_a_module_that_is_not_imported(monkeypatch, folder):
    call = "cuda.random.xoroshiro128p_uniform_float32(states, 0)"
    kernel = import_kernel(f"from numba import cuda\ndef kernel(states, out):\n    out[0] = {call}\n", folder)
    monkeypatch.delattr(cuda, "random")
    with pytest.raises(UnsupportedKernelError, match="numba.cuda has no 'random'; write import numba.cuda.random"):
        simulate(kernel)[1, 1](np.zeros(1, nr.xoroshiro128p_dtype), np.zeros(1, np.float32))


@pytest.mark.parametrize("name", ["sqrtf", "libdevice.sqrtf"])
def test_a_function_of_libdevice_by_any_name(name, folder):
    imports = "from numba.cuda import libdevice\nfrom numba.cuda.libdevice import sqrtf\n"
    text = f"{imports}def kernel(out):\n    out[0] = {name}(out[0])\n"
    out = np.float32([9])
    assert agreed(import_kernel(text, folder), (types.float32[::1],), (out,)) and out[0] == 3


# --- words that are nearly right --------------------------------------------------------------------------------------


def ones(x):
    x[cuda.grid(1)] = 1


@pytest.mark.parametrize("wanted", [None, {}, {"x": None}])
def test_check_all_of_findings_alone(wanted):
    """Where nothing is wanted of the values, a launch fails by its findings only."""
    checks = simulate(ones).check_all(lambda n: (1, n, (np.zeros(n),), wanted), n=(1, 40))
    assert checks.holds and checks.launches == 2

    found = simulate(ones).check_all(lambda n: (1, n, (np.zeros(30),), wanted), n=(1, 40))
    assert found.sizes == {"n": 40} and "out-of-bounds" in found.reason


@pytest.mark.parametrize("wanted", ["x", [1], ()])
def test_check_all_of_something_else_than_arrays(wanted):
    with pytest.raises(LaunchError, match="give a dict, .* or None if only findings count"):
        simulate(ones).check_all(lambda n: (1, n, (np.zeros(n),), wanted), n=(1, 2))


@pytest.mark.parametrize("allow", ["out-of-bounds", None, 5])
def test_a_word_where_a_list_is_meant(allow):
    """It is explained by the word, never by its characters."""
    run = simulate(ones, strict=False)[1, 4](np.zeros(2))
    with pytest.raises(ValueError, match=rf"allow is {allow!r}; give a list of kinds"):
        assert_clean(run, allow=allow)
    with pytest.raises(ValueError, match=rf"allow is {allow!r}; give a list of kinds"):
        simulate(ones).check_all(lambda n: (1, n, (np.zeros(n),)), allow=allow, n=(1, 2))
    assert_clean(run, allow=["out-of-bounds"])


async def asynchronous(x):
    x[0] = 1


@pytest.mark.parametrize("kernel", [asynchronous, cuda.jit(asynchronous)])
def test_an_asynchronous_kernel(kernel):
    """The reason is its def, and not that its file has changed."""
    with pytest.raises(UnsupportedKernelError, match="asynchronous is defined by async def, .* write def"):
        simulate(kernel)[1, 1](np.zeros(1))


# --- signatures without a GPU -----------------------------------------------------------------------------------------

NOTEBOOK = """
import numpy as np
from numba import config, cuda, float32, int32
import course_lib

before = cuda.jit
config.ENABLE_CUDASIM = {simulator}
cuda.is_available = lambda: {gpu}
assert bool(course_lib.without_gpu()) == bool(course_lib.without_gpu())
print(cuda.jit is before)
if cuda.jit is not before:
    whole = cuda.jit("int32(float32)", device=True)(lambda v: v)

    @cuda.jit(["void(float32[:], int32)", "void(float64[:], int32)"], fastmath=True)
    def scaled(x, factor):
        x[0] = whole(x[0]) * factor

    @cuda.jit((float32[:], int32))
    def negated(x, factor):
        x[0] = -factor

    x = np.float32([2.9])
    course_lib.simulate(scaled)[1, 1](x, 3.9)
    print(x[0], scaled.targetoptions["fastmath"])
    course_lib.simulate(negated)[1, 1](x, 3.9)
    print(x[0])
"""


@pytest.mark.parametrize(
    ("gpu", "simulator", "printed"),
    [(False, 0, ["False", "6.0 True", "-3.0"]), (True, 0, ["True"]), at_night(False, 1, ["True"])],
)
def test_a_signature_without_a_gpu(tmp_path, gpu, simulator, printed):
    """After one call it is read and casts, and numba compiles nothing; with a GPU numba is as it was."""
    path = tmp_path / "notebook.py"
    path.write_text(NOTEBOOK.format(gpu=gpu, simulator=simulator), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, check=False)

    assert done.stdout.splitlines() == printed, done.stderr


# --- records in local arrays ------------------------------------------------------------------------------------------

PARTICLE = np.dtype([("mass", "f4"), ("kind", "i4"), ("place", "f4", (3,))], align=True)
Particle = from_dtype(PARTICLE)


def by_fields(given, out):
    t = cuda.threadIdx.x
    own = cuda.local.array(2, Particle)
    own[0] = given[t]
    own[1].mass, own[1].kind = own[0].mass + 1, t
    for i in range(3):
        own[1].place[i] = 10 * own[0]["place"][i]
    last = own[own[1].kind - t + 1]
    out[t] = own[0].mass + last.mass + last.kind + last.place[2]


def test_records_in_a_local_array():
    """Fields, whole records and an index that differs by thread; numba compiles the kernel, too."""
    assert oracle.compiles(by_fields, (Particle[::1], types.float32[::1]))
    given, out = np.zeros(8, PARTICLE), np.zeros(8, np.float32)
    given["mass"], given["place"] = np.arange(8), np.arange(24).reshape(8, 3)
    assert simulate(by_fields)[1, 8](given, out).errors == ()
    assert out.tolist() == [2 * t + 1 + t + 10 * (3 * t + 2) for t in range(8)]


def exchanged(given, out):
    t = cuda.threadIdx.x
    own = cuda.shared.array(32, Particle)
    own[t].mass = given[t].mass  # store
    own[t].place[2] = t
    cuda.syncthreads()
    out[t] = own[31 - t].mass + own[(t + 1) % 32]["place"][2]


@pytest.mark.parametrize("trace", [False, True])
def test_records_in_a_shared_array(trace):
    """Records of 20 bytes: a stride of five words, which is odd, so that no two lanes meet in a bank."""
    assert oracle.compiles(exchanged, (Particle[::1], types.float32[::1]))
    given, out = np.zeros(32, PARTICLE), np.zeros(32, np.float32)
    given["mass"] = np.arange(32)
    run = simulate(exchanged, trace=trace)[1, 32](given, out)
    assert PARTICLE.itemsize == 20 and out.tolist() == [31 - t + (t + 1) % 32 for t in range(32)]
    assert run.traffic.select(space="shared").bank_conflicts == 0
