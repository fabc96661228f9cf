"""``course_lib.without_gpu()``: ordinary launches of a process are simulated, until that is undone."""

import re
import subprocess
import sys

import numpy as np
import pytest
from numba import config, cuda

from course_lib import KernelError, LaunchError, UnsupportedKernelError, simulate, without_gpu


@cuda.jit
def one_too_many(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i]


@cuda.jit
def listed(x):
    x[0] = sorted([1, 2])[0]


OF_NUMBA = {name: getattr(cuda, name) for name in ("jit", "to_device", "is_available", "stream")}


@pytest.fixture(autouse=True)
def as_before():
    """Nothing is left of a test: numba is as before."""
    yield
    with without_gpu():
        pass
    assert {name: getattr(cuda, name) for name in OF_NUMBA} == OF_NUMBA


@pytest.fixture
def simulated():
    with without_gpu() as launches:
        yield launches


def kinds(launches):
    return [(each.problem.kind, each.launches) for each in launches.findings]


@pytest.mark.parametrize("early", [True, False])
def test_an_ordinary_launch(simulated, early):
    """Of a kernel that was decorated before or after, from arrays of the host and of a device."""
    kernel = doubled if early else cuda.jit("void(float32[:], float32[:])")(doubled.py_func)
    x = np.arange(100, dtype=np.float32)
    out = np.zeros_like(x)
    kernel[4, 32](x, out)
    assert out.tolist() == (2 * x).tolist()

    stream = cuda.stream()
    on_device = cuda.to_device(x, stream=stream)
    result = cuda.device_array_like(on_device)
    kernel[4, 32, stream](on_device, result)
    cuda.synchronize()
    assert result.copy_to_host().tolist() == (2 * x).tolist()
    kernel.forall(100)(on_device, result)
    assert simulated and not simulated.findings


def test_findings_raise_as_those_of_simulate(simulated):
    """The same error with the same text, findings and run."""
    with pytest.raises(KernelError) as ours:
        one_too_many[1, 32](np.zeros(31))
    with pytest.raises(KernelError) as other:
        simulate(one_too_many)[1, 32](np.zeros(31))
    assert str(ours.value) == str(other.value) and ours.value.findings == other.value.findings
    assert ours.value.run.findings == other.value.run.findings
    with pytest.raises(UnsupportedKernelError):
        listed[1, 1](np.zeros(1))
    with pytest.raises(UnsupportedKernelError):  # again: it is known now
        listed[1, 1](np.zeros(1))
    with pytest.raises(LaunchError):
        one_too_many[1, 2000](np.zeros(2000))


def test_findings_are_collected():
    """Once each, with the number of launches; what is refused raises all the same."""
    with without_gpu(strict=False) as launches:
        for size in (32, 31, 30):
            one_too_many[1, 32](np.zeros(size))
        with pytest.raises(UnsupportedKernelError):
            listed[1, 1](np.zeros(1))
        assert kinds(launches) == [("out-of-bounds", 2)]
        assert "out-of-bounds" in repr(launches) and "2 launches" in repr(launches)
    assert not launches and kinds(launches) == [("out-of-bounds", 2)]


@cuda.jit(device=True)
def halves_added(s, t):
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        step //= 2


@cuda.jit
def tree_sum(x, sums):  # no barrier between the steps
    s = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    halves_added(s, t)
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]


@cuda.jit
def running_sum(x, sums):  # no barrier between the read and the write of a step
    s = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    for d in (1, 2, 4):
        if t >= d:
            s[t] += s[t - d]
        cuda.syncthreads()
    sums[cuda.blockIdx.x] = s[127]


@cuda.jit
def reversed_copy(x, sums):  # no barrier, and no loop around the accesses
    s = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    for _ in range(2):
        sums[cuda.blockIdx.x] = 0
    s[t] = x[t]
    x[t] = s[127 - t]


@pytest.mark.parametrize(
    ("kernel", "blocks", "within"),
    [
        (tree_sum, 2, "between two iterations"),
        (tree_sum, 2_000, "between two iterations"),  # too many to trace: the first is
        (running_sum, 2, "within one iteration"),
        (reversed_copy, 1, ""),
    ],
)
def test_the_iterations_of_a_race(kernel, blocks, within):
    """As in a profile, also of a loop in a device function; the arrays are those of one launch."""
    x, sums = np.ones(128 * blocks, np.float32), np.zeros(blocks, np.float32)
    with without_gpu(strict=False) as launches:
        kernel[blocks, 128](x, sums)
        kernel[blocks, 128](x, sums)
        said = " ".join(repr(launches).split())
    race = next(each for each in launches.findings if each.problem.array == "s")
    assert race.launches == 2 and race.within.startswith(within) and bool(race.within) is bool(within)
    assert race.within in said
    iterations = [int(n) for n in re.findall(r"in iteration (\d+)", race.within)]
    assert [n - iterations[0] for n in iterations] == {"b": [0, 1], "w": [0, 0]}.get(within[:1], [])
    x, once = np.ones(128 * blocks, np.float32), np.zeros(blocks, np.float32)
    simulate(kernel, strict=False)[blocks, 128](x, once)
    assert kernel is reversed_copy or sums.tolist() == once.tolist()


