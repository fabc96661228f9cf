"""Kernels of any package that provides numba.cuda: its dispatchers, its names, its types, under any alias.

A stand-in does what other packages do differently than numba: a dispatcher of its own class, ``cuda.shared`` as a
module, types that ``cuda`` shows and that are no types of numba.
"""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from course_lib import UnsupportedKernelError, simulate


class Dispatcher:
    """What a package's jit makes of a function."""

    def __init__(self, function):
        self.py_func = function

    def __getitem__(self, configuration):
        raise RuntimeError("there is no GPU here")


class Scalar:
    """A scalar type, as numba's are: an object with a name."""

    def __init__(self, name):
        self.name = name


def stand_in():
    """A package ``numba_stand_in`` with a ``cuda`` of its own."""
    cuda, shared = ModuleType("numba_stand_in.cuda"), ModuleType("numba_stand_in.cuda.shared")

    def jit(function=None, **options):
        return jit if function is None else Dispatcher(function)

    Scalar.__module__ = "numba_stand_in.types"
    vars(cuda).update(jit=jit, shared=shared, float32=Scalar("float32"), int32=Scalar("int32"))
    for name in "threadIdx blockIdx blockDim grid syncthreads syncwarp local atomic shfl_sync".split():
        setattr(cuda, name, type(name, (), {"__module__": "numba_stand_in.cuda.stubs"}))
    shared.array = lambda shape, dtype: None
    return cuda


@pytest.fixture
def cuda(monkeypatch):
    module = stand_in()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


A = np.random.default_rng(0).random((16, 16), dtype=np.float32)


def test_a_kernel_a_device_function_and_their_names(cuda):
    """What a kernel of the course uses, with the module under two names and a type under its own."""
    gpu, number = cuda, cuda.int32

    @cuda.jit(device=True)
    def mix(a, b, c=None, scale=1):
        if c is None:
            return a + b * scale
        return c

    @cuda.jit
    def kernel(A, out):
        tile = cuda.shared.array((8, 8), cuda.float32)
        mine = gpu.local.array(2, dtype=gpu.float32)
        x, y = cuda.grid(2)
        row, col = gpu.threadIdx.y, cuda.threadIdx.x
        tile[row, col] = A[y, x]
        gpu.syncthreads()
        mine[0] = tile[col, row]
        out[y, x] = mix(mine[0], cuda.shfl_sync(0xFFFFFFFF, mine[0], 0), scale=number(2.5)) + mix(1, 2, 3)
        cuda.atomic.add(out, (y, x), number(gpu.blockIdx.x * gpu.blockDim.x))
        cuda.syncwarp()

    out = np.zeros((16, 16))
    run = simulate(kernel)[(2, 2), (8, 8)](A, out)

    turned = A.reshape(2, 8, 2, 8).transpose(0, 3, 2, 1)  # tile row, row, tile column, column
    first = turned[:, ::4, :, :1].repeat(4, axis=1).repeat(8, axis=3)  # lane 0 of each warp, which holds four rows
    right = (turned + first * 2 + 3).reshape(16, 16) + np.arange(16) // 8 * 8
    np.testing.assert_allclose(out, right, rtol=1e-6)
    assert run.errors == ()
    assert run.traffic.select(space="shared", array="tile", op="store").accesses == 256


def test_names_imported_one_by_one(cuda):
    """``from numba.cuda import grid, …`` and names that a kernel gives to parts of cuda."""
    grid, syncthreads, float32 = cuda.grid, cuda.syncthreads, cuda.float32

    @cuda.jit
    def kernel(out):
        index, shared = cuda.threadIdx, cuda.shared
        s = shared.array(32, float32)
        i = grid(1)
        s[index.x] = i
        syncthreads()
        out[grid(1)] = s[31 - index.x]

    out = np.zeros(64)
    simulate(kernel)[2, 32](out)
    np.testing.assert_array_equal(out, np.arange(64).reshape(2, 32)[:, ::-1].ravel())


def test_a_package_that_holds_cuda(cuda):
    """``import numba``, and ``numba.cuda.grid(1)`` in the kernel."""
    package = ModuleType("numba_stand_in")
    package.cuda = cuda

    @cuda.jit
    def kernel(out):
        out[package.cuda.grid(1)] = package.cuda.threadIdx.x

    out = np.ones(8)
    simulate(kernel)[2, 4](out)
    np.testing.assert_array_equal(out, [0, 1, 2, 3] * 2)


def test_what_is_no_dispatcher_is_refused():
    with pytest.raises(UnsupportedKernelError, match="decorated with @cuda.jit"):
        simulate(SimpleNamespace(py_func=3))[1, 1](np.zeros(1))
