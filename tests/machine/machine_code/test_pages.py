"""The tables of notebooks/numba_and_cuda_c.md that say what is compiled: each row is compiled, in both languages.

They hold for the versions that the page names, as far as an instruction may have another name with others.
"""

import re

import numpy as np
import pytest
from numba import cuda, float32, int32, typeof, types, uint16
from oracles.sources import import_kernel

from course_lib.classroom.lessons import home
from course_lib.kernels import rung
from course_lib.kernels.bulk_copy import Mapped
from course_lib.machine.gpu import cuda_c
from course_lib.machine.machine_code.compiling import available, compiled, disassembled
from course_lib.machine.machine_code.identity import HOPPER
from course_lib.machine.machine_code.instructions import from_listing

core = pytest.importorskip("cuda.core", reason="NVRTC comes with the extras cu12, cu13 and compiler")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not available(), reason="the compiler is not installed"),
]
PAGE = (home() / "numba_and_cuda_c.md").read_text(encoding="utf-8")

NUMBA = """
import math
from numba import cuda, float32, int32
from course_lib.kernels.vector import load4, store4

def kernel(f, i, g):
    s, n = cuda.shared.array(64, float32), cuda.shared.array(64, int32)
    t, m = cuda.threadIdx.x, 0xFFFFFFFF
    s[t], n[t], v, w = f[t], i[t], f[t], {w}
    cuda.syncthreads()
    {statement}
    cuda.syncthreads()
    f[t], i[t] = v + s[t], w + n[t]
"""
CUDA_C = """
extern "C" __global__ void kernel(float *f, int *i) {{
    __shared__ float s[64];
    __shared__ int n[64];
    int t = threadIdx.x, m = 0xFFFFFFFF;
    float v = f[t];
    {w};
    s[t] = f[t], n[t] = i[t];
    __syncthreads();
    {statement};
    __syncthreads();
    f[t] = v + s[t], i[t] = w + n[t];
}}
"""
ARRAYS = float32[::1], int32[::1], float32[:, ::1]


def rows(section):
    """Return the cells of the table's rows below a heading, each the texts in its backticks."""
    lines = PAGE.split(f"## {section}\n")[1].split("\n## ")[0].splitlines()
    table = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")][2:]
    return [[re.findall(r"`([^`]+)`", cell) for cell in row] for row in table]


def ptx(kernel, arrays=ARRAYS, **options):
    return cuda.compile_ptx(kernel, types.void(*arrays), cc=(*HOPPER, "a"), abi="numba", **options)[0]


def in_numba(statement, folder, w="i[t]"):
    return import_kernel(NUMBA.format(statement=statement, w=w), folder)


def operations(code):
    """Return the names of a binary's instructions, in their order."""
    return [each.operation for each in from_listing(disassembled(bytes(code)), {})]


def in_c(text, **options):
    """Return the names of the instructions that NVRTC makes of a text."""
    program = core.Program(text, "c++", core.ProgramOptions(name="kernel.cu", arch="sm_90", std="c++17", **options))
    return operations(program.compile("cubin").code)


def statement_in_c(statement, w="int w = i[t]", **options):
    return in_c(CUDA_C.format(statement=statement, w=w), **options)


def has(names, operation):
    return any(name.startswith(operation) for name in names)


@pytest.mark.parametrize(
    "row", rows("Atomics-and-shuffles") + rows("Vector-loads"), ids=lambda row: row[0][0].replace(" ", "")
)
def test_a_statement_becomes_these_instructions_in_both_languages(row, tmp_path):
    """And they come from it: a kernel without the statement has none of them, but for its own barriers and loads."""
    (statement,), of_c, texts, names = row
    kernel, without = in_numba(statement, tmp_path), in_numba("pass", tmp_path)
    made = [[each.operation for each in compiled(kernel, ARRAYS).instructions]]
    if statement not in ("cuda.atomic.max(f, 0, v)",):  # which CUDA C lacks
        made.append(statement_in_c(*of_c))
    assert all(ptx(kernel).count(text) > ptx(without).count(text) for text in texts)
    assert all(has(found, name) for found in made for name in names)
    bare = [each.operation for each in compiled(without, ARRAYS).instructions]
    assert not any(has(bare, name) for name in names) or statement == "cuda.syncthreads()"


