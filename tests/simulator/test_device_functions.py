"""What device functions may return, and what may be handed to them."""

import numpy as np
import pytest
from numba import cuda, float32, float64, types
from numba.extending import overload, register_jitable
from numba.np.numpy_support import ufunc_find_matching_loop

from course_lib import KernelError, LaunchError, UnsupportedKernelError, simulate
from course_lib.simulator.language.calls import NUMPY
from course_lib.simulator.language.types import SCALARS, TypingError


@cuda.jit(device=True)
def store_twice(a, i, value):
    if value < 0:
        return
    a[i] = 2 * value


@cuda.jit(device=True)
def positive(x):
    if x > 0:
        return x
    return None


@cuda.jit(device=True)
def falls_through(x):
    if x > 0:
        return x


@cuda.jit(device=True)
def converted(x, kind):
    return kind(x)


@cuda.jit(device=True)
def twice(x):
    return x + x


@cuda.jit(device=True)
def applied(function, x):
    return function(function(x))


@cuda.jit(device=True)
def zeros(n, kind):
    tile = cuda.local.array(4, kind)
    for k in range(4):
        tile[k] = n
    return tile[3]


def test_a_function_that_returns_nothing():
    def kernel(a, b):
        i = cuda.grid(1)
        store_twice(a, i, b[i])

    a = np.zeros(4, "i8")
    simulate(kernel)[1, 4](a, np.array([1, -1, 2, -2]))
    assert tuple(a) == (2, 0, 4, 0)


@pytest.mark.parametrize("function", [positive, falls_through])
def test_a_function_that_returns_on_some_paths_only(function):
    def guarded(a, b):
        i = cuda.grid(1)
        if b[i] > 0:
            a[i] = function(b[i])

    def unguarded(a, b):
        i = cuda.grid(1)
        a[i] = function(b[i])

    def unused(a, b):
        function(b[cuda.grid(1)])

    a, b = np.zeros(4, "i8"), np.array([1, -1, 2, -2])
    simulate(guarded)[1, 4](a, b)
    assert tuple(a) == (1, 0, 2, 0)
    assert simulate(unused)[1, 4](a, b).findings == ()
    with pytest.raises(KernelError, match="which returned nothing there") as caught:
        simulate(unguarded)[1, 4](a, b)
    (finding,) = caught.value.findings
    assert (finding.kind, finding.count, finding.threads) == ("uninitialized-read", 2, (((0, 0, 0), (1, 0, 0)),))


def test_a_dtype_and_a_function_as_arguments():
    def kernel(a):
        a[0] = converted(2.75, types.int32)
        a[1] = converted(a[1], float64) / 2
        a[2] = applied(twice, 3)
        a[3] = zeros(7.5, float32)
        a[4] = zeros(7.5, types.int8)

    a = np.ones(5)
    simulate(kernel)[1, 1](a)
    assert tuple(a) == (2, 0.5, 12, 7.5, 7)


def test_a_function_that_is_handed_itself_recurses():
    def kernel(a):
        a[0] = applied(applied, 1)

    with pytest.raises(UnsupportedKernelError, match="cannot recurse"):
        simulate(kernel)[1, 1](np.zeros(1))


@pytest.mark.parametrize("name", sorted(NUMPY))
def test_numpys_functions_have_numbas_types(name):
    """numba takes the first loop of NumPy's that fits."""
    ufunc, row = getattr(np, name), NUMPY[name]
    numbas = {t: types.boolean if t == "bool" else getattr(types, t) for t in SCALARS if not t.startswith("complex")}
    for a in numbas:
        for b in numbas if ufunc.nin == 2 else [a]:
            given = [a, b][: ufunc.nin]
            loop = ufunc_find_matching_loop(ufunc, [numbas[t] for t in given])
            try:
                found = row.rule(*given)
            except TypingError:
                assert loop is None, given
            else:
                expected = loop.numpy_outputs[0].name, tuple(kind.name for kind in loop.numpy_inputs)
                assert found == expected, given


def test_numpys_functions_in_a_kernel():
    def kernel(a, n, out):
        out[0] = np.maximum(a[0], a[1])
        out[1] = np.fmax(a[0], a[1])
        out[2] = np.sin(a[2])
        out[3] = np.logical_and(n[0], n[1])
        out[4] = np.left_shift(n[0], n[1])
        out[5] = np.hypot(a[2], a[2])
        out[6] = np.less_equal(n[0], n[1])

    a, n, out = np.array([np.nan, 2, 3], "f4"), np.array([5, 2]), np.zeros(7)
    run = simulate(kernel, strict=False)[1, 1](a, n, out)
    x = np.float32(3)
    np.testing.assert_array_equal(out, [np.nan, 2, np.sin(x), 1, 20, np.hypot(x, x), 0])
    assert run.findings == ()


@cuda.jit(device=True)
def sum_below(size):
    part = cuda.local.array(size, np.int64)
    for k in range(size):
        part[k] = k
    total = 0
    for k in range(size):
        total += part[k]
    return total


@cuda.jit(device=True)
def sum_below_through_another(size):
    return sum_below(size)


SIX = 6


