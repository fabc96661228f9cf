"""Loads and stores of neighbouring float32 in one instruction: of four, which are 128 bits, or of two.

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from numba import cuda, float32, uint64

from . import llvm
from .intrinsics import declared


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


@declared(("load", 4), _load4)
def load4(typingctx, array, *index):
    """Load array[row, column : column + 4] in one 16-byte access; returns four float32."""
    return llvm.vector.load(4, array, index)


@declared(("load", 2), _load2)
def load2(typingctx, array, *index):
    """Load the float32 at [index] and the one beside it in one 8-byte access; returns two float32."""
    return llvm.vector.load(2, array, index)


@declared(("store", 4), _store4)
def store4(typingctx, array, row, column, values):
    """Store four float32 into array[row, column : column + 4] in one 16-byte access."""
    return llvm.vector.store(4, array, row, column, values)


@declared(("store", 2), _store2)
def store2(typingctx, array, row, column, values):
    """Store two float32 into array[row, column : column + 2] in one 8-byte access."""
    return llvm.vector.store(2, array, row, column, values)


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
