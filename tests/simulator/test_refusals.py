"""What the simulator does not run is refused, with the line and what to write instead."""

import inspect
import math

import numpy as np
import pytest
from numba import cuda, float32
from oracles.sources import import_kernel

from course_lib import UnsupportedKernelError, simulate

SIZE = 4
VALUES, LIST = np.ones(3), []


def plain_helper(x):
    return x


def refuse_numpy(a):
    a[0] = np.sqrt(a[1])  # here


def refuse_try(a):
    try:  # here
        a[0] = 1
    finally:
        a[0] = 2


def refuse_with(a):
    with a:  # here
        pass


def refuse_string(a):
    name = "x"  # here
    a[0] = name


def refuse_list(a):
    values = [1, 2]  # here
    a[0] = values[0]


def refuse_comprehension(a):
    a[0] = sum(x for x in range(3))  # here


def refuse_outside_list(a):
    a[0] = LIST[0]  # here


def refuse_function_that_is_not_called(a):
    a[0] = 1
    cuda.syncthreads  # here  # noqa: B018


def refuse_name_without_its_last_letter(a):
    cuda.syncthread()  # here


def refuse_misspelled_math(a):
    a[0] = math.sqroot(a[0])  # here


def refuse_misspelled_name(a):
    a[0] = cuda.blockdim.x  # here


def refuse_random_states(a):
    a[0] = cuda.random.xoroshiro128p_uniform_float32(a, 0)  # here


def refuse_numpys_random(a):
    a[0] = np.random.rand()  # here


def refuse_slice(a):
    a[:] = a  # here


def refuse_plain_function(a):
    a[0] = plain_helper(1)  # here


def refuse_return_value(a):
    return a[0]  # here


def refuse_missing_name(a):
    a[0] = missing  # noqa: F821  # here


def refuse_float_index(a):
    a[a[0]] = 1  # here


def refuse_wrong_dimensions(a):
    a[0, 1] = 1  # here


def refuse_row(a):
    tile = cuda.shared.array((2, 2), float32)
    a[0] = tile[0]  # here


def refuse_shared_expression(a):
    tile = cuda.shared.array(SIZE * 2, float32)  # here
    tile[0] = 1


def refuse_shared_runtime_shape(a):
    tile = cuda.shared.array(a.shape[0], float32)  # here
    tile[0] = 1


def refuse_loop_over_mixed_tuple(a):
    for v in (1, 2.5):  # here
        a[0] = v


def refuse_loop_backwards(a):
    for k in reversed(range(3)):  # here
        a[0] = k


def refuse_loop_over_number(a):
    for k in 3:  # here
        a[0] = k


def refuse_choice_from_mixed_tuple(a):
    pair = (1, 2.5)
    a[0] = pair[cuda.threadIdx.x % 2]  # here


def refuse_order_of_a_tuple_and_a_number(a):
    a[0] = (1, 2) < 3  # here


def refuse_product_of_tuple(a):
    t = (1, 2) * a.size  # here
    a[0] = t[3]


def refuse_tuple_assignment(a):
    t = (1, 2)
    t[0] = 3  # here


def refuse_identity(a):
    a[0] = a[0] is a[1]  # here


def refuse_in_array(a):
    a[0] = 1.0 in a  # here


def refuse_two_meanings(a):
    index = cuda.threadIdx
    if a[0] > 1:
        index = cuda.blockIdx
    a[index.x] = 1  # here


def refuse_builtin_type_of_array(a):
    v = cuda.local.array(3, float)  # here
    v[0] = a[0]


def refuse_builtin_function(a):
    a[0] = sum(a)  # here


def refuse_complex_in_a_real_array(a):
    a[0] = a[0] + 1j  # here


def refuse_order_of_complex(a):
    if a[0] * 1j < 2:  # here
        a[0] = 0


def refuse_walrus(a):
    a[0] = (n := 3) + n  # here


def refuse_unknown_cuda(a):
    cuda.cg.this_block().sync()  # here


def refuse_unknown_math(a):
    a[0] = math.comb(4, 2)  # here


def refuse_array_method(a):
    a[0] = a.sum()  # here


def refuse_type_change(a):
    v = a  # here
    if a[0] > 0:
        v = 1
    a[0] = v


def refuse_keyword(a):
    a[0] = cuda.grid(ndim=1)  # here


@cuda.jit(device=True)
def scaled(x, factor=2):
    return x * factor


def refuse_missing_argument(a):
    a[0] = scaled()  # here


def refuse_unknown_argument(a):
    a[0] = scaled(1, scale=3)  # here


def refuse_argument_given_twice(a):
    a[0] = scaled(1, x=3)  # here


def refuse_unpacked_array(a):
    a[0] = scaled(*a)  # here


def refuse_tuple_index_of_atomic(a):
    cuda.atomic.add(a, (0,), 1)  # here


def refuse_argument_of_syncthreads(a):
    cuda.syncthreads(1)  # here
    a[0] = 1


def refuse_second_argument_of_syncwarp(a):
    cuda.syncwarp(0xFFFFFFFF, 1)  # here
    a[0] = 1


def refuse_second_argument_of_grid(a):
    a[cuda.grid(1, 2)] = 1  # here


