"""Copies that go on while the thread does: see :mod:`..async_copy`."""

from numba import types

from .instructions import (
    GLOBAL_ADDRESS_SPACE,
    INT32,
    INT64,
    SHARED_ADDRESS_SPACE,
    align_shared_arrays,
    assembly,
    element_address,
    plain,
)


def copy(arguments, elements):
    """Return the signature and the generator of one copy of `elements` elements; None for other types.

    arguments: those of the call, an array and its indices, another and its indices, and perhaps one more.
    """
    places = [i for i, kind in enumerate(arguments) if isinstance(kind, types.Array)]
    if len(places) != 2 or places[0] != 0:
        return None
    middle, end = places[1], places[1] + 1 + arguments[places[1]].ndim
    tile, array = arguments[0], arguments[middle]
    given = arguments[end:]
    if middle != 1 + tile.ndim or len(given) > (elements > 1):
        return None
    numbers = (*arguments[1:middle], *arguments[middle + 1 : end])
    if not all(isinstance(i, types.Integer) for i in numbers):
        return None
    if tile.dtype != array.dtype or tile.layout != "C" or elements > 1 and array.layout != "C":
        return None
    size = elements * tile.dtype.bitwidth // 8
    if size not in (4, 8, 16):  # the bytes that cp.async copies
        return None
    # Copies of 16 bytes bypass the first-level cache, since data used once does not profit from it.
    text = f"cp.async.{'cg' if size == 16 else 'ca'}.shared.global [$0], [$1], {size}{', $2' if given else ''};"

    def generate(context, builder, signature, args):
        align_shared_arrays(builder, size)
        kinds, args = arguments, [builder.extract_value(args[0], i) for i in range(len(arguments))]
        to = element_address(context, builder, tile, args[0], kinds[1:middle], args[1:middle], SHARED_ADDRESS_SPACE)
        index = slice(middle + 1, end)
        of = element_address(context, builder, array, args[middle], kinds[index], args[index], GLOBAL_ADDRESS_SPACE)
        operands = [builder.ptrtoint(to, INT32), builder.ptrtoint(of, INT64)]
        if given:  # of so many bytes; the others of the tile become 0
            inside = context.cast(builder, args[-1], given[0], types.boolean)
            operands.append(builder.select(inside, INT32(size), INT32(0)))
        assembly(builder, text, "r,l,r" if given else "r,l", *operands)
        return context.get_dummy_value()

    return types.none(types.StarArgTuple.from_types(arguments)), generate


def wait(pending):
    """Return the signature and the generator of a wait for all but the last `pending` groups; None for no constant."""
    if not isinstance(pending, types.IntegerLiteral) or pending.literal_value < 0:
        return None
    return plain(f"cp.async.wait_group {pending.literal_value};", pending)