def test_an_allowed_kind_raises_nothing():
    with without_gpu(allow=["out-of-bounds"]) as launches:
        one_too_many[1, 32](np.zeros(31))
    assert kinds(launches) == [("out-of-bounds", 1)]


def test_undo_twice_and_a_cell_that_runs_twice():
    """Of calls in a row the last one is in force, and to undo any of them undoes all."""
    first = without_gpu()
    second = without_gpu(strict=False)
    one_too_many[1, 32](np.zeros(31))
    assert first and second and kinds(second) == [("out-of-bounds", 1)]
    first.undo()
    assert not first and not second and cuda.to_device is OF_NUMBA["to_device"]
    second.undo()
    first.undo()

    third = without_gpu()
    first.undo()
    assert third
    third.undo()
    assert not third


def test_a_block_ends_in_what_was_before():
    """Also with calls within it, and if it is left by an exception."""
    outer = without_gpu()
    with without_gpu(strict=False) as inner:
        one_too_many[1, 32](np.zeros(31))
        without_gpu(strict=False)
        one_too_many[1, 32](np.zeros(31))
    with pytest.raises(KernelError):
        one_too_many[1, 32](np.zeros(31))
    assert outer and not inner and kinds(inner) == [("out-of-bounds", 1)]
    with pytest.raises(ZeroDivisionError), without_gpu(strict=False):
        _ = 1 / 0
    with pytest.raises(KernelError):
        one_too_many[1, 32](np.zeros(31))

    with inner:  # a second time
        outer.undo()
        assert not inner and not outer
    assert cuda.to_device is OF_NUMBA["to_device"]
    with inner:
        one_too_many[1, 32](np.zeros(31))
    assert kinds(inner) == [("out-of-bounds", 2)] and not inner


def test_a_launch_that_was_configured_before_the_end():
    with without_gpu():
        configured = doubled[1, 32]
    with pytest.raises(LaunchError):
        configured(np.zeros(1), np.zeros(1))


def test_with_a_gpu_nothing_is_changed(monkeypatch):
    """Nor where numba's own simulator is on; the same cell runs, and its value says so."""
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    with without_gpu() as launches:
        assert not launches and cuda.to_device is OF_NUMBA["to_device"] and cuda.jit is OF_NUMBA["jit"]
    launches.undo()
    assert launches.findings == () and "there is a GPU" in repr(launches)
    monkeypatch.undo()
    monkeypatch.setattr(config, "ENABLE_CUDASIM", 1)
    assert not without_gpu()


def test_a_process_that_undoes_nothing_ends_in_silence(tmp_path):
    """Its last functions launch, too."""
    text = """
import atexit
import numpy as np
from numba import cuda
import course_lib

@cuda.jit
def store(x):
    x[cuda.grid(1)] = 1

def last():
    x = np.zeros(3)
    store[1, 3](x)
    print(x)

atexit.register(last)
course_lib.without_gpu()
"""
    script = tmp_path / "script.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1. 1. 1.]\n", "")


def test_what_a_gpu_would_tell_otherwise_is_a_warning(simulated):
    array = cuda.device_array(4, np.float32)
    with pytest.warns(UserWarning, match="nothing wrote"):
        array.copy_to_host()


def test_an_exception_of_a_kernel_with_debug(simulated):
    """The launch raises it, as on a GPU."""

    @cuda.jit(debug=True, opt=False)
    def positive(x):
        if x[cuda.grid(1)] < 0:
            raise ValueError("negative")

    positive[2, 1](np.array([1, 0]))
    with pytest.raises(ValueError, match=r"ctaid=\[0, 0, 1\]: negative"):
        positive[2, 1](np.array([1, -1]))
    assert kinds(simulated) == []


def test_an_array_of_records_is_told_by_its_fields():
    """As an argument of the launch in which something was found."""

    @cuda.jit
    def first(points):
        points[cuda.grid(1)].x = 1

    with without_gpu(strict=False) as simulated:
        first[1, 8](np.zeros(4, [("x", np.float32), ("y", np.float32)]))
    assert [each.first.arguments for each in simulated.findings] == ["points record(x, y)[4]"]
