"""Fragments from shared memory: loads that give every lane the elements that tensor cores expect of it.

How to call them, what must hold, and the source: instructions.md in this folder.
"""

import numpy as np

from . import llvm
from .intrinsics import declared
from .tensor_core import alone

MATRICES_AT_ONCE, ROWS = 4, 8
_ROW, _WORD = np.divmod(np.arange(32), 4)


def _words(elements):
    """Return the 4-byte words of rows of elements, (warps, 32) each: float32 unchanged, two uint16 in one uint32."""
    row = np.stack(elements, axis=-1)
    return row if row.dtype == np.float32 else np.ascontiguousarray(row).view(np.uint32)


def matrices_of_warps(elements):
    """Return the words that every lane gets of the rows that the lanes load: a tuple of four (warps, 32) arrays."""
    words = _words(elements)
    return tuple(words[:, ROWS * m + _ROW, _WORD] for m in range(MATRICES_AT_ONCE))


def transposed_of_warps(elements):
    """Return the words that every lane gets of matrices of 16-bit elements that the lanes load, each transposed."""
    row = np.stack(elements, axis=-1).astype(np.uint32)
    return tuple(
        row[:, ROWS * m + 2 * _WORD, _ROW] | row[:, ROWS * m + 2 * _WORD + 1, _ROW] << np.uint32(16)
        for m in range(MATRICES_AT_ONCE)
    )


def _simulated_types(elements):
    """Return the types of the four words for those of the elements of a row."""
    if set(elements) == {"uint16"}:
        return ("uint32",) * MATRICES_AT_ONCE
    if set(elements) == {"float32"}:
        return elements
    raise TypeError(f"loads float32 or uint16, not {elements[0]}")


def _simulated_types_transposed(elements):
    if set(elements) != {"uint16"}:
        raise TypeError(f"transposes matrices of uint16, not of {elements[0]}; use load_matrices or plain indexing")
    return _simulated_types(elements)


@declared(("matrices", matrices_of_warps, _simulated_types), alone("load_matrices"))
def load_matrices(typingctx, tile, row, column):
    """Load four matrices whose rows are 16 bytes of `tile` at the lanes' [row, column]; return a word of each."""
    return llvm.tensor_core_loads.load("load_matrices", tile, row, column)


@declared(("matrices", transposed_of_warps, _simulated_types_transposed), alone("load_matrices_transposed"))
def load_matrices_transposed(typingctx, tile, row, column):
    """Load four 8×8 matrices of 16-bit elements as `load_matrices` does, each transposed."""
    return llvm.tensor_core_loads.load("load_matrices_transposed", tile, row, column, ".trans")
