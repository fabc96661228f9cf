"""Tensor cores: the product of two small matrices as one instruction of a warp (compute capability 8.0 and later).

numba has no way to say this in Python, so the function writes the compiler's own code for it, mma.sync. It is called
like any function inside a kernel, by all 32 lanes of a warp together:

    d0, d1, d2, d3 = mma_tf32((a0, a1, a2, a3), (b0, b1), (c0, c1, c2, c3))        # D = A B + C

A is 16×8, B 8×8, C and D 16×8. Each lane holds a few elements of each, its fragments, all float32. Of lane 4 q + t,
with q from 0 to 7 and t from 0 to 3, they are

    a = A[q, t], A[q + 8, t], A[q, t + 4], A[q + 8, t + 4]
    b = B[t, q], B[t + 4, q]
    c = C[q, 2 t], C[q, 2 t + 1], C[q + 8, 2 t], C[q + 8, 2 t + 1]                 # and d likewise

The elements of A and B are rounded to TF32 first, to nearest and from a tie away from zero (cvt.rna): it has the
exponent of float32 and 10 of its 23 fraction bits, so the relative error of each is at most 2**-11. A product of two of
them is exact in float32, and the sums are float32. `round_to_tf32` and `mma_tf32_of_warps` say the same in NumPy;
the simulator runs the latter for all warps at once, and reports lanes that do not arrive. The sum is not float32's:
the exponent of a product being the sum of its factors', all nine terms are cut off 25 bits below the largest one,
added exactly, and the sum is cut off to a float32. So it was found on an H200, bit for bit; other generations may keep
other bits of a sum.

A GPU older than Ampere has no such instruction: a kernel that calls it is refused when it is compiled.
Source: NVIDIA, "Parallel Thread Execution ISA", the sections on mma.sync (m16n8k8, tf32) and on cvt.
"""

import numpy as np
from llvmlite import ir
from numba import config, cuda, types
from numba.core import errors
from numba.cuda.cudadrv.error import CudaSupportError
from numba.extending import intrinsic

FLOAT, INT32 = ir.FloatType(), ir.IntType(32)
#: The bits of a float32's fraction that TF32 lacks.
DROPPED_BITS = 13
#: The rows, columns and depth of one instruction, and the items of a, b and c that a lane holds.
ROWS, COLUMNS, DEPTH = 16, 8, 8
A_ITEMS, B_ITEMS, C_ITEMS = 4, 2, 4
#: The bits that are added, from the largest exponent on; the least exponent e, where |x| < 2**e as frexp has it.
SUM_BITS, LEAST_EXPONENT = 26, -125
#: The first compute capability that has it.
AMPERE = (8, 0)

_LANE = np.arange(32)
_Q, _T = _LANE // 4, _LANE % 4
#: Row and column of each item of each lane: shape (items, 32).
A_PLACES = np.array([_Q, _Q + 8, _Q, _Q + 8]), np.array([_T, _T, _T + 4, _T + 4])
B_PLACES = np.array([_T, _T + 4]), np.array([_Q, _Q])
C_PLACES = np.array([_Q, _Q, _Q + 8, _Q + 8]), np.array([2 * _T, 2 * _T + 1, 2 * _T, 2 * _T + 1])


def round_to_tf32(x):
    """Return the float32 values nearest to those of the float32 array x that TF32 holds, ties away from zero.

    A NaN loses its last 13 bits, as on a GPU, and one that has no others becomes an infinity.
    """
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    half = np.where(np.isnan(x), 0, 1 << (DROPPED_BITS - 1)).astype(np.uint32)
    return ((bits + half) & np.uint32(2**32 - (1 << DROPPED_BITS))).view(np.float32)


def _exponents(x):
    """Return e with |x| < 2**e, the least; those of zeros and denormals are float32's smallest normal number's."""
    return np.maximum(np.where(x == 0, LEAST_EXPONENT, np.frexp(x)[1]), LEAST_EXPONENT)


def _towards_zero(x):
    """Return float64 values as float32, cut off; those beyond float32 are infinite."""
    rounded = x.astype(np.float32)
    beyond = np.isfinite(rounded) & (np.abs(rounded.astype(np.float64)) > np.abs(x))
    return np.where(beyond, np.nextafter(rounded, np.float32(0)), rounded)


