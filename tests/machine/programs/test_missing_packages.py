"""Programs whose package is not installed: modules of ours take its place while a program runs."""

import json
import subprocess
import sys

import pytest
from machine.programs.public_names import unknown, unknown_methods
from nightly import every

#: Everything but NumPy is hidden.
HIDDEN = """
import sys
from importlib.machinery import PathFinder

class Hiding:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        hidden = {"numba", "llvmlite", "numba_cuda", "numba_cuda_mlir", "matplotlib", "PIL", "IPython", "ipywidgets"}
        return None if top in hidden else PathFinder.find_spec(name, path, target)

sys.meta_path = [Hiding() if each is PathFinder else each for each in sys.meta_path]
"""
HEAD = (
    HIDDEN
    + """
from course_lib.machine.simulated_launch import simulated
from course_lib.machine.programs.stand_ins import without_device

kinds = []

def launch(kernel, grid, block, shared_bytes, arguments):
    made = simulated(kernel, grid, block, arguments, shared_bytes=shared_bytes)
    kinds.extend(found.kind for found in made.run.findings)

with without_device(launch, lambda said: print(said, file=sys.stderr)):
    import runpy
    runpy.run_path(sys.argv[1], run_name="__main__")
print(*kinds)
assert not [name for name in sys.modules if name.partition(".")[0] in ("numba", "numba_cuda_mlir", "numba_cuda")]
"""
)
PROGRAM = """
import numpy as np
{imports}

@cuda.jit(device=True)
def doubled(x):
    return x + x

@cuda.jit("void(float32[:], float32[:])")
def reversed_in_blocks(x, y):
    tile = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    y[i] = doubled(tile[31 - cuda.threadIdx.x]) + cuda.float32x4(0, 1, 2, 3).y * float32(cuda.laneid)

@cuda.jit
def racing(x):
    cuda.atomic.add(x, 0, float32(1))
    x[1] = cuda.threadIdx.x

x = np.arange(64, dtype=np.float32)
d = cuda.to_device(x)
out = cuda.device_array_like(d)
assert cuda.is_available() and cuda.detect() and cuda.select_device(0)
with cuda.defer_cleanup(), cuda.pinned(x):
    stream = cuda.stream()
    reversed_in_blocks[2, 32, stream](d, out)
    stream.synchronize()
want = 2 * x.reshape(2, 32)[:, ::-1].ravel() + np.tile(np.arange(32), 2)
assert np.array_equal(out.copy_to_host(), want), out.copy_to_host()
racing[1, 64](cuda.InOut(x))
assert x[0] == 64
cuda.current_context().deallocations.clear()
try:
    cuda.open_ipc_array((1,), np.float32)
except AttributeError as error:
    assert "cuda.open_ipc_array needs a GPU: " in str(error)
else:
    raise AssertionError("it has no answer")
try:
    raise {driver}.CudaAPIError(1, "nothing")
except {driver}.CudaDriverError:
    print("ran")
"""
IMPORTS = {
    "numba": ("from numba import cuda, float32\nfrom numba.cuda.cudadrv import driver", "driver"),
    "numba alone": ("import numba, numba.cuda.cudadrv.driver\nfrom numba import cuda\nfloat32 = numba.types.f4",
                    "numba.cuda.cudadrv.driver"),
    "numba-cuda": ("import numba_cuda\nfrom numba import cuda, types\nfloat32 = types.float32", "cuda.cudadrv.driver"),
    "numba-cuda-mlir": ("from numba_cuda_mlir import cuda\nfrom numba_cuda_mlir.types import f32 as float32\n"
                        "import numba_cuda_mlir.cuda.cudadrv.driver", "cuda.cudadrv.driver"),
}  # fmt: skip


@pytest.mark.parametrize("package", every(2, IMPORTS))
def test_a_program_with_numpy_alone(tmp_path, package):
    """Values and findings; when the program has ended, the modules are gone."""
    imports, driver = IMPORTS[package]
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(imports=imports, driver=driver), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", HEAD, path], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["ran", "race"]


#: How programs choose among packages, each with what it gets if numba alone is installed, and if none is.
CHOICES = {
    "from importlib.util import find_spec\nprint(bool(find_spec('numba_cuda_mlir')))": ("False", "False"),
    "try: import numba_cuda_mlir as it\nexcept ImportError: import numba as it\nprint(it.__name__)": (
        "numba",
        "numba_cuda_mlir",
    ),
    "import numba_cuda_mlir as it\nprint(it.__name__)": ("numba_cuda_mlir", "numba_cuda_mlir"),
}


