"""Products of two small matrices by a warp, and the rounding of their numbers: see :mod:`..tensor_core`."""

from llvmlite import ir
from numba import cuda, types
from numba.core import errors
from numba.cuda.cudadrv.error import CudaSupportError

from .instructions import FLOAT, INT32

#: The values of a, b and c that a lane gives.
A_ITEMS, B_ITEMS, C_ITEMS = 4, 2, 4
#: The first compute capability that has the instructions.
AMPERE = (8, 0)


def require_ampere(name):
    """Raise a LoweringError if the present GPU is too old; do nothing without a GPU."""
    try:
        capability = tuple(cuda.get_current_device().compute_capability)
    except CudaSupportError:
        return
    if capability < AMPERE:
        raise errors.LoweringError(
            f"{name} needs a GPU of compute capability {AMPERE[0]}.{AMPERE[1]} (Ampere) or later, and this one has "
            f"{capability[0]}.{capability[1]}; use a kernel without tensor cores, such as `best`"
        )


def product(name, form, a, b, c):
    """Return the signature and the generator of an mma; raise TypingError for other types."""
    try:
        form.check(lambda kind: tuple(map(str, kind)) if isinstance(kind, types.BaseTuple) else (), a, b, c)
    except TypeError as error:
        raise errors.TypingError(f"{name}: {error}") from None

    def generate(context, builder, signature, args):
        require_ampere(name)
        operands = []
        for fragment, count in zip(args, (A_ITEMS, B_ITEMS, C_ITEMS), strict=True):
            operands += [builder.extract_value(fragment, i) for i in range(count)]
        bits = A_ITEMS + B_ITEMS
        operands[:bits] = [builder.bitcast(value, INT32) for value in operands[:bits]]
        result = ir.LiteralStructType([FLOAT] * C_ITEMS)
        text = (
            f"mma.sync.aligned.{form.text} {{$0, $1, $2, $3}}, {{$4, $5, $6, $7}}, {{$8, $9}}, {{$10, $11, $12, $13}};"
        )
        constraints = ",".join(["=f"] * C_ITEMS + ["r"] * bits + ["f"] * C_ITEMS)
        kind = ir.FunctionType(result, [operand.type for operand in operands])
        value = builder.asm(kind, text, constraints, operands, side_effect=True)
        return context.make_tuple(
            builder, signature.return_type, [builder.extract_value(value, i) for i in range(C_ITEMS)]
        )

    return types.UniTuple(types.float32, C_ITEMS)(a, b, c), generate


def rounded(x):
    """Return the signature and the generator of the rounding to TF32; None for other types than float32."""
    if x != types.float32:
        return None

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(INT32, [FLOAT])
        rounded = builder.asm(kind, "cvt.rna.tf32.f32 $0, $1;", "=r,f", args, side_effect=False)
        return builder.bitcast(rounded, FLOAT)

    return types.float32(x), generate
