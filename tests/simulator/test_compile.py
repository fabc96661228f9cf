"""What the compiler makes: each function once, and no more than is needed."""

import numpy as np
import pytest
from numba import cuda, float32
from oracles.sources import import_kernel, import_module

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator.launch.engine import Engine
from course_lib.simulator.launch.prepare import prepare


def nested(depth):
    """A device function that calls one twice, in a loop, that calls one twice, and so on."""

    @cuda.jit(device=True)
    def innermost(x):
        return x + float32(1)

    function = innermost
    for _ in range(depth):
        function = outer(function)
    return function


def outer(function):
    @cuda.jit(device=True)
    def calls(x):
        y = float32(0)
        for _ in range(1):
            y = function(x) + function(y)
        return y

    return calls


def test_nested_device_functions_are_compiled_once_each():
    """As many functions are generated as there are; one for each call would be twice as many with each level."""
    function = nested(15)

    @cuda.jit
    def kernel(a):
        a[0] = function(a[0])

    prepared = prepare(kernel, 1, 1, (np.zeros(1, "f4"),))
    assert prepared.compiled.text.count("    def ") == 17


def test_a_variable_of_one_branch_keeps_no_values_of_other_lanes():
    """Nothing reads it outside its branch; where something does, the lanes outside keep what they had."""

    @cuda.jit
    def inside(x):
        i = cuda.grid(1)
        if i < x.size:
            value = x[i]
            x[i] = value + value

    @cuda.jit
    def outside(x):
        i = cuda.grid(1)
        value = 0.0
        if i < x.size:
            value = x[i]
        x[i % x.size] = value

    blends = [prepare(kernel, 1, 32, (np.zeros(8),)).compiled.text.count("blend(") for kernel in (inside, outside)]
    assert blends == [0, 1]


def test_local_memory_is_counted_once():
    """16 floats are 64 bytes, however often their function is called, and in a loop whose types change."""

    @cuda.jit(device=True)
    def total(x):
        parts = cuda.local.array(16, float32)
        parts[0] = x
        return parts[0]

    @cuda.jit(device=True)
    def twice(x):
        return total(x) + total(x + x)

    @cuda.jit
    def kernel(a):
        acc = 0
        for _ in range(3):
            acc = acc + twice(a[0]) + twice(a[0] * a[0])
        a[0] = acc

    assert prepare(kernel, 1, 1, (np.zeros(1, "f4"),)).compiled.local_bytes == 64


def test_a_kernel_is_compiled_once_for_launches_that_differ_in_sizes_alone(tmp_path):
    """Anew for another block or another type; for another grid only where the kernel asks for its size."""

    for size, of_grids in (("blockDim.x", 1), ("gridDim.x", 2), ("gridsize(1)", 2)):
        text = f"from numba import cuda\ndef kernel(C):\n    C[cuda.grid(1)] = cuda.{size}\n"
        kernel = import_kernel(text, tmp_path)
        compiled = set()
        for grid, block, kind in ((2, 4, "f4"), (4, 4, "f4"), (4, 4, "f4"), (4, 8, "f4"), (4, 8, "i4")):
            C = np.zeros(grid * block, kind)
            prepared = prepare(kernel, grid, block, (C,))
            Engine(prepared).run()
            assert (C == {"blockDim.x": block, "gridDim.x": grid, "gridsize(1)": grid * block}[size]).all()
            compiled.add(prepared.compiled)
        assert len(compiled) == of_grids + 2


def test_arrays_from_outside_are_taken_for_each_launch():
    """They are watched in one launch: no other one may meet them."""
    table = np.arange(4, dtype="f4")

    def from_outside(C):
        C[cuda.grid(1)] = table[cuda.grid(1)]

    first, second = (prepare(from_outside, 1, 4, (np.zeros(4, "f4"),)).compiled for _ in range(2))
    assert first is not second


def test_a_kernel_is_compiled_anew_where_what_it_names_has_changed(tmp_path):
    """Names, parts of modules and functions: the code of an earlier launch serves only while they stay."""
    text = (
        "import types\nfrom numba import cuda\n"
        "@cuda.jit(device=True)\ndef f(x):\n    return x + 1\n"
        "@cuda.jit(device=True)\ndef g(x):\n    return x + 2\n"
        "home = types.ModuleType('home')\nhome.f = f\n"
        "def kernel(out):\n    out[0] = f(10)\n    out[1] = home.f(20)\n"
    )
    module, out = import_module(text, tmp_path), np.zeros(2)

    def launched():
        simulate(module.kernel)[1, 1](out)
        return out.tolist()

    def compiled():
        return prepare(module.kernel, 1, 1, (out,)).compiled

    assert (launched(), compiled()) == ([11, 21], compiled())
    module.f = module.g
    assert launched() == [12, 21]
    module.home.f = module.g
    assert launched() == [12, 22]
    module.g.py_func.__code__ = (lambda x: x + 3).__code__.replace(co_name="g")
    with pytest.raises(UnsupportedKernelError, match="changed since it was imported"):
        launched()


#: Names that generated code has, or could make, beside those of the kernel: of the warp and of what it calls, of masks,
#: accesses, numbers, types and functions.
NAMES = (
    "warp place entry_lanes active returned not_returned result has_result enclosing_line here_5 item_5 running_5 "
    "iteration_5 then_7 else_7 entered_then_7 at_head_5 broke_5 value value_2 x_element x_line_6 x_line_6_2 int64_0 "
    "int64_1 dtype_int64 constant_x device_own device_product make sites split blend union without product view "
    "iterate typed np Barrier choose product_ warp_ SCOPE"
).split()


def test_a_kernel_may_use_any_name(folder):
    """Each variable is assigned in some lanes, changed in a loop that others leave, and read by a function, too."""
    assigned = "".join(
        f"""
    {name} = x[i] + {number}
    for step in range(3):
        if step > i % 3:
            break
        {name} += step
    total += {name}"""
        for number, name in enumerate(NAMES)
    )
    source = f"""
from numba import cuda

@cuda.jit(device=True)
def own(result, place):
    if result > place:
        return result
    product = place
    return product

@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    total = 0{assigned}
    out[i] = own(total, 2 * i)
"""
    x, out = np.arange(40) % 7, np.zeros(64, np.int64)
    simulate(import_kernel(source, folder))[2, 32](x, out)
    added = [sum(step for step in range(3) if step <= i % 3) for i in range(40)]
    want = [sum(x[i] + number + added[i] for number in range(len(NAMES))) for i in range(40)]
    np.testing.assert_array_equal(out, [max(total, 2 * i) for i, total in enumerate(want)] + [0] * 24)
