"""Arrays in a GPU's memory: what nothing wrote, parts with their true addresses, and one array passed twice."""

import copy

import numpy as np
import pytest
from numba import cuda

from course_lib import without_gpu
from course_lib.simulator import device_memory

KERNELS = """
@cuda.jit
def copied(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i]

@cuda.jit
def counted(x):
    cuda.atomic.add(x, cuda.grid(1) % x.size, 1)

@cuda.jit
def added(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]

@cuda.jit
def shifted(a, b):
    i = cuda.grid(1)
    if i + 1 < a.size:
        b[i] = a[i + 1]

@cuda.jit
def flat(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i // x.shape[1], i % x.shape[1]] += 1

@cuda.jit
def fields(records, out):
    out[0] = records[0].b

"""
DTYPES = ("float32", "float64", "float16", "complex64", "int8", "int32", "int64", "uint16", "bool")


def kinds(run):
    return {finding.kind for finding in run.findings if finding.kind != "float64"}


OF_THE_HOST = ("mapped_array", "managed_array", "pinned_array")


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        (made, dtype)
        for made in ("device_array", *OF_THE_HOST)
        for dtype in DTYPES
        if made == "device_array" or np.dtype(dtype).itemsize >= 4
    ],
)
def test_memory_that_nothing_wrote(hosted, made, dtype):
    """A kernel that reads it, and an atomic, are told; one that only writes it is right, and then it is written.

    Of the host's, elements of less than four bytes may hold any value that the host stored unseen.
    """
    launches, _ = hosted(
        f"{KERNELS}d = cuda.{made}(40, np.dtype('{dtype}'))\no = cuda.device_array(8, np.dtype('{dtype}'))\n"
        f"copied[1, 32](d[8:16], o)\n"
        f"copied[1, 32](np.ones(8, '{dtype}'), d[8:16])\ncopied[1, 32](d[8:16], o)\ncopied[1, 32](d[9:17], o)\n"
    )
    found = [kinds(each) for each in launches]
    assert found == [{"uninitialized-read"}, set(), set(), {"uninitialized-read"}]
    assert [each.findings[0].count for each in (launches[0], launches[3])] == [8, 1]
    assert "[7]" in launches[3].findings[0].message


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint64"])
def test_an_atomic_on_memory_that_nothing_wrote(hosted, dtype):
    launches, _ = hosted(
        f"{KERNELS}d = cuda.device_array(4, np.{dtype})\ncounted[1, 32](d)\nd[:] = 0\ncounted[1, 32](d)\n"
        "assert d.copy_to_host().tolist() == [8] * 4\n"
    )
    assert [kinds(each) for each in launches] == [{"uninitialized-read"}, set()]


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_the_host_reads_of_it_is_not_zero(hosted, dtype):
    """In no element, of no type; and it is said."""
    _, said = hosted(
        f"d = cuda.device_array(9, np.dtype('{dtype}'))\nd[:4] = np.zeros(4, '{dtype}')\nh = d.copy_to_host()\n"
        "assert not h[:4].any() and not np.any(h[4:] == 0) and h[4:].all()\nassert d[8] != 0\n"
    )
    assert "5 of 9 elements that nothing wrote" in said


@pytest.mark.parametrize(
    "write",
    [
        "d[:] = 0",
        "d[...] = 1",
        "d.copy_to_device(np.ones(32, np.int32))",
        "cuda.to_device(np.ones(32, np.int32), to=d)",
        "d[:16] = 2\nd[16:] = cuda.to_device(np.ones(16, np.int32))",
        "for i in range(32):\n    d[i] = i",
        "d.reshape(4, 8)[:, :] = 3",
        "d.view(np.int16)[:] = 1",
        "d.setitem(slice(None), 1)",
        "d.copy_to_device(cuda.to_device(np.ones(32, np.int32)))",
        "f = numba.vectorize(['int32(int32)'], target='cuda')(lambda v: v + 1)\nf(np.ones(32, 'i4'), out=d)",
    ],
)
def test_every_way_to_write_it(hosted, write):
    """After it nothing is told."""
    launches, _ = hosted(
        f"{KERNELS}d = cuda.device_array(32, np.int32)\n{write}\ncopied[1, 32](d, np.zeros(32, 'i4'))\n"
    )
    assert [kinds(each) for each in launches] == [set()]


def test_a_copy_of_what_nothing_wrote_is_not_written(hosted):
    """From one device array to another, element by element."""
    launches, _ = hosted(
        f"{KERNELS}d, e = cuda.device_array(32, np.int32), cuda.to_device(np.ones(32, np.int32))\nd[8:] = 1\n"
        "e.copy_to_device(d)\ncopied[1, 32](e, np.zeros(32, np.int32))\n"
    )
    (finding,) = launches[0].findings
    assert (finding.kind, finding.count, finding.index) == ("uninitialized-read", 8, (0,))


