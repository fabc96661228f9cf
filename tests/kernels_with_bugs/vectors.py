"""One thread an element, of vectors and of matrices: guards, bounds, negative indices, and types by accident."""

import numpy as np
from numba import cuda, float32

from course_lib.kernels import load4  # noqa: F401  (in an edit)

from .case import BUGS, normal, safe, vector, zeros


def with_a_zero(rng):
    x = rng.integers(1, 9, 32, np.int32)
    x[5] = 0
    return x, zeros(32, dtype=np.int32)


@safe(2, 64, vector(100), lambda x, out: {1: x + x})
@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] + x[i]


BUGS[doubled] = """
off_by_one_edge: The guard lets i = n through: `<=` where `<` is meant.
- i < x.shape[0] -> i <= x.shape[0]
? out-of-bounds out: out[i] =; out-of-bounds x: out[i] =

no_guard: The grid is rounded up to whole blocks and no thread asks whether it has an element.
- if i < x.shape[0]:
-     out[i] = x[i] + x[i]
+ out[i] = x[i] + x[i]
? out-of-bounds x: out[i] =; out-of-bounds out: out[i] =

grid_rounded_down: The grid is n // block: the last elements belong to nobody. The launch is wrong, the kernel is right.
? wrong-value
@ bug_grid=1

stride_of_one_block: The grid-stride loop steps by the block instead of the grid: blocks do each other's elements again.
-- i = cuda.grid(1)
-- if i < x.shape[0]:
++ for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
- cuda.gridsize(1) -> cuda.blockDim.x
? race out: out[i] = | out[i] =
@ arguments=vector(200)

division_by_two: Dividing a float32 by the literal 2.0 (or 2) computes in float64.
-- x[i] + x[i] -> x[i] / float32(2.0)
- float32(2.0) -> 2.0
? float64: out[i] =
@ answer=lambda x, out: {1: x / 2}

index_times_float32: float32 times an integer index is a float64 in numba.
-- x[i] + x[i] -> x[i] * float32(i)
- float32(i) -> i
? float64: out[i] =
@ answer=lambda x, out: {1: x * np.arange(x.size, dtype=np.float32)}

conditional_expression_in_float64: `value if condition else 0.0` takes the type of the 0.0.
-- out[i] = x[i] + x[i]
++ value = x[i] if i % 3 == 0 else float32(0)
++ out[i] = value * x[i]
- float32(0) -> 0.0
? float64: out[i] =
@ answer=lambda x, out: {1: np.where(np.arange(x.size) % 3 == 0, x * x, np.float32(0))}

python_float_argument: A Python float argument arrives as float64 and takes the whole expression with it.
-- x, out -> alpha, x, out
-- x[i] + x[i] -> float32(alpha) * x[i]
- float32(alpha) -> alpha
? float64: out[i] =
@ arguments=lambda rng: (1.5, normal(rng, 100), zeros(100))
@ answer=lambda alpha, x, out: {2: np.float32(alpha) * x}

int32_array_times_float32: An int32 weight makes a float64 of the float32 that it multiplies.
-- x, out -> x, weight, out
-- x[i] + x[i] -> float32(weight[i]) * x[i]
- float32(weight[i]) -> weight[i]
? float64: out[i] =
@ arguments=lambda rng: (normal(rng, 100), rng.integers(-9, 9, 100, np.int32), zeros(100))
@ answer=lambda x, weight, out: {2: x * weight.astype(np.float32)}

assertion_about_the_input: An index from the input is asserted to be positive, and one is zero.
-- @cuda.jit -> @cuda.jit(debug=True, opt=False)
-- out[i]
++ assert x[i] >= 0
++ out[i]
- x[i] >= 0 -> x[i] > 0
? failed-assertion: assert
@ arguments=with_a_zero
"""


def of_neighbours(x, out):
    right = np.zeros_like(x)
    right[1:-1] = x[2:] - x[:-2]
    return {1: right}


@safe(2, 32, vector(50), of_neighbours)
@cuda.jit
def differences(x, out):
    i = cuda.grid(1)
    if 0 < i < x.shape[0] - 1:
        out[i] = x[i + 1] - x[i - 1]


BUGS[differences] = """
neighbour_beyond_the_end: The last thread has no right neighbour, and loads one.
- x.shape[0] - 1 -> x.shape[0]
? out-of-bounds x: out[i] =

negative_wrap: The first thread has no left neighbour; numba reads the last element of the array instead, and says
nothing.
- 0 < i < x.shape[0] - 1 -> i < x.shape[0] - 1
? negative-index x: out[i] =

too_negative: An index below -n wraps to nowhere: numba adds n once, and the element is still outside.
- x[i - 1] -> x[i - 60]
? out-of-bounds x: out[i] = ~ negative-index

stencil_in_place: A stencil writes the array that its neighbours read.
- out[i] = x[i + 1] - x[i - 1]
+ x[i] = x[i + 1] - x[i - 1]
+ out[i] = x[i]
? race x: x[i] = x[i + 1] | x[i] = x[i + 1]
"""


