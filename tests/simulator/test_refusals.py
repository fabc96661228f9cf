"""What the simulator does not run is refused, with the line and what to write instead."""

import numpy as np
import pytest
from numba import cuda, float32
from oracles.sources import import_kernel

from course_lib import UnsupportedKernelError, simulate

SIZE = 4

HEAD = """\
import math
import numpy as np
from numba import cuda, float32

SIZE = 4
VALUES, LIST = np.ones(3), []

def plain_helper(x):
    return x

@cuda.jit(device=True)
def scaled(x, factor=2):
    return x * factor

def kernel(a):
"""

#: The statements of a kernel, of which a single one or the one marked "here" is refused, and words of the message.
REFUSED = [
    ("a[0] = np.sqrt(a[1])", "use math.sqrt"),
    ("try:  # here\n    a[0] = 1\nfinally:\n    a[0] = 2", None),
    ("with a:  # here\n    pass", None),
    ('name = "x"  # here\na[0] = name', None),
    ("values = [1, 2]  # here\na[0] = values[0]", "cuda.local.array"),
    ("a[0] = sum(x for x in range(3))", None),
    ("a[0] = LIST[0]", "LIST is a list outside the kernel, .* make it a tuple"),
    ("a[0] = cuda.blockdim.x", "numba.cuda has no 'blockdim'; write cuda.blockDim"),
    ("a[0] = np.random.rand()", "an array of random numbers that the host draws"),
    ("a[:] = a", "loop over single elements"),
    ("a[0] = plain_helper(1)", r"@cuda.jit\(device=True\)"),
    ("return a[0]", None),
    ("a[0] = missing", "'missing' is not defined"),
    ("a[a[0]] = 1", "must be an integer"),
    ("a[0, 1] = 1", None),
    ("tile = cuda.shared.array((2, 2), float32)\na[0] = tile[0]  # here", r"write an element, tile\[0\]\[i\]"),
    ("tile = cuda.shared.array(SIZE * 2, float32)  # here\ntile[0] = 1", "name outside the kernel"),
    ("tile = cuda.shared.array(a.shape[0], float32)  # here\ntile[0] = 1", None),
    ("for v in (1, 2.5):  # here\n    a[0] = v", "convert the items"),
    ("for k in reversed(range(3)):  # here\n    a[0] = k", None),
    ("for k in 3:  # here\n    a[0] = k", None),
    ("pair = (1, 2.5)\na[0] = pair[cuda.threadIdx.x % 2]  # here", None),
    ("a[0] = (1, 2) < 3", None),
    ("t = (1, 2) * a.size  # here\na[0] = t[3]", None),
    ("t = (1, 2)\nt[0] = 3  # here", None),
    ("a[0] = a[0] is a[1]", "== or !="),
    ("a[0] = 1.0 in a", None),
    ("index = cuda.threadIdx\nif a[0] > 1:\n    index = cuda.blockIdx\na[index.x] = 1  # here", "on every path"),
    ("v = cuda.local.array(3, float)  # here\nv[0] = a[0]", "write float64"),
    ("a[0] = sum(a)", "add in a loop"),
    ("a[0] = a[0] + 1j", r"take .real, .imag or abs\(\)"),
    ("if a[0] * 1j < 2:  # here\n    a[0] = 0", "compare .real"),
    ("a[0] = (n := 3) + n", None),
    ("cuda.cg.this_block().sync()", None),
    ("a[0] = math.comb(4, 2)", "multiply in a loop"),
    ("a[0] = a.sum()", None),
    ("v = a\nif a[0] > 0:\n    v = 1\na[0] = v  # here", None),
    ("a[0] = cuda.grid(ndim=1)", None),
    ("a[0] = scaled()", r"takes 2 arguments \(x, factor\), not 0"),
    ("a[0] = scaled(1, scale=3)", "none of them"),
    ("a[0] = scaled(1, x=3)", "given twice"),
    ("a[0] = scaled(*a)", None),
    ("cuda.atomic.add(a, (0,), 1)", None),
    ("cuda.syncthreads(1)  # here\na[0] = 1", "takes no arguments"),
    ("cuda.syncwarp(0xFFFFFFFF, 1)  # here\na[0] = 1", None),
    ("a[cuda.grid(1, 2)] = 1", None),
    ("tile = cuda.shared.array(4, float32, 16, 1)  # here\ntile[0] = a[0]", None),
    ("a[0] = cuda.match_any_sync(0xFFFFFFFF)", None),
    ("a[0] = cuda()", None),
    ("a[0] = round(a[1], ndigits=2)", r"1 or 2 arguments without names, and is given the name ndigits"),
    ("a[0] = math.log(a[1], 2)", "divide by the log of the base"),
    ("a[cuda.threadIdx] = 1", r"write cuda.threadIdx.x, .y or .z"),
    ("a[0] = a", r"write an element, a\[i\]"),
    ("for k in a.shape[0]:  # here\n    a[k] = 1", r"write range\(a.shape\[0\]\)"),
    ("first, *_ = (1, 2, 3)  # here\na[0] = first", None),
    ("a[0] = a[0] @ a[1]", "multiply and add in a loop"),
    ("a[0] = 1 << 100", None),
    ("yield a[0]", None),
    ("a[0] = VALUES.sum()", "method of an object outside the kernel, of type ndarray"),
    ("a[0] = SIZE.bit_length()", "method of an object outside the kernel, of type int"),
    ("LIST.append(1)", "call it before the launch"),
    ("a[0] = 1\ncuda.syncthreads  # here", r"cuda.syncthreads is not called; write cuda.syncthreads\(\)"),
    ("cuda.syncthread()", "numba.cuda has no 'syncthread'; write cuda.syncthreads"),
    ("a[0] = math.sqroot(a[0])", "math has no 'sqroot'; write math.sqrt"),
]


