"""What a launch accepts, what it refuses, and in which words."""

import linecache
import tracemalloc

import numpy as np
import pytest
from numba import cuda, float32, int8

from course_lib import KernelError, LaunchError, simulate
from course_lib.kernels.naive import naive
from course_lib.kernels.tiled import tiled
from course_lib.simulator.launch import engine

rng = np.random.default_rng(1)


def double(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i] + a[i]


def scaled(a, factor, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = factor * a[i]


@pytest.mark.parametrize(
    ("grid", "block", "words"),
    [
        (1, 2048, "2,048 threads; a GPU allows at most 1,024"),
        ((1, 1), (64, 32), "2,048 threads"),
        (1, (1, 1, 65), "z dimension is 65"),
        ((1, 70000), 32, "y dimension is 70,000"),
        (0, 32, "must be at least 1"),
        (1, -4, "must be at least 1"),
        (1.5, 32, "whole numbers"),
        ((1, 1, 1, 1), 32, "1 to 3"),
    ],
)
def test_a_launch_beyond_cuda_s_limits_is_refused(grid, block, words):
    a = np.zeros(4, "f4")
    with pytest.raises(LaunchError, match=words):
        simulate(double)[grid, block](a, a.copy())


SHARED, READ_ONLY = np.arange(4, dtype="f4"), np.zeros(4, "f4")
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros(4, "f4"),), "takes 2 arguments .a, out. and was given 1"),
        ((np.zeros(4, "f4"), [1.0]), "'out' is a list"),
        ((np.zeros(4, "g"), np.zeros(4, "f4")), "dtype (longdouble|float128|float96)"),
        ((np.zeros(4, "M8[s]"), np.zeros(4, "f4")), "dtype datetime64"),
        ((np.zeros(4, ">f4"), np.zeros(4, "f4")), "native byte order"),
        ((np.zeros(8, "f4")[::2], np.zeros(4, "f4")), "'a' is not contiguous"),
        ((np.ma.masked_less(np.zeros(4, "f4"), 1), np.zeros(4, "f4")), "'a' is a masked array"),
        ((2**70, np.zeros(4, "f4")), "'a' is an int beyond 64 bits"),
        ((SHARED, SHARED), "share memory"),
        ((np.ones(4, "f4"), READ_ONLY), "read-only"),
        (("1", np.zeros(4, "f4")), "'a' is a str; .* int, float, complex, bool or NumPy's int8"),
    ],
)
def test_arguments_a_gpu_would_not_take_are_refused(arguments, words):
    with pytest.raises(LaunchError, match=words):
        simulate(double)[1, 4](*arguments)


def test_a_launch_without_grid_and_block_or_with_names_says_how():
    with pytest.raises(LaunchError, match="by position; give out without a name"):
        simulate(double)[1, 4](np.zeros(4, "f4"), out=np.zeros(4, "f4"))
    with pytest.raises(LaunchError, match="grid and a block"):
        simulate(double)(np.zeros(1, "f4"), np.zeros(1, "f4"))
    with pytest.raises(LaunchError, match="grid and a block"):
        simulate(double)[32]


@pytest.mark.parametrize("schedule", ["fast", 1.5, True, None])
def test_an_unknown_schedule_is_refused(schedule):
    with pytest.raises(LaunchError, match="schedule"):
        simulate(double, schedule=schedule)[1, 4](np.zeros(4, "f4"), np.zeros(4, "f4"))


def test_more_than_48_kib_of_static_shared_memory_is_refused_with_the_limit():
    A = np.zeros((4, 4), "f4")
    with pytest.raises(LaunchError, match=r"131,072 bytes a block .A_tile 65,536, B_tile 65,536.*48 KiB"):
        simulate(tiled(128))[1, (16, 16)](A, A.copy(), A.copy())


def test_forall_launches_whole_blocks_for_a_number_of_threads():
    x, out = np.arange(300, dtype="f4"), np.zeros(300, "f4")
    of_128, of_32 = simulate(double).forall(300)(x, out), simulate(double).forall(300, tpb=32)(x, out)
    assert (out == 2 * x).all()
    assert [run.traffic.per_thread().shape for run in (of_128, of_32)] == [(3, 128), (10, 32)]
    assert simulate(double).forall(0)(x, out) is None
    with pytest.raises(LaunchError, match="-1 tasks"):
        simulate(double).forall(-1)


