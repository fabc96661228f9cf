"""Asynchronous copies from global to shared memory, without a register in between (compute capability 8.0 and later).

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from . import llvm
from .intrinsics import declared


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


@declared(("copy", 1), _copy_async)
def copy_async(typingctx, *arguments):
    """Start to copy array[from_row, from_column] to tile[row, column]: one element of 4 or 8 bytes."""
    return llvm.async_copy.copy(arguments, 1)


@declared(("copy", 4), _copy4_async)
def copy4_async(typingctx, *arguments):
    """Start to copy the four float32 array[from_row, from_column : from_column + 4] in one access of 16 bytes."""
    return llvm.async_copy.copy(arguments, 4)


@declared(("copy", 8), _copy8_async)
def copy8_async(typingctx, *arguments):
    """Start to copy the eight 16-bit elements array[from_row, from_column : from_column + 8] in one access."""
    return llvm.async_copy.copy(arguments, 8)


@declared(("commit",), _commit_copies)
def commit_copies(typingctx):
    """Make one group of the copies that this thread started since the last call."""
    return llvm.instructions.plain("cp.async.commit_group;")


@declared(("wait",), _wait_copies, prefer_literal=True)
def wait_copies(typingctx, pending):
    """Wait until all groups of this thread but the last `pending` have arrived; `pending` is a constant."""
    return llvm.async_copy.wait(pending)
