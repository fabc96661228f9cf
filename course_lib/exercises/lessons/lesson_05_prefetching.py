"""The exercises of the lesson on prefetching."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...simulator.repairs.kernel_syntax import Kernel, array_of
from ...simulator.repairs.table import Candidate, Texts, row
from ...trace.warp_schedule import ROWS, slacks, timeline_rows
from ..grading.budgets import barriers, global_loads, shared_stores
from ..grading.exercise import FILL_IN, TILE, Budget, Outcome, fill_in, make_cheaper
from ..grading.lines import (
    enclosing_lines,
    guard_lines,
    index_computation_lines,
    lines_with_most_accesses,
    load_lines,
    store_lines,
    union_of_lines,
    with_lines,
)
from ..grading.matrix_product import ITERATIONS_OF_TILES, PRODUCT, grid_over, last_tile_missing
from ..grading.routines import Case, routine

#: The buffer that an iteration of the prefetching loop writes.
WRITTEN_BUFFER = routine(
    "written-buffer",
    ("iteration", "buffers"),
    Case((0, 2), 1, "iteration 0 reads buffer 0, and writes the next one."),
    Case(
        (1, 2),
        0,
        "in iteration 1 the buffers are exchanged: it reads 1, and writes 0. (A sum before % needs parentheses.)",
    ),
    Case(
        (4, 2),
        1,
        "with two buffers, iteration 4 reads buffer 0 again, and writes buffer 1. After the last buffer, buffers - 1, "
        "comes buffer 0: a remainder, %.",
    ),
    Case((1, 3), 2, "with three buffers, iteration 1 reads buffer 1 and writes buffer 2."),
    Case((2, 3), 0, "after the last of three buffers comes the first: a remainder, %."),
    kind=FILL_IN,
)

_EACH_ONCE = global_loads("2·⌈K/T⌉", "each thread loads one element of each tile, once.")

_LOADS, _MULTIPLIES, *_ = ROWS


def _used_too_early(outcome: Outcome) -> int:
    """The loads after the first multiplication that are not stored to shared memory T multiplications later."""
    rows = timeline_rows(outcome.run.trace)
    first = min(rows[_MULTIPLIES], default=0)
    later = [load for load in rows[_LOADS] if load >= first]
    return len(later) - sum(gap >= TILE for gap in slacks(rows | {_LOADS: later}))


def _before_use(hint: str) -> Budget:
    name = "loads after the first pair that are used before T multiplications"
    return Budget(name, "none", _used_too_early, hint, traced=True, lines=load_lines("A", "B"))


def _first_tile_missing(outcome: Outcome) -> str | None:
    """The sums begin with the second pair of tiles."""
    A, B = outcome.inputs
    if A.shape[1] <= TILE or not np.array_equal(outcome.got, A[:, TILE:] @ B[TILE:]):
        return None
    kernel = outcome.source.kernel if outcome.source else None
    products = [node.lineno for node in kernel.nodes_of(ast.AugAssign)] if kernel else []
    if kernel and products and any(fill.statement.lineno < min(products) for fill in kernel.fills):
        advice = (
            "the first pair of tiles is missing from every sum: the next pair overwrote it before it was multiplied. "
            "Store a_next and b_next into the tiles after the loop over k."
        )
        return with_lines(
            (fill.statement.lineno for fill in kernel.fills if fill.statement.lineno < min(products)), advice
        )
    advice = (
        "the first pair of tiles is missing from every sum: it was never loaded. The iteration with start = 0 loads "
        "the pair that begins at 0."
    )
    return with_lines(union_of_lines(guard_lines(load_lines("A", "B")), load_lines("A", "B"))(outcome), advice)


@row(
    "text",
    stored_at_once=Texts(
        hint="elements of {arrays} are loaded and stored into the tiles in one step: load them into variables before "
        "the loop over k, and store the variables after that loop, when the tiles are no longer read."
    ),
)
def _stored_at_once(make: Any, kernel: Kernel, _: Any) -> Iterator[Candidate]:
    """A tile that is filled without a variable in between."""
    direct = [fill for fill in kernel.fills if fill.source in ast.walk(fill.statement)]
    if direct:
        arrays = " and ".join(dict.fromkeys(array_of(fill.source) for fill in direct))
        lines = tuple(fill.statement.lineno for fill in direct)
        yield make("stored-at-once", direct[0].statement, arrays=arrays, also=lines)


#: Prefetch into registers, with a single pair of tiles in shared memory.
ONE_BUFFER = fill_in(
    "one-buffer",
    PRODUCT,
    _EACH_ONCE,
    _before_use("load into a_next and b_next before the multiplications, and store both to the tiles after them."),
    barriers(
        "2·(⌈K/T⌉ + 1)", "two barriers in each iteration: one before the stores into the tiles, and one after them."
    ),
    replace(ITERATIONS_OF_TILES, formula="⌈K/T⌉·(T + 1) + 1"),
    hints={
        "out-of-bounds": "the guard of a load tests the two indices that it uses: for A row < M and start + tx < K, "
        "for B start + ty < K and col < N. Else the last iteration loads from a tile that does not exist.",
        "race": "with a single pair of tiles the block must wait twice: before the stores overwrite the tiles, and "
        "before any thread reads the new elements.",
        "barrier-divergence": "every thread of the block must reach the barrier: keep it out of any if on row, col, "
        "tx or ty.",
    },
    diagnoses=(last_tile_missing, _first_tile_missing),
    rows=(_stored_at_once,),
    given_lines=("acc += A_tile[ty, k] * B_tile[k, tx]",),
)


#: The double-buffered kernel without the stores and the barrier that its last iteration does not need.
LAST_ITERATION = fill_in(
    "last-iteration",
    PRODUCT,
    _EACH_ONCE,
    replace(
        shared_stores(
            "2·⌈K/T⌉", "the iteration in which start has reached K has loaded nothing: there is nothing to store."
        ),
        lines=union_of_lines(
            enclosing_lines(ast.If, lines_with_most_accesses("shared", "store")),
            lines_with_most_accesses("shared", "store"),
        ),
    ),
    barriers(
        "⌈K/T⌉",
        "one barrier in each iteration that stores is enough: if nothing was stored, no thread needs to wait, "
        "so the last "
        "iteration can skip its barrier, too.",
    ),
    hints={
        "barrier-divergence": "the condition must be the same for every thread of the block: use start, which is the "
        "same in all threads, not tx, ty, row or col.",
        "out-of-bounds": "A and B should be loaded only above, where their conditions hold: store what was fetched "
        "there, a_next "
        "and b_next.",
        "out-of-bounds in shared memory": "there are two buffers, 0 and 1: after 1, now must go back to 0. And a place "
        "in a buffer is [ty, tx].",
        "race": "an iteration stores into the buffer that no thread reads now, so exchange the buffers before you "
        "store. And every iteration that stores must also wait.",
        "uninitialized-read": "an element of a buffer is read, but no thread stored it: in each iteration with start < "
        "K every thread exchanges the buffers and stores both of its elements, and the next iteration reads them.",
    },
    diagnoses=(last_tile_missing,),
    why="the last iteration is one of 513 if K = 4,096, too few to be seen. If K = 32 it is one of 5, or of 2 in tiles "
    "of 32: its stores and its barrier then cost 2 % and 3 % of the time.",
)


def _end_of_first_tile(outcome: Outcome) -> str | None:
    """Recognise mistakes where the first tile of C ends and the second one begins."""
    stored = np.asarray(np.isfinite(outcome.got).any(axis=0))
    first = np.arange(stored.size) // TILE % 2 == 0
    if not stored[first].any() or (stored.size > TILE and not stored[~first].any()):
        return with_lines(
            union_of_lines(index_computation_lines(store_lines), store_lines)(outcome),
            "one of the block's two tiles of C was never stored. After the last pair of a tile is multiplied, its sums "
            "must be stored, and then col may already be that of the next tile.",
        )
    (A, B), whole = outcome.inputs, outcome.want
    last = (A.shape[1] - 1) // TILE * TILE  # where the last pair begins
    if last == 0 or first.all():
        return None
    if np.array_equal(outcome.got, whole + ~first * np.roll(whole, TILE, axis=1)):
        advice = "the sums of the second tile go on where those of the first ended: set acc to zero after the store."
        return with_lines(store_lines(outcome), advice)
    if np.array_equal(outcome.got[:, first], A[:, :last] @ B[:last, first]):
        return with_lines(
            store_lines(outcome),
            "the last pair of tiles is missing from the first tile of C: this pair is multiplied in the iteration that "
            "loads the first pair of the second tile. Store the sums after that multiplication.",
        )
    return None


#: A block computes two tiles of C, and prefetches the first pair of the second one, too.
ACROSS_TILES = make_cheaper(
    "across-tiles",
    PRODUCT.replace(
        shapes=((16, 32, 16), (13, 21, 26), (5, 9, 19), (1, 1, 1)),
        launch=grid_over(TILE, 2 * TILE, (TILE, TILE)),
        elements_per_thread=lambda M, N, K: 2,
    ),
    """@cuda.jit