@pytest.mark.parametrize(("body", "words"), REFUSED)
def test_it_is_refused_at_its_line(body, words, tmp_path):
    kernel = import_kernel(HEAD + "".join(f"    {line}\n" for line in body.splitlines()), tmp_path)
    marked = next((n for n, line in enumerate(body.splitlines()) if "# here" in line), 0)
    line = len(HEAD.splitlines()) + 1 + marked
    with pytest.raises(UnsupportedKernelError, match=words) as caught:
        simulate(kernel)[1, 4](np.ones(8, "f4"))
    assert caught.value.line == line
    message = str(caught.value)
    assert message.startswith(f"line {line}: ") and "\n" not in message and len(message) < 200


def test_an_array_without_dimensions_is_no_number():
    def kernel(a, out):
        out[0] = a

    with pytest.raises(UnsupportedKernelError, match=r"write an element, a\[\(\)\]"):
        simulate(kernel)[1, 1](np.array(4.0), np.zeros(1))


def test_an_unknown_shape_is_refused_by_the_error_that_the_api_names():
    """The error that the caller of a device function handles is not part of the API."""

    def kernel(a):
        tile = cuda.shared.array((SIZE, cuda.blockDim.x), float32)
        a[0] = tile[0, 0]

    with pytest.raises(UnsupportedKernelError, match="must be known when the kernel is compiled") as refused:
        simulate(kernel)[1, 4](np.ones(8))
    assert type(refused.value) is UnsupportedKernelError


def test_recursion_is_refused():
    with pytest.raises(UnsupportedKernelError, match="cannot recurse"):
        simulate(calls_recursive)[1, 1](np.zeros(1))


@cuda.jit(device=True)
def recursive(n):
    return recursive(n - 1) if n > 0 else 0


def calls_recursive(a):
    a[0] = recursive(3)


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        *((name, "f4 f8 i4 u4 i8 u8") for name in ("add", "sub", "max", "min", "nanmax", "nanmin")),
        *((name, "i4 u4 i8 u8") for name in ("and_", "or_", "xor", "exch", "cas")),
        *((name, "u4 u8") for name in ("inc", "dec")),
    ],
)
def test_an_atomic_takes_what_numbas_takes(tmp_path, name, takes):
    """The types of numba's own declaration; a histogram of uint8 does not compile there."""
    values = "1, 2" if name == "cas" else "1"
    text = f"from numba import cuda\n\n\ndef kernel(a):\n    cuda.atomic.{name}(a, 0, {values})\n"
    kernel = import_kernel(text, tmp_path)
    for dtype in "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8".split():
        if dtype in takes.split():
            simulate(kernel)[1, 1](np.zeros(1, dtype))
        else:
            with pytest.raises(UnsupportedKernelError, match=f"cuda.atomic.{name} needs an array of"):
                simulate(kernel)[1, 1](np.zeros(1, dtype))
