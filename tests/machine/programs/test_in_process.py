"""``course_lib.without_gpu()``: ordinary launches of a process are simulated, until that is undone."""

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
