"""Asynchronous copies from global to shared memory, without a register in between (compute capability 8.0 and later).

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from llvmlite import ir
from numba import types

from .intrinsics import declared

BYTE = ir.IntType(8)
INT32, INT64 = ir.IntType(32), ir.IntType(64)
GLOBAL_ADDRESS_SPACE = 1
SHARED_ADDRESS_SPACE = 3


def _copy_async(tile, row, column, array, from_row, from_column):
    """Copy array[from_row, from_column] to tile[row, column]."""
    tile[row, column] = array[from_row, from_column]


def _copy4_async(tile, row, column, array, from_row, from_column):
    """Copy array[from_row, from_column : from_column + 4] to tile[row, column : column + 4]."""
    tile[row, column] = array[from_row, from_column]
    tile[row, column + 1] = array[from_row, from_column + 1]
    tile[row, column + 2] = array[from_row, from_column + 2]
    tile[row, column + 3] = array[from_row, from_column + 3]


def _copy8_async(tile, row, column, array, from_row, from_column):
    """Copy array[from_row, from_column : from_column + 8] to tile[row, column : column + 8]."""
    for i in range(8):
        tile[row, column + i] = array[from_row, from_column + i]


def _commit_copies():
    """Close the group of copies started since the last call; an empty group counts, too."""


def _wait_copies(pending):
    """Wait until all groups of this thread but the last `pending` have arrived."""


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


def _copy(arguments, elements):
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


@declared(("copy", 1), _copy_async)
def copy_async(typingctx, *arguments):
    """Start to copy array[from_row, from_column] to tile[row, column]: one element of 4 or 8 bytes."""
    return _copy(arguments, 1)


@declared(("copy", 4), _copy4_async)
def copy4_async(typingctx, *arguments):
    """Start to copy the four float32 array[from_row, from_column : from_column + 4] in one access of 16 bytes."""
    return _copy(arguments, 4)


@declared(("copy", 8), _copy8_async)
def copy8_async(typingctx, *arguments):
    """Start to copy the eight 16-bit elements array[from_row, from_column : from_column + 8] in one access."""
    return _copy(arguments, 8)


@declared(("commit",), _commit_copies)
def commit_copies(typingctx):
    """Make one group of the copies that this thread started since the last call."""
    return plain("cp.async.commit_group;")


@declared(("wait",), _wait_copies, prefer_literal=True)
def wait_copies(typingctx, pending):
    """Wait until all groups of this thread but the last `pending` have arrived; `pending` is a constant."""
    if not isinstance(pending, types.IntegerLiteral) or pending.literal_value < 0:
        return None
    return plain(f"cp.async.wait_group {pending.literal_value};", pending)