@pytest.mark.parametrize("made", ["pinned_array", "mapped_array", "device_array"])
def test_a_copy_to_the_gpu_of_what_nothing_wrote(hosted, made):
    launches, _ = hosted(
        f"{KERNELS}m = cuda.{made}(32, np.int32)\nm[4:] = 1\nd = cuda.device_array_like(m)\nd.copy_to_device(m)\n"
        "copied[1, 32](d, np.zeros(32, np.int32))\n"
    )
    assert [finding.count for finding in launches[0].findings] == [4]


def test_arrays_in_a_tuple(hosted):
    launches, _ = hosted(
        "@cuda.jit\ndef first(pair):\n    pair[1][cuda.grid(1)] = pair[0][cuda.grid(1)]\n"
        "d = cuda.to_device(np.arange(32))\ne = cuda.device_array(64, np.int64)\nfirst[1, 32]((d, e[::2]))\n"
        "first[1, 32]((e[1::2], d))\nassert e[62] == 31\n"
    )
    assert [kinds(each) for each in launches] == [set(), {"uninitialized-read"}]


def test_numba_s_own_reduction(hosted):
    """It launches kernels on parts of arrays, and fills the memory that it allocates."""
    launches, _ = hosted(
        "total = cuda.reduce(lambda a, b: a + b)\nd = cuda.to_device(np.arange(700, dtype=np.float64))\n"
        "assert total(d) == 699 * 350 and total(np.ones(40)) == 40\nr = cuda.device_array(1)\ntotal(d, res=r)\n"
        "assert r[0] == 699 * 350\n"
    )
    assert launches and not any("uninitialized-read" in kinds(each) for each in launches)


def test_the_host_writes_mapped_memory(hosted):
    """By an index, by fill, and in all the ways that are not seen, with each value that an element may have."""
    ways = (
        "m[:] = v",
        "m.fill(v[0])",
        "np.copyto(m, v)",
        "np.add(v, np.zeros_like(v), out=m) if v.dtype != bool else np.logical_or(v, v, out=m)",
        "io.BytesIO(v.tobytes()).readinto(m)",
        "memoryview(m).cast('B')[:] = v.tobytes()",
        "m.view(np.ndarray)[:] = v",
        "np.asarray(m)[:] = v",
        "ctypes.memmove(m.ctypes.data, v.ctypes.data, v.nbytes)",
    )
    for dtype in ("bool", "int8", "uint8", "int32", "uint32", "int64", "float16", "float32", "float64"):
        kind = np.dtype(dtype)
        most = True if kind.kind == "b" else np.nan if kind.kind == "f" else np.iinfo(kind).max
        for made in OF_THE_HOST:
            launches, _ = hosted(
                f"import io, ctypes\nfrom numpy import nan\n{KERNELS}"
                f"o = cuda.device_array(32, '{dtype}')\nfor v in ({most}, 0, 1):\n    v = np.full(32, v, '{dtype}')\n"
                + "".join(f"    m = cuda.{made}(32, '{dtype}')\n    {way}\n    copied[1, 32](m, o)\n" for way in ways)
            )
            assert [kinds(each) for each in launches] == [set()] * 3 * len(ways), (dtype, made)


def test_the_host_writes_a_part_unseen(hosted):
    """A kernel may read that part; of what the host has not touched by then, nothing is told."""
    launches, _ = hosted(
        f"{KERNELS}m = cuda.mapped_array(64, np.int32)\no = cuda.device_array(8, np.int32)\n"
        "m[:8] = 2**31 - 1\ncopied[1, 32](m[:8], o)\ncopied[1, 32](m[8:16], o)\n"
        "np.copyto(m[8:16], 7)\ncopied[1, 32](m[8:16], o)\n"
    )
    assert [kinds(each) for each in launches] == [set(), {"uninitialized-read"}, set()]


SECTORS = {  # of a load by one warp, by hand: 32 bytes hold 8 float32
    "d[:32]": 4,
    "d[1:33]": 5,
    "d[7:39]": 5,
    "d[8:40]": 4,
    "d[:64:2]": 8,
    "d[32::-1]": 5,
    "d[31::-1]": 4,
    "d.reshape(16, 16)[:, 3]": 16,
    "d.reshape(16, 16)[2:4, 3:].ravel()[:26]": None,
    "d.reshape(16, 16)[3]": 2,
    "d.view(np.float64)[1:33]": 9,
    "d[3:].view(np.int32)[:32]": 5,
}