@pytest.mark.parametrize("row", rows("Fast-math"), ids=lambda row: row[0][0].replace(" ", ""))
def test_fast_math_takes_the_approximate_instruction(row, tmp_path):
    """In numba's PTX, and with fewer instructions in both languages."""
    (statement,), (of_c,), exact, (fast,) = row
    kernel = in_numba(statement, tmp_path, w="f[t + 1]")
    assert all(text in ptx(kernel) for text in exact)
    loose = ptx(kernel, fastmath=True)
    assert fast in loose and not any(text in loose for text in exact if text != fast)
    quick = cuda.jit(fastmath=True)(kernel)
    assert len(compiled(quick, ARRAYS).instructions) < len(compiled(kernel, ARRAYS).instructions)
    counts = [len(statement_in_c(of_c, w="float w = f[t + 1]", use_fast_math=fast)) for fast in (True, False)]
    assert counts[0] < counts[1]


@pytest.mark.parametrize("name", ["naive", "tiled"])
def test_fast_math_leaves_a_product_of_matrices_as_long_as_it_is(name):
    matrices = (float32[:, ::1],) * 3
    kernel = rung(name).make(**rung(name).params).py_func
    codes = [compiled(cuda.jit(fastmath=fast)(kernel), matrices) for fast in (False, True)]
    assert len(codes[0].instructions) == len(codes[1].instructions)
    params = {"tile_width": 32} if name == "tiled" else {}
    made = [cuda_c.compiled(name, params, "sm_90", options={"use_fast_math": fast}).code for fast in (False, True)]
    assert len(operations(made[0])) == len(operations(made[1]))


@pytest.mark.parametrize("promise", ["", "__restrict__"])
def test_four_neighbours_stay_four_loads(promise, tmp_path):
    """Of global memory, copied one by one."""
    lines = "\n    ".join(f"f[4 * t + {j}] = g[1, 4 * t + {j}]" for j in range(4))
    made = compiled(
        import_kernel(
            f"from numba import cuda\n\ndef kernel(f, i, g):\n    t = cuda.threadIdx.x\n    {lines}\n", tmp_path
        ),
        ARRAYS,
    )
    lines = "; ".join(f"x[4 * t + {j}] = y[4 * t + {j}]" for j in range(4))
    arguments = f"float *{promise} x, const float *{promise} y"
    text = f'extern "C" __global__ void kernel({arguments}) {{ int t = threadIdx.x; {lines}; }}'
    for names in ([each.operation for each in made.instructions], in_c(text)):
        assert sum(name.startswith("LDG.E") for name in names) == sum(name.startswith("STG.E") for name in names) == 4


AGAIN = """
from numba import cuda, float32

def kernel(f, i, g):
    t = cuda.threadIdx.x
    f[t] = g[0, 0] * float32(2)
    f[t + 64] = g[0, 0] * float32(3)
"""
AGAIN_IN_C = """
extern "C" __global__ void kernel(float *PROMISE x, const float *PROMISE y) {
    x[threadIdx.x] = y[0] * 2;
    x[threadIdx.x + 64] = y[0] * 3;
}
"""


def test_a_load_is_made_again_after_a_store_without_the_promise(tmp_path):
    in_numba = [each.operation for each in compiled(import_kernel(AGAIN, tmp_path), ARRAYS).instructions]
    plain, promised = (in_c(AGAIN_IN_C.replace("PROMISE", word)) for word in ("", "__restrict__"))
    loads = [[name for name in names if name.startswith("LDG")] for names in (in_numba, plain, promised)]
    assert loads == [["LDG.E"] * 2, ["LDG.E"] * 2, ["LDG.E.CONSTANT"]]


def tiled_in_c(width, promise):
    """Return the loads, barriers and multiply-adds of the loop of `tiled`, in their order, as letters."""
    text = cuda_c.source("tiled")
    if promise:
        text = re.sub(r"float \*([ABC])", r"float *__restrict__ \1", text)
    program = core.Program(text, "c++", core.ProgramOptions(name="tiled.cu", arch="sm_90", std="c++17"))
    names = operations(program.compile("cubin", name_expressions=(f"tiled<{width}>",)).code)
    kinds = {"LDG": "L", "BAR": "|", "FFMA": "*"}
    return "".join(kinds[start] for name in names if (start := re.match(r"[A-Z]*", name)[0]) in kinds)


def test_a_promise_lets_loads_move_over_a_barrier_but_not_into_another_iteration():
    """Of tiles of 8 two pairs are unrolled: as written each loads behind the barrier of the pair before."""
    assert re.match(r"LL\|\**\|\**LL\**\|", tiled_in_c(8, promise=False))
    assert re.match(r"L+\|\**L\**\|\**\|", tiled_in_c(8, promise=True))
    for width in (16, 32):
        assert tiled_in_c(width, promise=True) == tiled_in_c(width, promise=False)
        assert re.fullmatch(r"LL\|\*+\|\**", tiled_in_c(width, promise=True))


