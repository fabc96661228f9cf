"""Loads that give every lane the elements that tensor cores expect of it: see :mod:`..tensor_core_loads`."""

from llvmlite import ir
from numba import types

from .instructions import FLOAT, INT32, SHARED_ADDRESS_SPACE, align_shared_arrays, element_address
from .tensor_core import require_ampere

MATRICES_AT_ONCE = 4
FLOATS, WORDS = (types.UniTuple(kind, MATRICES_AT_ONCE) for kind in (types.float32, types.uint32))


def load(name, tile, row, column, form=""):
    """Return the signature and the generator of ldmatrix; None for other types."""
    if not all(isinstance(index, types.Integer) for index in (row, column)):
        return None
    if not isinstance(tile, types.Array) or (tile.ndim, tile.layout) != (2, "C"):
        return None
    if tile.dtype not in ((types.uint16,) if form else (types.float32, types.uint16)):
        return None
    result = FLOATS if tile.dtype == types.float32 else WORDS

    def generate(context, builder, signature, args):
        require_ampere(name)
        align_shared_arrays(builder, 16)
        kinds = signature.args
        address = element_address(context, builder, kinds[0], args[0], kinds[1:], args[1:], SHARED_ADDRESS_SPACE)
        text = f"ldmatrix.sync.aligned.m8n8.x4{form}.shared.b16 {{$0, $1, $2, $3}}, [$4];"
        kind = ir.FunctionType(ir.LiteralStructType([INT32] * MATRICES_AT_ONCE), [INT32])
        constraints = "=r,=r,=r,=r,r,~{memory}"
        value = builder.asm(kind, text, constraints, [builder.ptrtoint(address, INT32)], side_effect=True)
        words = [builder.extract_value(value, i) for i in range(MATRICES_AT_ONCE)]
        if result is FLOATS:
            words = [builder.bitcast(word, FLOAT) for word in words]
        return context.make_tuple(builder, result, words)

    return result(tile, row, column), generate
