"""Loads and stores of neighbouring float32: see :mod:`..vector`."""

from llvmlite import ir
from numba import types

from .instructions import INT32, align_shared_arrays, element_address

GENERIC_ADDRESS_SPACE = 0


def _has(array, index):
    """Whether an array is float32 in C order, with as many dimensions as there are whole numbers in the index."""
    fits = isinstance(array, types.Array) and (array.dtype, array.layout) == (types.float32, "C")
    return fits and array.ndim == len(index) and all(isinstance(each, types.Integer) for each in index)


def _address(context, builder, count, array, value, index, indices):
    """Return a pointer to `count` float32, computed without numba's test for negative indices."""
    align_shared_arrays(builder, 16)
    first = element_address(context, builder, array, value, index, indices, GENERIC_ADDRESS_SPACE, dense=count == 4)
    return builder.bitcast(first, ir.VectorType(ir.FloatType(), count).as_pointer())


def load(count, array, index):
    """Return the signature and the generator of a load of `count` float32; None for other types."""
    if not _has(array, index):
        return None
    result = types.UniTuple(types.float32, count)

    def generate(context, builder, signature, args):
        indices = [builder.extract_value(args[1], i) for i in range(len(index))]
        vector = builder.load(_address(context, builder, count, array, args[0], index, indices), align=4 * count)
        return context.make_tuple(builder, result, [builder.extract_element(vector, INT32(i)) for i in range(count)])

    return result(array, types.StarArgTuple.from_types(index)), generate


def store(count, array, row, column, values):
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