USED = """
from numba import cuda, float32, uint16, uint32, uint64
from course_lib.kernels.async_copy import *
from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, tile_copy, wait_barrier
from course_lib.kernels.tensor_core import mma_bf16, mma_tf32
from course_lib.kernels.tensor_core_formats import to_tf32
from course_lib.kernels.tensor_core_loads import load_matrices, load_matrices_transposed
from course_lib.kernels.vector import load2, load4, store2, store4
from course_lib.kernels.warpgroup import (
    BF16, commit_products, descriptor, fence_proxy, fence_registers, products, wait_for_products,
)

multiply, wait, copy = products(BF16, 64), wait_for_products(64), tile_copy(64, 64)

def kernel(f, g, h, mapped):
    floats, halves = cuda.shared.array((64, 32), float32), cuda.shared.array((64, 64), uint16)
    flat, barriers = cuda.shared.array(4096, uint16), cuda.shared.array(4, uint64)
    acc = cuda.local.array(32, float32)
    t, x, w = cuda.threadIdx.x, f[cuda.threadIdx.x], uint32(cuda.threadIdx.x)
    {statement}
"""
#: A call of each function, whose result is stored.
CALLS = {
    "load4": "f[t], f[t + 1], f[t + 2], f[t + 3] = load4(g, 0, 4 * t)",
    "load2": "f[t], f[t + 1] = load2(g, 0, 2 * t)",
    "store4": "store4(g, 0, 4 * t, (x, x, x, x))",
    "store2": "store2(g, 0, 2 * t, (x, x))",
    "copy_async": "copy_async(floats, 0, t, g, 0, t)",
    "copy4_async": "copy4_async(floats, 0, 4 * t, g, 0, 4 * t)",
    "copy8_async": "copy8_async(halves, 0, 8 * t, h, 0, 8 * t)",
    "commit_copies": "commit_copies()",
    "wait_copies": "wait_copies(0)",
    "to_tf32": "f[t] = to_tf32(x)",
    "mma_tf32": "f[t], f[t + 1], f[t + 2], f[t + 3] = mma_tf32((x, x, x, x), (x, x), (x, x, x, x))",
    "mma_bf16": "f[t], f[t + 1], f[t + 2], f[t + 3] = mma_bf16((w, w, w, w), (w, w), (x, x, x, x))",
    "load_matrices": "f[t], f[t + 1], f[t + 2], f[t + 3] = load_matrices(floats, t, 0)",
    "load_matrices_transposed": "f[t], f[t + 1], f[t + 2], f[t + 3] = load_matrices_transposed(halves, t, 0)",
    "fence_proxy": "fence_proxy()",
    "fence_registers": "fence_registers()",
    "multiply": "multiply(acc, uint64(0), uint64(0), 0)",
    "commit_products": "commit_products()",
    "wait": "wait(acc, 0)",
    "copy": "copy(flat, 0, mapped, 0, 0, barriers, 0)",
    "init_barrier": "init_barrier(barriers, 0, 1)",
    "expect_bytes": "expect_bytes(barriers, 0, 64)",
    "wait_barrier": "wait_barrier(barriers, 0, 0)",
}
OF_THE_PAGE = {name: row[1] for row in rows("Intrinsics-and-PTX") for name in row[0] if "(" not in name}


def test_the_page_names_every_intrinsic():
    """All functions that write the compiler's own code, but for `descriptor`, which computes a number."""
    calls = {
        name
        for path in cuda_c.FOLDER.glob("*.py")
        for name in re.findall(r"@(?:declared|intrinsic)\b[^\n]*\n *def (\w+)", path.read_text(encoding="utf-8"))
    }
    assert {*OF_THE_PAGE} == {*CALLS} == calls - {"descriptor"}


@pytest.mark.parametrize("name", CALLS)
def test_an_intrinsic_becomes_the_instruction_that_the_page_names(name, tmp_path):
    """And no kernel without the call has it."""
    mapped = typeof(Mapped(np.zeros(16, np.uint64), (64, 64)))
    arrays = (float32[::1], float32[:, ::1], uint16[:, ::1], mapped)
    kernel, without = (import_kernel(USED.format(statement=each), tmp_path) for each in (CALLS[name], "pass"))
    (text,) = OF_THE_PAGE[name]
    assert text in ptx(kernel, arrays) and text not in ptx(without, arrays)
