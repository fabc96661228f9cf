"""Loads of a tile from global to shared memory by the threads of a block, for `tile`.

There is a pair of functions for each layout of an operand: contiguous along K or across it, with rows aligned to 16
bytes or not. Tiles are stored K first, so A's is transposed while it is loaded, unless A already is.
"""

from dataclasses import dataclass

from numba import cuda, float32, uint64

from ...kernels.vector import load4, store4

#: Elements along K that a thread loads and multiplies between two barriers of the block.
UNIT = 16


@dataclass(frozen=True)
class LoadForm:
    """The layout of an operand: along_k if it is contiguous along K; wide if its rows are aligned to 16 bytes."""

    along_k: bool
    wide: bool


def _along_k_wide(width, threads, fits):
    """Return the functions of `loader` for an operand along K in loads of 16 bytes: four lanes to a row of 16."""
    step, count = threads // 4, 4 * width // threads

    @cuda.jit(device=True)
    def fetch(X, thread, first, start, values):
        for i in range(count):
            row = first + thread // 4 + step * i
            if not fits:
                row = min(row, X.shape[0] - 1)
            k = start + thread % 4 * 4
            values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = load4(X, row, k)

    @cuda.jit(device=True)
    def fetch_ragged(X, thread, first, start, limit, values):
        for i in range(4 * count):
            values[i] = 0
        if start + thread % 4 * 4 < limit:
            fetch(X, thread, first, start, values)

    @cuda.jit(device=True)
    def keep(tile, thread, at, values):
        for i in range(count):
            for e in range(4):
                tile[uint64(at + thread % 4 * 4 + e), uint64(thread // 4 + step * i)] = values[4 * i + e]

    return fetch, fetch_ragged, keep


def _along_k(width, threads, fits):
    """Return the functions of `loader` for an operand along K, element by element: 16 lanes to a row of 16."""
    step, count = threads // UNIT, UNIT * width // threads

    @cuda.jit(device=True)
    def fetch(X, thread, first, start, values):
        for i in range(count):
            row = first + thread // UNIT + step * i
            if not fits:
                row = min(row, X.shape[0] - 1)
            values[i] = X[uint64(row), uint64(start + thread % UNIT)]

    @cuda.jit(device=True)
    def fetch_ragged(X, thread, first, start, limit, values):
        for i in range(count):
            values[i] = 0
        if start + thread % UNIT < limit:
            fetch(X, thread, first, start, values)

    @cuda.jit(device=True)
    def keep(tile, thread, at, values):
        for i in range(count):
            tile[uint64(at + thread % UNIT), uint64(thread // UNIT + step * i)] = values[i]

    return fetch, fetch_ragged, keep


def _across_wide(width, threads, fits):
    """Return the functions of `loader` for an operand across K in loads of 16 bytes."""
    quads = width // 4
    step, count = threads // quads, 4 * width // threads

    @cuda.jit(device=True)
    def fetch(X, thread, first, start, values):
        for i in range(count):
            column = first + thread % quads * 4
            if not fits:
                column = min(column, X.shape[1] - 4)
            k = start + thread // quads + step * i
            values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = load4(X, k, column)

    @cuda.jit(device=True)
    def fetch_ragged(X, thread, first, start, limit, values):
        for i in range(count):
            values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = 0.0, 0.0, 0.0, 0.0
            column, k = first + thread % quads * 4, start + thread // quads + step * i
            if not fits:
                column = min(column, X.shape[1] - 4)
            if k < limit:
                values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = load4(X, k, column)

    @cuda.jit(device=True)
    def keep(tile, thread, at, values):
        for i in range(count):
            four = values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]
            store4(tile, at + thread // quads + step * i, thread % quads * 4, four)

    return fetch, fetch_ragged, keep


def _across(width, threads, fits):
    """Return the functions of `loader` for an operand across K, element by element."""
    span = min(threads, width)
    step, pieces, count = max(1, threads // width), max(1, width // threads), UNIT * width // threads

    @cuda.jit(device=True)
    def fetch(X, thread, first, start, values):
        for i in range(count):
            column = first + thread % span + span * (i % pieces)
            if not fits:
                column = min(column, X.shape[1] - 1)
            values[i] = X[uint64(start + thread // span + step * (i // pieces)), uint64(column)]

    @cuda.jit(device=True)
    def fetch_ragged(X, thread, first, start, limit, values):
        for i in range(count):
            column, k = first + thread % span + span * (i % pieces), start + thread // span + step * (i // pieces)
            if not fits:
                column = min(column, X.shape[1] - 1)
            values[i] = X[uint64(k), uint64(column)] if k < limit else float32(0)

    @cuda.jit(device=True)
    def keep(tile, thread, at, values):
        for i in range(count):
            k, column = at + thread // span + step * (i // pieces), thread % span + span * (i % pieces)
            tile[uint64(k), uint64(column)] = values[i]

    return fetch, fetch_ragged, keep


def loader(width, threads, form, fits):
    """Return device functions (fetch, fetch_ragged, keep) for a tile of `width`×16 elements that `threads` load.

    fetch(X, thread, first, start, values) loads a thread's part of rows first … first + width - 1 of the operand,
    elements start … start + 15 along K; fetch_ragged(X, thread, first, start, limit, values) those below `limit`, and
    zeros after them; keep(tile, thread, at, values) stores them in rows at … at + 15, K first. If not `fits`, rows
    beyond the last repeat the last.
    """
    if form.along_k:
        return (_along_k_wide if form.wide else _along_k)(width, threads, fits)
    return (_across_wide if form.wide else _across)(width, threads, fits)
