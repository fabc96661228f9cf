"""What the instructions have in common: addresses, and lines of the GPU's assembly."""

from llvmlite import ir
from numba import types

BYTE = ir.IntType(8)
FLOAT = ir.FloatType()
INT32, INT64 = ir.IntType(32), ir.IntType(64)
GLOBAL_ADDRESS_SPACE = 1
SHARED_ADDRESS_SPACE = 3


def element_address(context, builder, array_type, value, index_types, indices, space, dense=False):
    """Return the address of array[indices] in an address space, without numba's test for negative indices.

    dense: the distance of neighbours in a row is the constant of C order; else it is read from the array.
    """
    array, item = context.make_array(array_type)(context, builder, value), array_type.dtype.bitwidth // 8
    offset = ir.Constant(INT64, 0)
    read = array_type.ndim - dense
    pitches = (builder.extract_value(array.strides, i) if i < read else INT64(item) for i in range(array_type.ndim))
    for index, kind, pitch in zip(indices, index_types, pitches, strict=True):
        offset = builder.add(offset, builder.mul(context.cast(builder, index, kind, types.int64), pitch))
    start = builder.bitcast(array.data, BYTE.as_pointer(array.data.type.addrspace))
    return builder.addrspacecast(builder.gep(start, [offset]), BYTE.as_pointer(space))


def align_shared_arrays(builder, size):
    """Align all shared arrays of a kernel to `size` bytes."""
    for variable in builder.module.global_values:
        # numba aligns a shared array to its element; a copy of 16 bytes needs 16.
        if getattr(variable, "addrspace", None) == SHARED_ADDRESS_SPACE:
            variable.align = max(variable.align or 1, size)


def assembly(builder, text, constraints="", *operands):
    """Write a line of the GPU's assembly without a result; `constraints` has a letter for each of its operands."""
    kind = ir.FunctionType(ir.VoidType(), [operand.type for operand in operands])
    builder.asm(kind, text, ",".join(filter(None, (constraints, "~{memory}"))), operands, side_effect=True)


def plain(text, *arguments, require=lambda: None):
    """Return the signature and the generator of a fixed line of assembly; `require` refuses a GPU without it."""

    def generate(context, builder, signature, args):
        require()
        assembly(builder, text)
        return context.get_dummy_value()

    return types.none(*arguments), generate
