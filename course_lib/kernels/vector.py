"""128-bit loads and stores: four neighbouring float32 in one instruction.

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from llvmlite import ir
from numba import cuda, float32, types, uint64

from .async_copy import align_shared_arrays
from .intrinsics import declared

FLOAT4 = ir.VectorType(ir.FloatType(), 4)
BYTE_POINTER = ir.IntType(8).as_pointer()


def _load4(array, row, column):
    """Return the four elements array[row, column : column + 4]."""
    return array[row, column], array[row, column + 1], array[row, column + 2], array[row, column + 3]


def _store4(array, row, column, values):
    """Store four elements into array[row, column : column + 4]."""
    array[row, column] = values[0]
    array[row, column + 1] = values[1]
    array[row, column + 2] = values[2]
    array[row, column + 3] = values[3]


def _is_float32_matrix(array):
    return isinstance(array, types.Array) and (array.dtype, array.ndim, array.layout) == (types.float32, 2, "C")


def _address(context, builder, signature, args):
    """Return a pointer to four float32 at array[row, column], computed without numba's test for negative indices."""
    array_type, row_type, column_type = signature.args[:3]
    array = context.make_array(array_type)(context, builder, args[0])
    align_shared_arrays(builder, 16)
    row, column = (
        context.cast(builder, value, kind, types.int64) for value, kind in ((args[1], row_type), (args[2], column_type))
    )
    row_pitch, item = builder.extract_value(array.strides, 0), ir.Constant(ir.IntType(64), 4)
    offset = builder.add(builder.mul(row, row_pitch), builder.mul(column, item))
    first = builder.gep(builder.bitcast(array.data, BYTE_POINTER), [offset])
    return builder.bitcast(first, FLOAT4.as_pointer())


def _lane(number):
    return ir.Constant(ir.IntType(32), number)


@declared(("load", 4), _load4)
def load4(typingctx, array, row, column):
    """Load array[row, column : column + 4] in one 16-byte access; returns four float32."""
    if not _is_float32_matrix(array):
        return None
    result = types.UniTuple(types.float32, 4)

    def generate(context, builder, signature, args):
        vector = builder.load(_address(context, builder, signature, args), align=16)
        parts = [builder.extract_element(vector, _lane(i)) for i in range(4)]
        return context.make_tuple(builder, result, parts)

    return result(array, row, column), generate


@declared(("store", 4), _store4)
def store4(typingctx, array, row, column, values):
    """Store four float32 into array[row, column : column + 4] in one 16-byte access."""
    if not _is_float32_matrix(array) or values != types.UniTuple(types.float32, 4):
        return None

    def generate(context, builder, signature, args):
        vector = ir.Constant(FLOAT4, ir.Undefined)
        for i in range(4):
            vector = builder.insert_element(vector, builder.extract_value(args[3], i), _lane(i))
        builder.store(vector, _address(context, builder, signature, args), align=16)
        return context.get_dummy_value()

    return types.none(array, row, column, values), generate


@cuda.jit(device=True)
def element_or_zero(X, row, column):
    """Return X[row, column], or 0 outside. The unsigned index avoids numba's test for negative indices."""
    if row < X.shape[0] and column < X.shape[1]:
        return X[uint64(row), uint64(column)]
    return float32(0)


@cuda.jit(device=True)
def load4_or_zeros(X, row, column):
    """Return X[row, column : column + 4] with zeros outside, for a `column` divisible by 4.

    Rows whose length is not divisible by 4 do not begin on 16-byte boundaries: they are loaded one by one.
    """
    if X.shape[1] % 4 == 0 and row < X.shape[0] and column < X.shape[1]:
        return load4(X, row, column)
    return (
        element_or_zero(X, row, column),
        element_or_zero(X, row, column + 1),
        element_or_zero(X, row, column + 2),
        element_or_zero(X, row, column + 3),
    )


@cuda.jit(device=True)
def store_inside(X, row, column, value):
    """Store X[row, column] unless the column is outside."""
    if column < X.shape[1]:
        X[uint64(row), uint64(column)] = value


@cuda.jit(device=True)
def store4_inside(X, row, column, values):
    """Store four values into X[row, column : column + 4], except outside of X; `column` is divisible by 4."""
    if row < X.shape[0]:
        if X.shape[1] % 4 == 0:
            if column < X.shape[1]:
                store4(X, row, column, values)
        else:
            store_inside(X, row, column, values[0])
            store_inside(X, row, column + 1, values[1])
            store_inside(X, row, column + 2, values[2])
            store_inside(X, row, column + 3, values[3])