def two_tiles(A, B, C):
    A_tiles = cuda.shared.array((2, TILE, TILE), float32)
    B_tiles = cuda.shared.array((2, TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    (M, K), N = A.shape, B.shape[1]
    now = 0
    for tile in range(2):
        col = (2 * cuda.blockIdx.x + tile) * TILE + tx
        acc = float32(0)
        for start in range(0, K + TILE, TILE):
            a_next, b_next = float32(0), float32(0)
            if row < M and start + tx < K:
                a_next = A[row, start + tx]
            if start + ty < K and col < N:
                b_next = B[start + ty, col]
            if start > 0:
                for k in range(TILE):
                    acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]
            now = 1 - now
            A_tiles[now, ty, tx] = a_next
            B_tiles[now, ty, tx] = b_next
            cuda.syncthreads()
        if row < M and col < N:
            C[row, col] = acc
""",
    global_loads("4·⌈K/T⌉", "the very last iteration has nothing to load."),
    _before_use(
        "the first loads of the second tile are still used before T multiplications: load them while the last pair of "
        "the first tile is multiplied, in one loop over the pairs of both tiles."
    ),
    barriers(
        "2·⌈K/T⌉ + 1",
        "one barrier for each pair of both tiles, and one more: no iteration between the tiles has only a barrier.",
    ),
    hints={
        "out-of-bounds": "the guards of the loads use row, col and start of the pair that is loaded now; the guard of "
        "the store uses the tile that is stored.",
        "race": "an iteration stores into the buffer that no thread reads now, then waits, and reads it in the next "
        "iteration. Into C it stores only after the last pair of a tile.",
        "barrier-divergence": "every thread of the block must reach the barrier: keep it out of any if on row, col, "
        "tx or ty.",
        "uninitialized-read": "a buffer is read before a pair of tiles was stored into it: the first iteration "
        "multiplies nothing.",
    },
    diagnoses=(_end_of_first_tile,),
    why="one loop over the pairs of both tiles saves one iteration: of 1,026 and of 258 if K = 4,096, of 6 if K = 64. "
    "It pays with two divisions of 64 bits in each iteration, for `step % pairs` and `step // pairs`. With counters in "
    "their place, the kernel executes at least a third fewer instructions, and in tiles of 32 it is faster than two "
    "loops: by 6 % of the time, and by a fifth if K = 64. In tiles of 8, two loops remain faster: the compiler writes "
    "two of their iterations as one, which executes a quarter fewer instructions.",
)

EXERCISES = (WRITTEN_BUFFER, ONE_BUFFER, LAST_ITERATION)
OPTIONAL = (ACROSS_TILES,)