@pytest.mark.parametrize("choice", every(2, CHOICES))
@pytest.mark.parametrize("numba", [True, False], ids=["numba", "none"])
def test_a_program_chooses_among_packages_as_it_does_without_us(tmp_path, choice, numba):
    """What is not installed is imported where nothing else would do."""
    path = tmp_path / "program.py"
    path.write_text(choice, encoding="utf-8")
    hiding = HEAD.replace('"numba", "llvmlite", "numba_cuda", ', "") if numba else HEAD
    assert hiding != HEAD or not numba
    hiding = hiding.rpartition("assert not")[0]
    done = subprocess.run([sys.executable, "-c", hiding, path], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [CHOICES[choice][0 if numba else 1]]


ASKED = {
    "from numba import jitclass": (ImportError, "numba.jitclass needs numba, which is not installed"),
    "import numba.cuda.random": (ImportError, "numba.cuda.random needs numba"),
    "from numba_cuda_mlir.testing import run": (ImportError, "numba_cuda_mlir.testing needs numba-cuda-mlir"),
    "import numba\nnumba.vectorize": (AttributeError, "numba.vectorize needs numba"),
    "from numba import cuda\ncuda.compile_ptx": (AttributeError, "numba.cuda.compile_ptx needs numba"),
    "from numba import cuda\ncuda.gird": (AttributeError, "numba.cuda has no 'gird'"),
    "from numba import cuda\ncuda.grid(1)": (TypeError, "cuda.grid works in a kernel alone"),
    "from numba import cuda\ncuda.jit('void(float33[:])')(lambda x: None)": (TypeError, "invalid signature"),
    "from numba import cuda\ncuda.jit(lambda x: None)(1)": (ValueError, "configuration was not specified"),
    "from numba import cuda\ncuda.jit(lambda x: None, device=True)(1)": (RuntimeError, "is a device function"),
    "from numba import cuda\ncuda.jit(lambda x: None).get_regs_per_thread()": (AttributeError, "needs a compiler"),
    "from numba import cuda\ncuda.jit(lambda x: None)[1, 1](1)": (ImportError, "nothing stands in for a GPU"),
}


ASK = (
    HIDDEN
    + """
import json
from course_lib.machine.programs.stand_ins import kernels_defined

told = []
with kernels_defined():
    for text in json.loads(sys.argv[1]):
        try:
            exec(text)
            told.append(["", ""])
        except Exception as error:
            told.append([[each.__name__ for each in type(error).__mro__], str(error)])
print(json.dumps(told))
"""
)


def test_what_is_not_there_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", ASK, json.dumps([*ASKED])], capture_output=True, text=True, check=True)

    for (text, (kind, words)), (kinds, said) in zip(ASKED.items(), json.loads(done.stdout), strict=True):
        assert kind.__name__ in kinds and words in said, (text, said)


LATER = (
    HIDDEN
    + """
import runpy
import numpy as np
from course_lib import simulate
from course_lib.machine.programs.stand_ins import kernels_defined

with kernels_defined():
    names = runpy.run_path(sys.argv[1])
x = np.ones(64, np.float32)
for kernel in ("plain", "declared", "of_mlir"):
    simulate(names[kernel])[1, 64](x)
simulate(names["declared"].py_func)[1, 64](x)
print(x.sum(), names["on_the_host"](3))
try:
    simulate(names["declared"])[1, 64](x.astype(np.float64))
except Exception as error:
    print(type(error).__name__)
"""
)
DEFINED = """
from numba import cuda, float32, njit, types
from numba.cuda import grid, libdevice
from numba.cuda.libdevice import sqrtf
from numba_cuda_mlir import cuda as mcuda, types as mtypes

@njit
def on_the_host(x):
    return x + x

@cuda.jit
def plain(x):
    x[grid(1)] = sqrtf(types.float32(4)) * libdevice.sqrtf(on_the_host(x[grid(1)] + x[grid(1)]))

@mcuda.jit
def of_mlir(x):
    mine, shared = mcuda.local_array(2, mtypes.f32), mcuda.shared_array(64, mcuda.float32)
    mine[0], shared[mcuda.threadIdx.x] = mtypes.i8(257), mcuda.float4(1, 2, 3, 4).w
    x[mcuda.laneid + 32 * (mcuda.threadIdx.x // 32)] += mine[0] + shared[mcuda.threadIdx.x]

@cuda.jit([types.void(float32[::1])], fastmath=True)
def declared(x):
    x[cuda.grid(1)] += float32(1)
"""


def test_kernels_that_were_defined_are_simulated_later(tmp_path):
    """When the modules are gone: also names that were imported by themselves, and what is called on the host."""
    path = tmp_path / "defined.py"
    path.write_text(DEFINED, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", LATER, path], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(64 * (2 * 2 + 1.0 + (1 + 4) + 1)), "6", "LaunchError"], done.stderr


LESSON = (
    HIDDEN
    + """
import warnings

import course_lib
import numpy as np
import numba.extending
from numba import cuda, float32, njit

from course_lib import KernelError, simulate, without_gpu
from course_lib.kernels import LADDER, TENSOR_CORES, WGMMA, load4, rung

assert not [name for name in sys.modules if name.startswith(("llvmlite", "course_lib.kernels.llvm."))]
assert "numba is not installed" in repr(numba) and not cuda.is_available() and len(cuda.gpus) == 0

@cuda.jit
def reversed_in_blocks(x, y):
    tile = cuda.shared.array(32, float32)
    tile[cuda.threadIdx.x] = x[cuda.grid(1)]
    {barrier}
    y[cuda.grid(1)] = tile[31 - cuda.threadIdx.x]

x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
try:
    simulate(reversed_in_blocks)[2, 32](x, y)
except KernelError as error:
    print(type(error).__name__)
else:
    assert np.array_equal(y, x.reshape(2, 32)[:, ::-1].ravel())

rng = np.random.default_rng(3)
for each in (*LADDER, *TENSOR_CORES, *WGMMA):
    M, N, K = (5, 5, 5) if each.name == "single_block" else (37, 20, 18)
    A, B = rng.integers(-4, 5, (M, K)).astype(np.float32), rng.integers(-4, 5, (K, N)).astype(np.float32)
    C = np.full((M, N), np.nan, np.float32)
    run = simulate(each.make())[(*each.launch(M, N, K), 0, each.dynamic_bytes)](each.operand(A), each.operand(B), C)
    assert np.array_equal(C, each.multiplied(A) @ each.multiplied(B)), each.name

for ask in (lambda: cuda.to_device(x), lambda: cuda.runtime.get_version(), lambda: reversed_in_blocks[2, 32](x, y)):
    try:
        ask()
    except numba.cuda.cudadrv.error.CudaSupportError as error:
        assert "simulate(" in str(error)
    else:
        raise AssertionError("no GPU is there")
with without_gpu(strict=False) as simulated:
    assert cuda.is_available()
    d, out = cuda.to_device(x), cuda.device_array(64, np.float32)
    reversed_in_blocks[2, 32](d, out)
    assert out.copy_to_host().shape == (64,) and len(simulated.findings) == (1 if "{barrier}" == "pass" else 0)
assert not cuda.is_available()
try:
    load4(x, 0, 0)
except NotImplementedError as error:
    assert "load4 is an intrinsic" in str(error)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert njit(lambda x: x + 1)(1) == 2
assert "numba is not installed" in str(told[0].message)
"""
)


@pytest.mark.nightly
@pytest.mark.parametrize(("barrier", "says"), [("cuda.syncthreads()", ""), ("pass", "KernelError\n")])
def test_lessons_and_kernels_without_numba(tmp_path, barrier, says):
    """Each rung is simulated and right, a race is found, and what needs a GPU says so."""
    path = tmp_path / "lesson.py"
    path.write_text(LESSON.replace("{barrier}", barrier), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (says, 0), done.stderr


TRIES = {
    "try: import numba\nexcept ImportError: print('none')": "none",
    "import importlib\ntry: importlib.import_module('numba')\nexcept ImportError: print('none')": "none",
    "from importlib.util import find_spec\nprint(find_spec('numba'))": "None",
    "import numba_cuda": "No module named 'numba_cuda'",
}


@pytest.mark.parametrize("choice", TRIES)
def test_a_program_that_does_without_numba_does_not_get_ours(tmp_path, choice):
    """As pandas does: what is looked for, or imported in a try, is missing where it is not installed."""
    path = tmp_path / "program.py"
    path.write_text(choice, encoding="utf-8")
    code = HIDDEN + "import course_lib, runpy\ntry: runpy.run_path(sys.argv[1])\nexcept ImportError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == TRIES[choice]


KERNEL = """
from numba import cuda, float32

kind = float32

@cuda.jit(fastmath=True)
def declared(x, y):
    x[cuda.grid(1)] += kind(1)
"""
IDENTITY = """
import sys
from pathlib import Path
import numpy as np
from course_lib.machine.machine_code.find import options_of, types_of
from course_lib.machine.machine_code.identity import digest
from course_lib.machine.profile.kernel_files import load

kernel = load(Path(sys.argv[1])).kernel("declared")
matrix = np.zeros((8, 8), np.float32)
for types in ((matrix, matrix.T, 1, 2.5, (np.int8(1), 2), True), "void(float32[:, ::1], int64)"):
    print(digest(kernel, types_of(types), options_of(kernel)))
"""


def test_machine_code_is_found_without_numba(tmp_path):
    """Recorded code is kept by the kernel's text and types, which are the same."""
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    found = [
        subprocess.run([sys.executable, "-c", text, path], capture_output=True, text=True, check=True).stdout
        for text in (IDENTITY, HIDDEN + IDENTITY)
    ]
    assert len(found[0].split()) == 2 and found[0] == found[1]


@pytest.mark.parametrize("find", [unknown, unknown_methods], ids=["names", "methods"])
def test_all_that_is_public_has_its_place(find):
    """A new version of numba shows here what is new; the other packages are compared where they are installed."""
    assert find("numba.cuda") == []
