"""Where accesses are counted: by thread, by array and by line; `machine/gpu/test_counters.py` has their costs."""

import numpy as np
import pytest
from numba import cuda
from oracles.sources import import_module

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.kernels.naive import naive


def strided(a, stride, start, out):
    i = cuda.grid(1)
    out[i] = a[start + i * stride]


def test_per_thread_has_the_launch_s_shape_in_x_y_order():
    A, B, C = np.ones((6, 5), "f4"), np.ones((5, 10), "f4"), np.zeros((6, 10), "f4")
    run = simulate(naive)[(3, 2), (4, 4)](A, B, C)
    loads = run.traffic.per_thread(space="global", op="load")
    assert loads.shape == (3, 2, 4, 4)
    for bx, by, tx, ty in np.ndindex(loads.shape):
        inside = by * 4 + ty < 6 and bx * 4 + tx < 10
        assert loads[bx, by, tx, ty] == (10 if inside else 0)


def test_select_refuses_what_the_run_does_not_have():
    a = np.zeros(4, "f4")
    run = simulate(strided)[1, 4](a, 1, 0, a.copy())
    with pytest.raises(ValueError, match="no array 'b' in this run; it has 'a', 'out'"):
        run.traffic.select(array="b")
    with pytest.raises(ValueError, match="no op 'read'"):
        run.traffic.select(op="read")
    with pytest.raises(ValueError, match="no line 1 "):
        run.traffic.select(line=1)
    assert run.traffic.select(space="shared").accesses == 0


ELSEWHERE = """from numba import cuda


@cuda.jit(device=True)
def inner(a, i):
    return a[i]


@cuda.jit(device=True)
def both(a, i):
    return inner(a, i) + a[0]


@cuda.jit(device=True)
def wrong(a, i):
    return [a[i]]
"""


@cuda.jit(device=True)
def at_home(a, i):
    return a[i] + a[0]


def test_a_device_function_of_another_file_counts_on_the_line_that_calls_it(tmp_path):
    module = import_module(ELSEWHERE, tmp_path)
    both, wrong = module.both, module.wrong

    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = both(a, i)  # first
        out[i] += both(a, i + 1)  # second
        out[i] += at_home(a, i)  # third

    def refused(a, out):
        out[0] = wrong(a, 0)  # fourth

    a, out = np.arange(65), np.zeros(64, "i8")
    run = simulate(kernel)[2, 32](a, out)
    np.testing.assert_array_equal(out, 3 * np.arange(64) + 1)
    lines = {text.partition("# ")[2]: number for number, text in run.source.lines if "# " in text}
    home = next(number for number, text in run.source.lines if "return a[i] + a[0]" in text)
    assert {r.line for r in run.traffic.rows} == {home, lines["first"], lines["second"], lines["third"]}
    for line in (home, lines["first"], lines["second"]):
        assert run.traffic.select(array="a", line=line).accesses == 128
    shown = {n for n, _ in run.source.lines}
    assert sum(r.accesses for r in run.traffic.rows if r.line in shown) == run.traffic.accesses
    with pytest.raises(KernelError, match=rf"reads a\[65\].*\n  line +{lines['second']} [|] out\[i\] \+= both"):
        simulate(kernel)[1, 65](a, np.zeros(65, "i8"))
    with pytest.raises(UnsupportedKernelError, match=r"in the device function wrong: line 16: .*a list"):
        simulate(refused)[1, 1](a, out)
