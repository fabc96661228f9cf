"""Loads and stores of neighbouring float32 in one instruction: of four, which are 128 bits, or of two.

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from llvmlite import ir
from numba import cuda, float32, types, uint64

from .async_copy import INT32, align_shared_arrays, element_address
from .intrinsics import declared

GENERIC_ADDRESS_SPACE = 0


def _load4(array, row, column):
    """Return the four elements array[row, column : column + 4]."""
    return array[row, column], array[row, column + 1], array[row, column + 2], array[row, column + 3]


def _store4(array, row, column, values):
    """Store four elements into array[row, column : column + 4]."""
    array[row, column] = values[0]
    array[row, column + 1] = values[1]
    array[row, column + 2] = values[2]
    array[row, column + 3] = values[3]


def _load2(tile, *index):
    """Return tile[index] and the element beside it."""
    return tile[index], tile[(*index[:-1], index[-1] + 1)]


def _store2(array, row, column, values):
    """Store two elements into array[row, column : column + 2]."""
    array[row, column], array[row, column + 1] = values


def _has(array, index):
    """Whether an array is float32 in C order, with as many dimensions as there are whole numbers in the index."""
    fits = isinstance(array, types.Array) and (array.dtype, array.layout) == (types.float32, "C")
    return fits and array.ndim == len(index) and all(isinstance(each, types.Integer) for each in index)


def _address(context, builder, count, array, value, index, indices):
    """Return a pointer to `count` float32, computed without numba's test for negative indices."""
    align_shared_arrays(builder, 16)
    first = element_address(context, builder, array, value, index, indices, GENERIC_ADDRESS_SPACE, dense=count == 4)
    return builder.bitcast(first, ir.VectorType(ir.FloatType(), count).as_pointer())


def _load(count, array, index):
    """Return the signature and the generator of a load of `count` float32; None for other types."""
    if not _has(array, index):
        return None
    result = types.UniTuple(types.float32, count)

    def generate(context, builder, signature, args):
        indices = [builder.extract_value(args[1], i) for i in range(len(index))]
        vector = builder.load(_address(context, builder, count, array, args[0], index, indices), align=4 * count)
        return context.make_tuple(builder, result, [builder.extract_element(vector, INT32(i)) for i in range(count)])

    return result(array, types.StarArgTuple.from_types(index)), generate


def _store(count, array, row, column, values):
    """Return the signature and the generator of a store of `count` float32; None for other types."""
    if not _has(array, (row, column)) or values != types.UniTuple(types.float32, count):
        return None

    def generate(context, builder, signature, args):
        vector = ir.Constant(ir.VectorType(ir.FloatType(), count), ir.Undefined)
        for i in range(count):
            vector = builder.insert_element(vector, builder.extract_value(args[3], i), INT32(i))
        place = _address(context, builder, count, array, args[0], (row, column), args[1:3])
        builder.store(vector, place, align=4 * count)
        return context.get_dummy_value()

    return types.none(array, row, column, values), generate


@declared(("load", 4), _load4)
def load4(typingctx, array, *index):
    """Load array[row, column : column + 4] in one 16-byte access; returns four float32."""
    return _load(4, array, index)


@declared(("load", 2), _load2)
def load2(typingctx, array, *index):
    """Load the float32 at [index] and the one beside it in one 8-byte access; returns two float32."""
    return _load(2, array, index)


@declared(("store", 4), _store4)
def store4(typingctx, array, row, column, values):
    """Store four float32 into array[row, column : column + 4] in one 16-byte access."""
    return _store(4, array, row, column, values)


@declared(("store", 2), _store2)
def store2(typingctx, array, row, column, values):
    """Store two float32 into array[row, column : column + 2] in one 8-byte access."""
    return _store(2, array, row, column, values)


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