def test_a_literal_argument_gives_the_shape_of_an_array():
    """As in numba, which compiles the function anew for the value; each value is a version of its own."""

    def sums(out):
        out[0] = sum_below(4)
        out[1] = sum_below(5)
        out[2] = sum_below_through_another(3)
        out[3] = sum_below(SIX)

    out = np.zeros(4, np.int64)
    run = simulate(sums)[1, 1](out)
    assert not run.errors
    assert out.tolist() == [6, 10, 3, 15]


@cuda.jit(device=True)
def corner_of(shape, value):
    tile = cuda.shared.array(shape, np.float64)
    last = shape[0] - 1, shape[1] - 1
    tile[last] = value
    return tile[last] * tile.size


def test_a_literal_tuple_gives_the_shape_of_an_array():
    """Handed to a device function, or as a variable of the kernel."""

    def corners(out):
        shape = (3, 5)
        tile = cuda.local.array(shape, np.float64)
        tile[shape[0] - 1, 4] = 2
        out[0] = corner_of((4, 8), 1.5)
        out[1] = corner_of((2, SIX), 1.5)
        out[2] = tile[2, 4] * tile.size

    out = np.zeros(3)
    run = simulate(corners)[1, 1](out)
    assert run.findings == ()
    assert out.tolist() == [48, 18, 30]


@cuda.jit(device=True)
def fifth(shape, wraps, index):
    tile = cuda.shared.array(shape, np.float64)
    if wraps:
        index = index % shape[0]  # a uint64 and an int64 meet: float64, which is no index
    tile[index, 0] = 5
    return tile[index, 0]


def test_with_the_shape_a_literal_bool_decides_a_branch():
    """numba, too, compiles such a function for all of its literals, and drops the branch that none of them takes."""

    def kernel(out):
        out[0] = fifth((4, 8), False, np.uint64(3))

    out = np.zeros(1)
    simulate(kernel)[1, 1](out)
    assert out[0] == 5


def test_a_tuple_that_only_a_launch_knows_gives_no_shape():
    def by_launch(out, n):
        out[0] = corner_of((4, cuda.blockDim.x), 1.0)

    def by_argument(out, n):
        shape = (4, n)
        tile = cuda.shared.array(shape, np.float64)
        tile[0, 0] = out[0]

    def by_branch(out, n):
        shape = (4, 8)
        if n > 3:
            shape = (4, 4)
        tile = cuda.shared.array(shape, np.float64)
        tile[0, 0] = out[0]

    for kernel in (by_launch, by_argument, by_branch):
        with pytest.raises(UnsupportedKernelError, match="must be known when the kernel is compiled, and shape is not"):
            simulate(kernel)[1, 1](np.zeros(1), 4)


def test_an_argument_that_only_a_launch_knows_gives_no_shape():
    def by_argument(out, n):
        out[0] = sum_below(n)

    def by_launch(out, n):
        out[0] = sum_below(cuda.blockDim.x)

    def by_variable(out, n):
        size = 3
        if n > 3:
            size = 4
        out[0] = sum_below_through_another(size)

    for kernel in (by_argument, by_launch, by_variable):
        with pytest.raises(UnsupportedKernelError, match="must be known when the kernel is compiled, and size is not"):
            simulate(kernel)[1, 1](np.zeros(1, np.int64), 4)


def test_a_device_function_is_not_launched():
    with pytest.raises(LaunchError, match="store_twice is a device function, which only a kernel calls"):
        simulate(store_twice)[1, 1](np.zeros(1), 0, 1.0)


def grown(value, by):
    raise NotImplementedError


@overload(grown, target="generic")
def implementation_of_grown(value, by):
    if isinstance(value, types.Array):

        def whole(value, by):
            for i in range(value.size):
                value[i] += by

        return whole
    return (lambda value, by: value + by) if isinstance(by, types.Integer) else None


def test_an_overload_is_chosen_by_the_types():
    def kernel(x):
        grown(x, 2)
        x[0] = grown(x[0], 1)

    x = np.zeros(3)
    simulate(kernel)[1, 1](x)
    assert x.tolist() == [3, 2, 2]

    def without(x):
        x[0] = grown(x[0], 1.5)

    with pytest.raises(UnsupportedKernelError, match="grown is a plain Python function"):
        simulate(without)[1, 1](x)


def spread(out, value, *rest, scale=2):
    raise NotImplementedError


@overload(spread, target="generic")
def implementation_of_spread(out, value, scale=2):
    def other_parameters(out, value):
        out[0] = value

    def stores(out, value, scale=2):
        out[0] = value * scale

    return other_parameters if isinstance(value, types.Float) else stores


@register_jitable
def halved(value, by=2):
    return value / by


def test_an_overload_takes_names_and_defaults():
    def kernel(x):
        spread(x[1:], scale=5, value=4)
        spread(x, 3)
        x[1] = halved(x[1]) + halved(x[1], by=4)

    x = np.zeros(2)
    simulate(kernel)[1, 1](x)
    assert x.tolist() == [6, 15]

    def mismatched(x):
        spread(x, 1.5)

    with pytest.raises(UnsupportedKernelError, match="spread is a plain Python function"):
        simulate(mismatched)[1, 1](x)
