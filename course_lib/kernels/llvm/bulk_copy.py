"""Copies of whole tiles, and barriers that count their bytes: see :mod:`..bulk_copy`."""

from numba import types

from .instructions import BYTE, INT32, INT64, SHARED_ADDRESS_SPACE, assembly, element_address
from .warpgroup import require_hopper


def _are_barriers(kind):
    return isinstance(kind, types.Array) and (kind.dtype, kind.ndim, kind.layout) == (types.uint64, 1, "C")


def _address(context, builder, kind, value, index_type, index):
    place = element_address(context, builder, kind, value, [index_type], [index], SHARED_ADDRESS_SPACE)
    return builder.ptrtoint(place, INT32)


def on_barrier(text, barriers, *numbers):
    """Return the signature and the generator of an instruction on barriers[i] with perhaps one more number."""
    if not _are_barriers(barriers) or not all(isinstance(n, (types.Integer, types.Boolean)) for n in numbers):
        return None

    def generate(context, builder, signature, args):
        kinds = signature.args
        operands = [_address(context, builder, kinds[0], args[0], kinds[1], args[1])]
        operands += [context.cast(builder, args[i], kinds[i], types.int32) for i in range(2, len(args))]
        require_hopper()
        assembly(builder, text, ",".join("r" for _ in operands), *operands)
        return context.get_dummy_value()

    return types.none(barriers, *numbers), generate


def copy(element, mapped, tile, place, matrix, row, column, barriers, i):
    """Return the signature and the generator of a copy; None for other types.

    element: the name of the type of the tile's elements. mapped: the class of a matrix with its map.
    """
    if not isinstance(tile, types.Array) or (str(tile.dtype), tile.ndim, tile.layout) != (element, 1, "C"):
        return None
    if not isinstance(matrix, types.NamedTuple) or matrix.instance_class is not mapped:
        return None
    if not _are_barriers(barriers) or not all(isinstance(n, types.Integer) for n in (place, row, column, i)):
        return None

    def generate(context, builder, signature, args):
        kinds = signature.args
        array = context.make_array(kinds[2][0])(context, builder, builder.extract_value(args[2], 0))
        first = builder.bitcast(array.data, BYTE.as_pointer(array.data.type.addrspace))
        operands = [
            _address(context, builder, kinds[0], args[0], kinds[1], args[1]),
            builder.ptrtoint(first, INT64),
            *(context.cast(builder, args[n], kinds[n], types.int32) for n in (4, 3)),
            _address(context, builder, kinds[5], args[5], kinds[6], args[6]),
        ]
        text = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        require_hopper()
        assembly(builder, f"{text} [$0], [$1, {{$2, $3}}], [$4];", "r,l,r,r,r", *operands)
        return context.get_dummy_value()

    return types.none(tile, place, matrix, row, column, barriers, i), generate
