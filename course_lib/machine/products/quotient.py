"""Division of unsigned numbers of 32 bits, with which blocks find their tile.

numba divides integers as int64, rounding down. A GPU has no instruction for that: a division is dozens of instructions
and a branch. The blocks of `tile`, which begin with six divisions, had 576 instructions before their first load, and
390 with these quotients of unsigned numbers of 32 bits; a block of a small product executes few others.

    quotient(a, b)              # a // b, for 0 <= a < 2**32 and 0 < b < 2**32: neither is checked on a GPU

Without a GPU it is ordinary Python. The attribute `__simulated_as__` says that each lane divides by itself.
"""

import numpy as np
from llvmlite import ir
from numba import types

from ...kernels.intrinsics import declared

INT32, INT64 = ir.IntType(32), ir.IntType(64)


def _quotient(a, b):
    """Return a // b."""
    return a // b


def quotients(a, b):
    """Return a // b of integers or arrays of them, and a where b is 0: an inactive lane may hold any value."""
    return np.floor_divide(a, np.where(np.equal(b, 0), 1, b))


def _simulated_type(a, b):
    """Return the type of quotient(a, b) in the simulator."""
    if not (a.startswith(("int", "uint")) and b.startswith(("int", "uint"))):
        raise TypeError(f"takes two integers, not {a} and {b}; convert them")
    return "int64"


@declared(("lane", quotients, _simulated_type), _quotient)
def quotient(typingctx, a, b):
    """Return a // b as int64, for integers 0 <= a < 2**32 and 1 <= b < 2**32."""
    if not (isinstance(a, types.Integer) and isinstance(b, types.Integer)):
        return None

    def generate(context, builder, signature, args):
        short = [
            builder.trunc(context.cast(builder, value, kind, types.int64), INT32)
            for value, kind in zip(args, signature.args, strict=True)
        ]
        return builder.zext(builder.udiv(*short), INT64)

    return types.int64(a, b), generate