def refuse_fourth_argument_of_shared_array(a):
    tile = cuda.shared.array(4, float32, 16, 1)  # here
    tile[0] = a[0]


def refuse_match_of_nothing(a):
    a[0] = cuda.match_any_sync(0xFFFFFFFF)  # here


def refuse_call_of_the_module(a):
    a[0] = cuda()  # here


def refuse_digits_of_round(a):
    a[0] = round(a[1], ndigits=2)  # here


def refuse_base_of_log(a):
    a[0] = math.log(a[1], 2)  # here


def refuse_thread_without_axis(a):
    a[cuda.threadIdx] = 1  # here


def refuse_whole_array_as_number(a):
    a[0] = a  # here


def refuse_loop_over_count(a):
    for k in a.shape[0]:  # here
        a[k] = 1


def refuse_starred_target(a):
    first, *_ = (1, 2, 3)  # here
    a[0] = first


def refuse_matrix_product(a):
    a[0] = a[0] @ a[1]  # here


def refuse_shift_that_python_folds_beyond_64_bits(a):
    a[0] = 1 << 100  # here


def refuse_yield(a):
    yield a[0]  # here


def refuse_method_of_an_outside_array(a):
    a[0] = VALUES.sum()  # here


def refuse_method_of_an_outside_number(a):
    a[0] = SIZE.bit_length()  # here


def refuse_method_of_an_outside_list(a):
    LIST.append(1)  # here


REFUSED = [value for name, value in list(globals().items()) if name.startswith("refuse_")]


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda k: k.__name__)
def test_it_is_refused_at_its_line(kernel):
    lines, first = inspect.getsourcelines(kernel)
    expected = next(first + i for i, line in enumerate(lines) if "# here" in line)
    with pytest.raises(UnsupportedKernelError) as caught:
        simulate(kernel)[1, 4](np.ones(8, "f4"))
    if kernel is refuse_type_change:
        expected += 3  # numba, too, minds only where the value is used
    assert caught.value.line == expected
    message = str(caught.value)
    assert message.startswith(f"line {expected}: ") and "\n" not in message and len(message) < 200


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (refuse_numpy, "use math.sqrt"),
        (refuse_plain_function, r"@cuda.jit\(device=True\)"),
        (refuse_slice, "loop over single elements"),
        (refuse_shared_expression, "name outside the kernel"),
        (refuse_missing_name, "'missing' is not defined"),
        (refuse_float_index, "must be an integer"),
        (refuse_row, r"write an element, tile\[0\]\[i\]"),
        (refuse_loop_over_mixed_tuple, "convert the items"),
        (refuse_builtin_type_of_array, "write float64"),
        (refuse_builtin_function, "add in a loop"),
        (refuse_missing_argument, r"takes 2 arguments \(x, factor\), not 0"),
        (refuse_unknown_argument, "none of them"),
        (refuse_argument_given_twice, "given twice"),
        (refuse_argument_of_syncthreads, "takes no arguments"),
        (refuse_unknown_math, "multiply in a loop"),
        (refuse_digits_of_round, r"1 or 2 arguments without names, and is given the name ndigits"),
        (refuse_base_of_log, "divide by the log of the base"),
        (refuse_thread_without_axis, r"write cuda.threadIdx.x, .y or .z"),
        (refuse_whole_array_as_number, r"write an element, a\[i\]"),
        (refuse_loop_over_count, r"write range\(a.shape\[0\]\)"),
        (refuse_matrix_product, "multiply and add in a loop"),
        (refuse_list, "cuda.local.array"),
        (refuse_complex_in_a_real_array, r"take .real, .imag or abs\(\)"),
        (refuse_order_of_complex, "compare .real"),
        (refuse_two_meanings, "on every path"),
        (refuse_identity, "== or !="),
        (refuse_method_of_an_outside_array, "method of an object outside the kernel, of type ndarray"),
        (refuse_method_of_an_outside_number, "method of an object outside the kernel, of type int"),
        (refuse_method_of_an_outside_list, "call it before the launch"),
        (refuse_outside_list, "LIST is a list outside the kernel, .* make it a tuple"),
        (refuse_function_that_is_not_called, r"cuda.syncthreads is not called; write cuda.syncthreads\(\)"),
        (refuse_name_without_its_last_letter, "numba.cuda has no 'syncthread'; write cuda.syncthreads"),
        (refuse_misspelled_math, "math has no 'sqroot'; write math.sqrt"),
        (refuse_misspelled_name, "numba.cuda has no 'blockdim'; write cuda.blockDim"),
        (refuse_random_states, "draw the random numbers on the host"),
        (refuse_numpys_random, "an array of random numbers that the host draws"),
    ],
)
def test_the_message_says_what_to_write(kernel, words):
    with pytest.raises(UnsupportedKernelError, match=words):
        simulate(kernel)[1, 4](np.ones(8, "f4"))


def test_an_array_without_dimensions_is_no_number():
    def kernel(a, out):
        out[0] = a

    with pytest.raises(UnsupportedKernelError, match=r"write an element, a\[\(\)\]"):
        simulate(kernel)[1, 1](np.array(4.0), np.zeros(1))


def test_an_unknown_shape_is_refused_by_the_error_that_the_api_names():
    """The error that a device function's caller can mend is none of the API."""

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