@safe(
    1,
    64,
    lambda rng: (np.append(0, rng.integers(0, 5, 50).cumsum()).astype(np.int32), zeros(50, dtype=np.int32)),
    lambda first, degree: {1: np.diff(first)},
)
@cuda.jit
def degrees(first, degree):
    v = cuda.grid(1)
    if v < first.size - 1:
        degree[v] = first[v + 1] - first[v]


BUGS[degrees] = """
vertex_after_the_last: The guard lets one vertex too many pass: the end of its list of edges is beyond the array.
- first.size - 1 -> first.size
? out-of-bounds first: degree[v] = ~ out-of-bounds
"""


@safe(
    1,
    40,
    lambda rng: (normal(rng, 40, 7), zeros(40)),
    lambda x, out: {1: x[:, ::3].sum(1) * x[:, 1::3].sum(1) * x[:, 2::3].sum(1)},
)
@cuda.jit
def product_of_sums(x, out):
    sums = cuda.local.array(3, float32)
    i = cuda.grid(1)
    for k in range(3):
        sums[k] = float32(0)
    for k in range(x.shape[1]):
        sums[k % 3] += x[i, k]
    out[i] = sums[0] * sums[1] * sums[2]


BUGS[product_of_sums] = """
uninitialised_local: A local array is used as a set of sums without being set to zero first.
- for k in range(3):
-     sums[k] = float32(0)
? uninitialized-read sums: sums[k % 3] +=

local_array_out_of_bounds: The loop that sets a local array of three to zero runs one element too far.
- range(3) -> range(4)
? out-of-bounds sums: sums[k] =
"""


@safe(
    1,
    8,
    lambda rng: (rng.integers(0, 9, (1, 36)).astype(np.float32), zeros(8)),
    lambda A, out: {1: A[0, 1:33].reshape(8, 4).sum(1)},
)
@cuda.jit
def sums_of_four(A, out):
    t = cuda.threadIdx.x
    a, b, c, d = A[0, 4 * t + 1], A[0, 4 * t + 2], A[0, 4 * t + 3], A[0, 4 * t + 4]
    out[t] = a + b + c + d


BUGS[sums_of_four] = """
wide_load_of_a_shifted_row: A load of four floats at once starts at an element whose index is no multiple of four.
- A[0, 4 * t + 1], A[0, 4 * t + 2], A[0, 4 * t + 3], A[0, 4 * t + 4] -> load4(A, 0, 4 * t + 1)
? misaligned-access A: load4
"""


def matrix(M, N):
    return lambda rng: (normal(rng, M, N), zeros(M, N))


def to_the_right(A, out):
    right = np.zeros_like(A)
    right[:-1, :-1] = A[:-1, 1:] - A[:-1, :-1]
    return {1: right}


@safe((2, 3), (4, 4), matrix(11, 7), lambda A, out: {1: A})
@cuda.jit
def copied(A, out):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        out[row, col] = A[row, col]


BUGS[copied] = """
swapped_x_and_y: The row comes from x, the column from y: a tall matrix is left at its right edge, and half of it not
copied.
-- if row < A.shape[0] and col < A.shape[1]:
--     out[row, col] = A[row, col]
++ out[row, col] = A[row, col]
- col, row = -> row, col =
? out-of-bounds A: out[row, col] =; out-of-bounds out: out[row, col] =
@ arguments=matrix(12, 8)

swapped_x_and_y_under_a_guard: Row and column are swapped, and a guard hides it: the threads that leave the matrix do
nothing.
- col, row = -> row, col =
? wrong-value

guard_of_one_dimension: Rows are guarded, columns are not: a thread beyond the right edge of a row leaves dimension 1.
-  and col < A.shape[1] ->
? out-of-bounds A: out[row, col] =; out-of-bounds out: out[row, col] =

grid_of_one_dimension: The kernel computes a row and a column, and the launch has blocks along x alone.
? missing-dimension out: out[row, col] =
@ grid=(7, 11), block=1, bug_grid=7

row_index_without_block: Two blocks own the same rows, because the row leaves out blockIdx.y.
- col, row = cuda.grid(2) -> col, row = cuda.grid(2)[0], cuda.threadIdx.y
? race out: out[row, col] = | out[row, col] =

inner_dimension_wraps_to_next_row: Column n of row r is column 0 of row r + 1 in memory: every address is in the array,
and the index is not.
-- A.shape[0] and col < A.shape[1] -> A.shape[0] - 1 and col < A.shape[1] - 1
-- = A[row, col] -> = A[row, col + 1] - A[row, col]
-  and col < A.shape[1] - 1 ->
? out-of-bounds A: out[row, col] =
@ grid=(2, 2)
@ arguments=matrix(5, 8)
@ answer=to_the_right
"""


@safe((1, 1, 2), (4, 3, 2), lambda rng: (normal(rng, 3, 4), zeros(3, 3, 4)), lambda A, out: {1: np.stack([A] * 3)})
@cuda.jit
def planes(A, out):
    x, y, z = cuda.grid(3)
    if z < out.shape[0]:
        out[z, y, x] = A[y, x]


BUGS[planes] = """
third_dimension_out_of_bounds: The z index of the launch runs past the depth of the array; in memory order the element
would still exist.
- out.shape[0] -> 4
? out-of-bounds out: out[z, y, x] =
"""