def mma_tf32_of_warps(a, b, c):
    """Return what every lane gets of D = A B + C: tuples of arrays of shape (warps, 32), an array for each item."""
    warps = len(c[0])
    A, B, C = np.empty((warps, ROWS, DEPTH)), np.empty((warps, DEPTH, COLUMNS)), np.empty((warps, ROWS, COLUMNS))
    A[:, *A_PLACES] = round_to_tf32(np.stack(a, axis=1))
    B[:, *B_PLACES] = round_to_tf32(np.stack(b, axis=1))
    C[:, *C_PLACES] = np.stack(c, axis=1)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        A, B = A[:, :, None, :], B.swapaxes(1, 2)[:, None, :, :]
        terms = np.concatenate([A * B, C[..., None]], axis=-1)  # exact: 11 bits by 11
        exponents = np.concatenate([_exponents(A) + _exponents(B) - 1, _exponents(C)[..., None]], axis=-1)
        last_bit = exponents.max(axis=-1, keepdims=True).clip(LEAST_EXPONENT) - SUM_BITS
        sums = np.ldexp(np.trunc(np.ldexp(terms, -last_bit)).sum(axis=-1), last_bit[..., 0])
        D = _towards_zero(np.where(np.isfinite(terms).all(axis=-1), sums, terms.sum(axis=-1)))
    return tuple(D[:, *C_PLACES].swapaxes(0, 1))


def _check(items, a, b, c):
    """Raise TypeError unless a, b and c are tuples of 4, 2 and 4 float32; items(x) gives the names of their types."""
    for name, fragment, count in (("A", a, A_ITEMS), ("B", b, B_ITEMS), ("C", c, C_ITEMS)):
        if items(fragment) != ("float32",) * count:
            raise TypeError(f"the fragment of {name} is a tuple of {count} float32, not {fragment}; convert each item")


def _simulated_types(a, b, c):
    """Return the types of d for those of the arguments in the simulator."""
    _check(lambda kind: kind, a, b, c)
    return c


def _require_ampere():
    """Raise a LoweringError if the GPU at hand is too old; without a GPU there is nothing to ask."""
    try:
        capability = tuple(cuda.get_current_device().compute_capability)
    except CudaSupportError:
        return
    if capability < AMPERE:
        raise errors.LoweringError(
            f"mma_tf32 needs a GPU of compute capability {AMPERE[0]}.{AMPERE[1]} (Ampere) or later, and this one has "
            f"{capability[0]}.{capability[1]}; take a kernel without tensor cores, such as `best`"
        )


def _round(builder, value):
    """Return the bits of a float rounded to TF32; equal calls are merged by the compiler."""
    kind = ir.FunctionType(INT32, [FLOAT])
    return builder.asm(kind, "cvt.rna.tf32.f32 $0, $1;", "=r,f", [value], side_effect=False)


def _mma_tf32(a, b, c):
    """Say that there is no meaning for one thread alone."""
    raise NotImplementedError("mma_tf32 is done by 32 lanes together, which numba's simulator cannot; use `simulate`")


@intrinsic
def mma_tf32(typingctx, a, b, c):
    """Return the lane's items of D = A B + C, of 16×8, 8×8 and 16×8 matrices in fragments of 4, 2 and 4 float32."""
    try:
        _check(lambda kind: tuple(map(str, kind)) if isinstance(kind, types.BaseTuple) else (), a, b, c)
    except TypeError as error:
        raise errors.TypingError(f"mma_tf32: {error}") from None

    def generate(context, builder, signature, args):
        _require_ampere()
        operands = []
        for fragment, count in zip(args, (A_ITEMS, B_ITEMS, C_ITEMS), strict=True):
            operands += [builder.extract_value(fragment, i) for i in range(count)]
        rounded = A_ITEMS + B_ITEMS
        operands[:rounded] = [_round(builder, value) for value in operands[:rounded]]
        result = ir.LiteralStructType([FLOAT] * C_ITEMS)
        text = (
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
        )
        constraints = ",".join(["=f"] * C_ITEMS + ["r"] * rounded + ["f"] * C_ITEMS)
        kind = ir.FunctionType(result, [operand.type for operand in operands])
        value = builder.asm(kind, text, constraints, operands, side_effect=True)
        return context.make_tuple(
            builder, signature.return_type, [builder.extract_value(value, i) for i in range(C_ITEMS)]
        )

    return types.UniTuple(types.float32, C_ITEMS)(a, b, c), generate


if config.ENABLE_CUDASIM:
    mma_tf32 = _mma_tf32
else:
    mma_tf32.py_func = _mma_tf32
mma_tf32.__simulated_as__ = ("warp", mma_tf32_of_warps, _simulated_types)
