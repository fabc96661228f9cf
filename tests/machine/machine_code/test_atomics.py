"""Which atomics the compiler's code combines in the warp, counts or retries, beside what the simulator says of them."""

import numba
import numpy as np
import pytest
from nightly import every
from oracles.sources import import_kernel

from course_lib import simulate
from course_lib.machine.machine_code.compiling import available, compiled

KERNEL = """
from numba import cuda, {dtype}

def kernel(where, value, x, n, old):
    i = cuda.threadIdx.x
    array = {array}
    {begin}
    {used}cuda.atomic.{operation}(array, {index}, {operand})
"""
SPACES = {
    "shared": ("cuda.shared.array(4, {dtype})", "array[i % 4] = 0; cuda.syncthreads()"),
    "global": ("value", ""),
}
#: Space, type, operation, index and operand; whether the kernel reads the old value.
FORMS = [
    ("shared", "int32", "add", "where[i]", "x[i]", False),
    ("shared", "int32", "add", "0", "x[i]", False),
    ("shared", "int32", "add", "where[i]", "1", False),
    ("shared", "int32", "add", "where[i]", "1", True),
    ("shared", "int32", "add", "where[i]", "2", False),
    ("shared", "int32", "add", "0", "x[i]", True),
    ("shared", "int32", "add", "n", "n", True),
    ("shared", "int32", "max", "0", "x[i]", False),
    ("shared", "int32", "max", "0", "x[i]", True),
    ("shared", "int32", "xor", "where[0]", "x[i]", False),
    ("shared", "int32", "exch", "0", "x[i]", False),
    ("shared", "int32", "cas", "0", "0, x[i]", False),
    ("shared", "uint32", "inc", "0", "7", False),
    ("shared", "int64", "add", "0", "1", False),
    ("shared", "int64", "add", "0", "x[i]", False),
    ("shared", "int64", "max", "where[i]", "x[i]", False),
    ("shared", "float32", "add", "0", "1", False),
    ("global", "int32", "add", "0", "x[i]", False),
    ("global", "int32", "add", "0", "1", True),
    ("global", "int32", "max", "0", "x[i]", True),
    ("global", "int64", "sub", "0", "n", False),
    ("global", "int64", "or_", "0", "x[i]", False),
    ("global", "float32", "add", "0", "x[i]", False),
]


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
@pytest.mark.parametrize("form", every(4, FORMS), ids=lambda form: " ".join(map(str, form)))
def test_the_compiler_combines_counts_and_retries_as_the_simulator_says(form, tmp_path):
    space, dtype, operation, index, operand, used = form
    array, begin = (part.format(dtype=dtype) for part in SPACES[space])
    text = {"array": array, "begin": begin, "operation": operation, "index": index, "operand": operand}
    kernel = import_kernel(KERNEL.format(dtype=dtype, used="old[i] = " if used else "", **text), tmp_path)
    kind = getattr(numba, dtype)
    types = [numba.int64[::1], kind[::1], kind[::1], numba.int64, kind[::1]]
    code = [each.text for each in compiled(kernel, types).instructions]

    where, value, x, old = np.zeros(32, np.int64), np.zeros(4, dtype), np.arange(32).astype(dtype), np.zeros(32, dtype)
    traffic = simulate(kernel, strict=False)[1, 32](where, value, x, 0, old).traffic.select(op="atomic")
    counted = any("POPC.INC" in line for line in code)
    combined = any("VOTE" in line for line in code)
    assert traffic.rounds == 32
    assert traffic.serialized == (1 if counted or combined else 32)
    passes = 2 if any("SPIN" in line or "ATOMS.CAS " in line for line in code) else 1
    assert traffic.atomic_wavefronts == (passes * traffic.serialized if space == "shared" else 0)