@pytest.mark.parametrize("part", SECTORS)
def test_a_part_is_at_its_true_address(hosted, part):
    """Its values are those of NumPy's slice, and its sectors are counted at its own addresses."""
    program = (
        f"{KERNELS}h = np.arange(256, dtype=np.float32)\nd = cuda.to_device(h)\np = {part}\n"
        "o = np.zeros(min(p.size, 32), p.dtype)\ncopied[1, 32](p, o)\nd = h\n"
        f"assert o.tobytes() == np.ascontiguousarray({part})[:32].tobytes()\n"
    )
    if SECTORS[part] is None:
        with pytest.raises(NotImplementedError, match="requires copying"):
            hosted(program)
        return
    launches, _ = hosted(program)
    (launch,) = launches
    assert not launch.findings
    assert launch.traffic.select(array="a").sectors == SECTORS[part]


def test_what_a_kernel_stores_in_a_part_is_in_the_whole(hosted):
    launches, _ = hosted(
        f"{KERNELS}d = cuda.to_device(np.zeros((8, 8), 'i4'))\ncopied[1, 32](np.arange(1, 9, dtype='i4'), d[:, 3])\n"
        "flat[1, 32](d[2:6:2, 1:4])\nw = np.zeros((8, 8), int)\nw[:, 3] = range(1, 9)\nw[2:6:2, 1:4] += 1\n"
        "assert (d.copy_to_host() == w).all()\n"
    )
    assert [kinds(each) for each in launches] == [set(), set()]


def test_an_index_outside_a_part_is_told_in_the_part(hosted):
    launches, _ = hosted(
        f"{KERNELS}d = cuda.to_device(np.zeros(64, 'f4'))\ncopied[1, 32](d[40:30:-1], cuda.device_array(16, 'f4'))\n"
    )
    (finding,) = launches[0].findings
    assert (finding.kind, finding.index, finding.count) == ("out-of-bounds", (10,), 6)


def test_a_device_array_may_be_passed_twice(hosted):
    """Its values are those of one array, a race between its two names is found, and each name has its own counts."""
    launches, _ = hosted(
        f"{KERNELS}a, b = (cuda.to_device(np.ones(64, np.float32)) for _ in 'ab')\nadded[2, 32](a, b, a)\n"
        "assert a.copy_to_host().tolist() == [2] * 64\nadded[2, 32](a, a, a)\n"
        "assert a.copy_to_host().tolist() == [4] * 64\nshifted[2, 32](a, a)\nshifted[2, 32](a[:32], a[32:])\n"
    )
    assert [kinds(each) for each in launches] == [set(), set(), {"race"}, set()]
    assert launches[0].traffic.select(op="load", array="a").accesses == 64
    assert launches[0].traffic.select(array="c").accesses == 64


def test_out_gives_a_kernel_memory_that_nothing_wrote(hosted):
    """The whole of it comes back: what the kernel did not store is not what the host had."""
    launches, said = hosted(
        "x, p = np.ones(40, np.float32), cuda.pinned_array(40, np.float32)\np[:] = 1\n"
        "@cuda.jit\ndef put(x):\n    x[cuda.grid(1)] = 5\n"
        "for out in x, p:\n    put[1, 32](cuda.Out(out))\n"
        "    assert (out[:32] == 5).all() and np.isnan(out[32:]).all()\n"
        "    double[2, 32](cuda.Out(out))\n    assert np.isnan(out).all()\n"
    )
    assert [kinds(each) for each in launches] == [set(), {"uninitialized-read"}] * 2
    assert "8 of 40 elements that nothing wrote" in said


@pytest.mark.parametrize("launch", ["refused[1, 32](cuda.Out(x))", "double[1, 2048](cuda.Out(x))"])
def test_out_of_a_launch_that_is_refused_is_what_it_was(hosted, launch):
    """Nothing is copied back where nothing runs."""
    launches, said = hosted(
        f"@cuda.jit\ndef refused(x):\n    x.sort()\nx = np.arange(40.0)\n{launch}\nassert x.tolist() == [*range(40)]\n"
    )
    assert isinstance(launches[0], str) and not said


def test_in_copies_nothing_back(hosted):
    """Also of memory that is pinned."""
    hosted("p = cuda.pinned_array(40)\np[:] = 1\ndouble[2, 32](cuda.In(p))\nassert p.tolist() == [1] * 40\n")


@pytest.mark.parametrize(
    "arguments",
    ["h, np.ones(64), h", "h[:32], h[16:48], h[8:40]", "p, np.ones(64), p", "cuda.InOut(h), np.ones(64), cuda.Out(h)"],
)
def test_a_host_array_twice_is_two_copies(hosted, arguments):
    """It is refused, with the two names."""
    launches, _ = hosted(f"{KERNELS}h, p = np.ones(64), cuda.pinned_array(64)\np[:] = 1\nadded[2, 32]({arguments})\n")
    assert "share memory" in launches[0] and "'c'" in launches[0]


