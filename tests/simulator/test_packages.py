"""What a GPU's compiler refuses is refused here: by both packages, or by the one that is installed."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, types
from numba.np.numpy_support import from_dtype
from oracles import numba_typing as oracle
from oracles.sources import import_kernel

from course_lib import LaunchError, UnsupportedKernelError, simulate
from course_lib.simulator.language.source import packages
from course_lib.simulator.language.tables.package_gaps import OPTIONS

HEADER = """
import enum
from collections import namedtuple
from types import SimpleNamespace
from numba import cuda, types
from numba.cuda import grid, shared, syncthreads, threadIdx

class Settings:
    tile = 3

class Colour(enum.Enum):
    red = 3

POINT, SPACE = namedtuple("Point", "x")(3), SimpleNamespace(x=3)

"""
REFUSED = """\
x[0] = cuda.syncthreads_count(x[0] > 1)
x[0] = cuda.syncthreads_and(x[0])
x[0] = cuda.syncthreads_or(x[0] > 1)
x[0] = Settings.tile
x[0] = SPACE.x
x[threadIdx.x] = 1
tile = shared.array(3, types.float32); x[0] = tile[0]
cuda.atomic.exch(x, 0, x[1])""".split("\n")
TAKEN = """\
x[cuda.threadIdx.x] = cuda.syncthreads_count(int(x[0] > 1))
syncthreads(); x[grid(1)] = 1
x[cuda.grid(1)] = Colour.red.value
x[cuda.grid(1)] = POINT.x""".split("\n")


@pytest.mark.parametrize("statement", [*REFUSED, *TAKEN])
def test_kernels_are_refused_as_the_compiler_refuses_them(statement, folder):
    kernel = import_kernel(f"{HEADER}def kernel(x):\n    {statement}\n", folder)
    taken = oracle.compiles(kernel, [types.float32[::1]])
    assert taken == (statement in TAKEN)
    if taken:
        simulate(kernel)[1, 1](np.zeros(32, np.float32))
    else:
        with pytest.raises(UnsupportedKernelError, match=r"^line \d+: "):
            simulate(kernel)[1, 1](np.zeros(32, np.float32))


CALLS = {"moves": "cuda.shfl_sync(0xFFFFFFFF, x[i], 0)", "votes": "cuda.any_sync(0xFFFFFFFF, x[i])"}


@pytest.mark.parametrize("package", [packages.NUMBA, packages.NUMBA_CUDA])
@pytest.mark.parametrize("does", CALLS)
@pytest.mark.parametrize("dtype", "bool int8 uint16 int32 uint32 int64 uint64 float32 float64".split())
def test_where_the_packages_differ_the_message_names_them(package, does, dtype, monkeypatch, folder):
    """numba-cuda moves four types between lanes, and votes on no float. Where it is installed, it is asked."""
    body = f"i = cuda.grid(1); out[i] = {CALLS[does]}"
    kernel = import_kernel(f"{HEADER}def kernel(x, out):\n    {body}\n", folder)
    asked = packages.installed() == package
    monkeypatch.setattr(packages, "installed", lambda: package)
    lacks = package == packages.NUMBA_CUDA and (
        dtype not in ("int32", "int64", "float32", "float64") if does == "moves" else dtype.startswith("float")
    )
    if asked:
        assert oracle.compiles(kernel, [types.Array(from_dtype(np.dtype(dtype)), 1, "C"), types.float64[::1]]) != lacks
    launch = simulate(kernel)[1, 32]
    if lacks:
        with pytest.raises(UnsupportedKernelError, match=r"numba-cuda has no .* \(but numba has\)"):
            launch(np.ones(32, dtype), np.zeros(32))
    else:
        launch(np.ones(32, dtype), np.zeros(32))


def test_a_launch_fills_in_no_defaults():
    def kernel(x, value=3.0):
        x[cuda.grid(1)] = value

    array = types.float32[::1]
    assert oracle.compiles(kernel, [array, types.float64])
    with pytest.raises(TypeError, match="1 argument types given, but function takes 2"):
        oracle.compiles(kernel, [array])
    x = np.zeros(2, np.float32)
    simulate(kernel)[1, 2](x, 4.0)
    assert x.tolist() == [4, 4]
    for given in ((x,), ()):
        words = "fills in no defaults" if given else "takes 2 arguments .* given 0$"
        with pytest.raises(LaunchError, match=words):
            simulate(kernel)[1, 2](*given)


@pytest.mark.parametrize("home", ["numba.cuda._internal.cuda_bf16", "numba.cuda"])
def test_bfloat16_of_numba_cuda_is_refused_with_the_way_out(home, monkeypatch):
    """Of numba, which has none, a stand-in: numba-cuda's functions of bfloat16 come from the first module."""

    def hadd(a, b): ...

    hadd.__module__ = home
    monkeypatch.setattr(cuda, "bf16", SimpleNamespace(hadd=hadd), raising=False)

    def named(x):
        x[0] = hadd(x[0], x[1])

    def of_module(x):
        x[0] = cuda.bf16.hadd(x[0], x[1])

    for kernel in (of_module, *([named] if home != "numba.cuda" else [])):
        with pytest.raises(UnsupportedKernelError, match="hadd.*; use float32, which holds every bfloat16"):
            simulate(kernel)[1, 1](np.zeros(2, np.float32))


def test_more_threads_than_the_bounds_of_the_launch(monkeypatch):
    @cuda.jit(launch_bounds=32)
    def kernel(x):
        x[cuda.grid(1)] = 1

    monkeypatch.setattr(packages, "installed", lambda: packages.NUMBA_CUDA)
    simulate(kernel)[2, 32](np.zeros(64))
    with pytest.raises(LaunchError, match="64 threads a block, and the kernel's launch_bounds allow 32"):
        simulate(kernel)[1, 64](np.zeros(64))


@pytest.mark.parametrize("option", OPTIONS)
def test_options_that_numba_does_not_take(option, monkeypatch):
    @cuda.jit(**{option: 32})
    def kernel(x):
        x[cuda.grid(1)] = 1

    if packages.installed() == packages.NUMBA:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
            oracle.launches(kernel, [types.float64[::1]])
    monkeypatch.setattr(packages, "installed", lambda: packages.NUMBA)
    with pytest.raises(LaunchError, match=f"takes no {option} .but numba-cuda's does.; leave it out"):
        simulate(kernel)[1, 1](np.zeros(1))
