"""What kernels take besides arrays and numbers: tuples, arrays from outside, dynamic shared memory."""

from collections import namedtuple

import numpy as np
import pytest
from numba import cuda, float32, float64, int32

from course_lib import KernelError, LaunchError, UnsupportedKernelError, simulate

Point = namedtuple("Point", "x y")
TABLE = np.array([3, 1, 4, 1, 5])
ORIGIN = Point(2, 3)


@cuda.jit(device=True)
def length2(p):
    return p.x * p.x + p.y * p.y


def test_tuples_and_namedtuples_as_arguments():
    def kernel(pair, point, shape):
        a, b = pair
        i = cuda.grid(1)
        if i < shape[0]:
            b[i] = a[i] + length2(point) + length2(Point(1, y=i)) + length2(ORIGIN)

    a, b = np.arange(4), np.zeros(4, "i8")
    run = simulate(kernel)[1, 8]((a, b), Point(1, 2), (4,))
    assert b.tolist() == [i + 5 + 1 + i * i + 13 for i in range(4)] and run.findings == ()
    assert run.traffic.select(op="load", array="pair[0]").accesses == 4


def test_out_of_bounds_in_a_tuple_names_its_item():
    def kernel(point):
        point.x[cuda.grid(1)] = 1

    with pytest.raises(KernelError, match=r"point.x\[2\]"):
        simulate(kernel)[1, 4](Point(np.zeros(2), 1))


def test_an_accidental_float64_in_a_tuple_argument():
    def kernel(a, pair):
        a[0] = a[1] * pair[0]

    (finding,) = simulate(kernel)[1, 1](np.ones(2, "f4"), (0.5, 1)).findings
    assert finding.kind == "float64" and "a Python float argument" in finding.message


def test_arrays_from_outside_are_constants():
    def kernel(a):
        table = cuda.const.array_like(TABLE)
        i = cuda.grid(1)
        a[i] = table[i] + 10 * TABLE[4 - i]

    a = np.zeros(5, "i8")
    run = simulate(kernel)[1, 5](a)
    assert a.tolist() == [53, 11, 44, 11, 35] and run.findings == ()
    assert run.traffic.select(space="constant").accesses == 10
    assert run.traffic.select(space="global", op="load").accesses == 0
    TABLE[0] = 7
    try:
        run = simulate(kernel)[1, 5](a)
    finally:
        TABLE[0] = 3
    assert a.tolist() == [53, 11, 44, 11, 35]
    assert {f.kind for f in run.findings} == {"changed-constant"}


def test_an_array_from_outside_cannot_be_written():
    def kernel(a):
        TABLE[0] = a[0]

    with pytest.raises(UnsupportedKernelError, match="constant of the kernel"):
        simulate(kernel)[1, 1](np.zeros(1, "i8"))


def test_an_index_outside_a_constant_is_out_of_bounds():
    def kernel(a):
        a[0] = TABLE[a.size + 5]

    with pytest.raises(KernelError, match=r"TABLE\[6\]"):
        simulate(kernel)[1, 1](np.zeros(1, "i8"))


def test_dynamic_shared_memory():
    def kernel(a):
        memory = cuda.shared.array(0, float32)
        first, second = memory[:8], memory[8:]
        i = cuda.threadIdx.x
        first[i] = a[i]
        second[i] = 2 * a[i]
        cuda.syncthreads()
        a[i] = first[7 - i] + second[7 - i] + memory.size

    a = np.arange(8, dtype="f4")
    run = simulate(kernel)[1, 8, 0, 64](a)
    assert a.tolist() == [3.0 * (7 - i) + 16 for i in range(8)]
    assert run.traffic.select(space="shared", op="load", array="memory").accesses == 16


def test_two_names_of_the_dynamic_shared_memory_are_one():
    def kernel(a):
        first = cuda.shared.array(0, int32)
        second = cuda.shared.array(0, int32)
        first[0] = 5
        a[0] = second[0]

    a = np.zeros(1, "i8")
    simulate(kernel)[1, 1, 0, 4](a)
    assert a[0] == 5


def test_two_types_of_one_size_name_the_dynamic_shared_memory():
    def kernel(a, bits):
        i = cuda.threadIdx.x
        first = cuda.shared.array(0, float32)
        whole = cuda.shared.array(0, int32)
        second = whole[1:]
        first[i] = a[i]
        cuda.syncthreads()
        if i < 7:
            bits[i] = second[i]

    a, bits = np.linspace(-1, 1, 8, dtype="f4"), np.zeros(8, "i4")
    assert simulate(kernel)[1, 8, 0, 32](a, bits).findings == ()
    assert bits[:7].tolist() == a.view("i4")[1:].tolist()

    def racing(a, bits):
        i = cuda.threadIdx.x
        first = cuda.shared.array(0, float32)
        second = cuda.shared.array(0, int32)
        first[i] = a[i]
        bits[i] = second[7 - i]

    (race,) = simulate(racing, strict=False)[1, 8, 0, 32](a, bits).findings
    assert race.kind == "race"


def dynamic(a):
    memory = cuda.shared.array(0, float32)
    memory[0] = a[0]


def two_types(a):
    memory = cuda.shared.array(0, float32)
    other = cuda.shared.array(0, float64)
    memory[0] = other[0] = a[0]


@pytest.mark.parametrize(
    ("kernel", "size", "error", "words"),
    [
        (dynamic, 0, UnsupportedKernelError, "fourth number"),
        (dynamic, 49153, LaunchError, "49,152 bytes"),
        (dynamic, -1, LaunchError, "0 or more"),
        (dynamic, 1.5, LaunchError, "whole number of bytes"),
        (two_types, 64, UnsupportedKernelError, "types of one size for it"),
    ],
)
def test_dynamic_shared_memory_that_cannot_be(kernel, size, error, words):
    with pytest.raises(error, match=words):
        simulate(kernel)[1, 1, 0, size](np.zeros(1))