def test_scalars_have_the_type_numba_gives_them():
    a, out = rng.random(10).astype("f4"), np.zeros(10, "f4")
    run = simulate(scaled)[1, 16](a, np.float32(1.5), out)
    np.testing.assert_array_equal(out, np.float32(1.5) * a)
    assert run.findings == ()
    run = simulate(scaled)[1, 16](a, 1.5, out)
    (finding,) = run.findings
    assert (finding.kind, finding.severity) == ("float64", "warning")
    assert "factor, a Python float argument" in finding.message


def test_shapes_that_do_not_fit_name_the_access_that_left_the_array():
    A, B, C = np.ones((4, 6), "f4"), np.ones((5, 4), "f4"), np.zeros((4, 4), "f4")
    with pytest.raises(KernelError, match=r"reads B\[5, 0\], outside its shape \(5, 4\)"):
        simulate(naive)[1, (4, 4)](A, B, C)


def test_what_is_no_kernel_is_refused():
    from course_lib import UnsupportedKernelError

    with pytest.raises(UnsupportedKernelError, match="int"):
        simulate(3)[1, 1]()
    scope = {"cuda": cuda}
    exec("def made(out):\n    out[0] = 1\n", scope)
    with pytest.raises(UnsupportedKernelError, match="source of 'made' cannot be read"):
        simulate(scope["made"])[1, 1](np.zeros(1))


def test_a_text_that_takes_the_place_of_another_is_not_its_source():
    """Of two texts that are executed under one name, the later one is known; the earlier one is not read as it."""
    from course_lib import UnsupportedKernelError

    def made(by):
        text = f"@cuda.jit\ndef made(out):\n    out[0] = {by}\n"
        linecache.cache["<a text>"] = len(text), None, text.splitlines(True), "<a text>"
        scope = {"cuda": cuda}
        exec(compile(text, "<a text>", "exec"), scope)
        return scope["made"]

    read, early, late = made(1), made(2), None
    with pytest.raises(UnsupportedKernelError, match="another text"):
        simulate(read)[1, 1](np.zeros(1))
    late = made(3)
    for kernel, wanted in ((late, 3), (early, None), (late, 3)):
        out = np.zeros(1)
        if wanted is None:
            with pytest.raises(UnsupportedKernelError, match="another text"):
                simulate(kernel)[1, 1](out)
        else:
            simulate(kernel)[1, 1](out)
            assert out[0] == wanted
    again = made(3)
    del linecache.cache["<a text>"]
    with pytest.raises(UnsupportedKernelError, match="cannot be read"):
        simulate(again)[1, 1](np.zeros(1))
    simulate(late)[1, 1](np.zeros(1))


def test_large_local_arrays_do_not_fill_memory(monkeypatch):
    def heavy(out):
        mine = cuda.local.array(4096, float32)
        i = cuda.grid(1)
        mine[i % 4096] = i
        out[i] = mine[i % 4096]

    def peak(budget):
        monkeypatch.setattr(engine, "MAX_BYTES", budget)
        out = np.zeros(512, "f4")
        tracemalloc.start()
        simulate(heavy)[512, 1](out)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        np.testing.assert_array_equal(out, np.arange(512))
        return used

    peak(2**20)  # parsed, compiled and imported
    assert 3 * peak(2**20) < peak(2**30)


def test_a_grid_that_would_run_for_hours_is_refused_at_once():
    a = np.zeros(4, "f4")
    with pytest.raises(LaunchError, match="549,755,813,632 threads.*at most 268,435,456"):
        simulate(double)[2**31 - 1, 256](a, a.copy())
    with pytest.raises(LaunchError, match="use a smaller grid"):
        simulate(double)[(65535, 65535), 1](a, a.copy())


def test_a_matrix_is_an_array_and_numpy_integers_are_integers():
    A, C = rng.random((4, 4)).view(np.matrix), np.zeros((4, 4))
    simulate(naive, schedule=np.int64(3), max_steps=np.int32(1000))[1, (4, 4)](A, A, C)
    np.testing.assert_allclose(C, A @ A)


@pytest.mark.nightly
def test_large_shared_arrays_that_race_do_not_fill_memory():
    def busy(out):
        tile = cuda.shared.array(49152, int8)
        i = cuda.threadIdx.x
        for k in range(i, 49152, 32):
            tile[k] = 1
        for k in range(i, 49152, 32):
            tile[k] = tile[k] + 1
        out[cuda.grid(1)] = tile[i]

    out = np.zeros(256 * 32, "i8")
    tracemalloc.start()
    run = simulate(busy)[256, 32](out)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.findings == ()
    np.testing.assert_array_equal(out, 2)
    assert used < 330e6