def test_records_and_fields(hosted):
    """Of records that are partly written, a field that is not is told."""
    launches, _ = hosted(
        f"{KERNELS}t = np.dtype([('a', 'f4'), ('b', 'i4')])\nd = cuda.device_array(4, t)\n"
        "fields[1, 1](d, np.zeros(1, np.int32))\nd.copy_to_device(np.ones(4, t))\n"
        "o = np.zeros(1, np.int32)\nfields[1, 1](d, o)\nassert o[0] == 1\n"
    )
    assert [kinds(each) for each in launches] == [{"uninitialized-read"}, set()]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("d.copy_to_device(np.ones(9, np.float64))", TypeError),
        ("d.copy_to_device(np.ones(8, np.float32))", ValueError),
        ("d.copy_to_host(np.ones(9, np.float64))", TypeError),
        ("d[::-1].copy_to_host()", NotImplementedError),
        ("cuda.to_device(np.ones(9)[::2])", ValueError),
        ("d + 1", TypeError),
        ("d.sum()", AttributeError),
        ("d[::2].view(np.float64)", ValueError),
        ("cuda.select_device(1)", IndexError),
        ("cuda.current_context(1)", IndexError),
        ("cuda.select_device(-1)", IndexError),
    ],
)
def test_what_numba_refuses(hosted, call, error):
    with pytest.raises(error):
        hosted(f"d = cuda.to_device(np.ones(9, np.float32))\n{call}\n")


#: Statements that hold with numba on a GPU, by its source.
AS_NUMBA = [
    "cuda.select_device(0); double[1, 32](d)",
    "o = type('O', (), {'__cuda_array_interface__': d.__cuda_array_interface__})()\ndouble[1, 32](o)\nassert d[3] == 2",
    "double[1, 32](cuda.In(d))\nassert d[3] == 2",
    "x = np.ones(9)\ndouble[1, 32](cuda.In(x))\nassert x[3] == 1",
    "x = np.ones(9)\ndouble[1, 32](cuda.InOut(x))\nassert x[3] == 2",
    "e = type(d)((3, 4), (16, 4), np.float32, stream=0)\ne[:] = 1\ndouble[1, 32](e.ravel())\nassert e[2, 3] == 2",
    "double[1, 32](d)\nassert d[:8].view(np.float64).shape == (4,) and d.view(np.int16).shape == (18,)",
    "x = np.ones((2, 3, 4), np.float32).transpose(1, 0, 2)\ndouble[1, 32](d)\n"
    "assert cuda.device_array_like(x).strides == x.strides",
    "x = np.ones((3, 1), np.float32, order='F')\ndouble[1, 32](d)\nassert cuda.to_device(x).strides == (4, 4)",
]


@pytest.mark.parametrize("call", AS_NUMBA)
def test_what_numba_accepts(hosted, call):
    launches, _ = hosted(f"d = cuda.to_device(np.ones(9, np.float32))\n{call}\n")
    assert [kinds(each) for each in launches] == [set()]


def test_forall_of_no_threads_launches_nothing(hosted):
    assert hosted("double.forall(0)(np.zeros(0))\n")[0] == []
    with pytest.raises(ValueError, match="negative"):
        hosted("double.forall(-1)\n")


def test_a_copy_of_arguments_keeps_what_they_share():
    """As a launch is repeated on copies: parts of one allocation stay parts of one."""
    whole = device_memory.allocate(10, np.int32)
    part = device_memory.AllocationView(whole.allocation, whole.values[2:9:3])
    part.mark()
    one, other = copy.deepcopy((whole, part))

    assert one.allocation is other.allocation and one.allocation is not whole.allocation
    other.values[...] = 5
    assert one.values.tolist()[2:9:3] == [5] * 3 and whole.values[2] != 5
    assert np.flatnonzero(one.written).tolist() == [2, 5, 8]


@pytest.mark.parametrize("strides", [(4, 12), (24, 8), (-24, 8), (24, -4), (-4, -12)])
def test_the_index_of_a_key(strides):
    """Of any strides: the index of each element is found again from its address."""
    from course_lib.simulator.launch.arguments import convert_allocation

    memory = device_memory.Allocation(np.zeros(400, np.uint8), True)
    values = np.ndarray((3, 3), np.int32, memory.bytes, 200, strides)
    array = convert_allocation("x", device_memory.AllocationView(memory, values))
    keys = {array.first + i * array.strides[0] + j * array.strides[1]: (i, j) for i in range(3) for j in range(3)}
    assert {key: array.index_of_key(key) for key in keys} == keys


@pytest.mark.parametrize("call", ["double[1, 4]()", "double[1, 4](d, d)", "double['a', 4](d)", "double[1, 1.5](d)"])
def test_what_a_launch_raises_is_a_type_error_as_of_numba(call):
    """So a test suite that expects it passes."""
    with without_gpu(), pytest.raises(TypeError):
        eval(call, {"double": cuda.jit(lambda x: None), "d": np.zeros(4)})
