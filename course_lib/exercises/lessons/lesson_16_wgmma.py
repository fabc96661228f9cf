"""The exercises of the lesson on wgmma: the swizzle, the fence, the stages, and products that stay in flight."""

from collections import Counter, defaultdict

import numpy as np

from ...simulator.hardware import WARP_SIZE
from ..grading.budgets import barriers, conflicts, sectors_per_request
from ..grading.exercise import FILL_IN, Array, Budget, Outcome, fill_in, find_bug, make_cheaper
from ..grading.explain import Explanation
from ..grading.lines import call_lines
from ..grading.matrix_product import PRODUCT, grid_over, result_is
from ..grading.routines import Case, routine

#: The rows and columns of C of a block, and the depth of its tiles.
SIDE, DEPTH = 64, 32


#: Where an element of a swizzled tile is.
SWIZZLED_PLACE = routine(
    "swizzled-place",
    ("row", "k"),
    Case((0, 5), 5, "in row 0 nothing changes its place."),
    Case((1, 0), 36, "row 1 begins at 32, and its piece 0 is where piece 1 would be, 4 elements further."),
    Case((1, 4), 32, "pieces 0 and 1 of row 1 exchange their places: ^, not +."),
    Case((3, 22), 122, "inside a piece nothing moves: k = 22 is item 2 of piece 5."),
    Case((8, 9), 265, "row 8 is like row 0: a remainder, %."),
    Case((63, 31), 2019, "row 63 is like row 7, and begins at 63·32."),
    kind=FILL_IN,
)

_PRODUCT = PRODUCT.replace(
    shapes=((64, 128, 96), (128, 64, 32)),  # multiples of 64, 64 and 32, as the exercises promise
    larger_sizes="one",  # a tile takes the simulator much longer than those of other lessons
    launch=grid_over(SIDE, SIDE, block=(4 * WARP_SIZE, 1)),
    elements_per_thread=lambda M, N, K: SIDE * SIDE // (4 * WARP_SIZE),
)


_BARRIERS = barriers(
    "2·K/32", "two barriers for each pair of tiles: one when the tiles are full, one when they have been read."
)
_HINTS = {
    "missing-fence": "a barrier makes the stores visible to other threads, but the tensor cores read shared memory in "
    "a way of their own: each thread that stored calls fence_proxy(), after its stores and before the barrier.",
    "missing-fence of acc": "the products read and write acc in a way of their own: every thread calls "
    "fence_registers() "
    "before the products of a group, so that they find what was stored in acc before.",
    "unfinished-product": "a product is still in flight there: it may still read its tiles, and write its results. "
    "Wait for its group first.",
    "race": "keep both barriers: one when the tiles are full, one before they are overwritten.",
    "barrier-divergence": "every thread must reach the barriers: keep them out of any if.",
    "uninitialized-read": "every thread must store its part of both tiles before the barrier.",
}

#: A kernel whose stores the tensor cores may not see.
MISSING_FENCE = find_bug(
    "missing-fence",
    _PRODUCT,
    """@cuda.jit
def missing_fence(A, B, C):
    A_tile = cuda.shared.array(2048, float32, 1024)
    B_tile = cuda.shared.array(2048, float32, 1024)
    acc = cuda.local.array(32, float32)
    for start in range(0, A.shape[1], 32):
        store_tiles(A, B, A_tile, B_tile, 0, start)
        cuda.syncthreads()
        fence_registers()
        multiply_tiles(A_tile, B_tile, 0, acc, start)
        wait_64(acc, 0)
        cuda.syncthreads()
    store_64(C, acc)
""",
    _BARRIERS,
    hints=_HINTS,
)


#: How many pairs of tiles fit into shared memory.
STAGES = routine(
    "stages",
    ("rows", "columns", "depth", "itemsize", "shared"),
    Case((128, 256, 64, 2, 232448), 4, "a pair takes 49,152 bytes, and only whole pairs count: round down."),
    Case((128, 128, 64, 2, 232448), 7, "a pair takes 32,768 bytes, and only whole pairs count: round down."),
    Case((256, 128, 32, 4, 232448), 4, "an element has itemsize bytes."),
    Case((64, 64, 32, 4, 49152), 3, "a pair that just fits counts."),
    Case((256, 256, 128, 4, 232448), 0, "not even one pair fits: round down."),
    kind=FILL_IN,
)


def _begun_alone(outcome: Outcome) -> int:
    """The pairs of tiles whose products do not start while those of an earlier group are in flight, in a warp."""
    columns = outcome.run.trace.columns
    groups = defaultdict[tuple[int, int], dict[int, list[int]]](dict)  # of a warp, with their first step and their end
    for step, end, group in zip(*(columns.product[name].tolist() for name in ("step", "end", "group")), strict=True):
        of = groups[int(columns.step["block"][step]), int(columns.step["warp"][step])]
        of.setdefault(group, [step, end])[1] = end
    beside: Counter[tuple[int, int]] = Counter()
    for warp, of in groups.items():
        for group, (step, _) in of.items():
            beside[warp] += any(other < group and (end < 0 or end > step) for other, (_, end) in of.items())
    pairs = outcome.shape[2] // DEPTH
    return pairs - min(beside.values(), default=0)


#: A kernel that waits for each group directly after it has started it.
EARLY_WAIT = make_cheaper(
    "early-wait",
    _PRODUCT,
    """@cuda.jit
def early_wait(A, B, C):
    A_tiles = cuda.shared.array(2 * 2048, float32, 1024)
    B_tiles = cuda.shared.array(2 * 2048, float32, 1024)
    acc = cuda.local.array(32, float32)
    for pair in range(A.shape[1] // 32):
        first = pair % 2 * 2048
        store_tiles(A, B, A_tiles, B_tiles, first, pair * 32)
        fence_proxy()
        cuda.syncthreads()
        fence_registers()
        multiply_tiles(A_tiles, B_tiles, first, acc, pair)
        wait_64(acc, 0)
        cuda.syncthreads()
    store_64(C, acc)
""",
    Budget(
        "groups that start while no other is in flight",
        "the first one",
        _begun_alone,
        "when a group starts, the one before it is done already, so the tensor cores have nothing to do in between: "
        "let the wait in the loop leave one group in flight, and wait for the last one after the loop.",
        limit="1",
        traced=True,
        lines=call_lines("wait_64"),
    ),
    _BARRIERS,
    hints=_HINTS
    | {
        "missing-fence of acc": "the products read and write acc in a way of their own: every thread calls "
        "fence_registers() "
        "before the products of a group, so that they find what was stored in acc before.",
        "unfinished-product": "a product is still in flight there. Two pairs of tiles allow one group in flight at the "
        "end of an iteration, and none when the results are stored.",
    },
)

WHAT_WAS_MULTIPLIED = Explanation(
    name="what-was-multiplied",
    model="I ask what was multiplied: with zeros the GPU took less power than with random numbers, and kept a "
    "higher clock. I ask whether both ran on the same GPU, in the same run, on the same matrices, for as "
    "long, and with A, B and C in the same types. And I ask for the error, since a kernel that waits too little can be "
    "fast and wrong.",
    ideas=(
        "which numbers were multiplied, because power and clock differ with them",
        "the same run, GPU, size and types of A, B and C for both",
        "whether the result was right",
    ),
)


def _as_read(A: Array) -> Array:
    """The elements of A that tensor cores find in tiles whose rows were stored without the swizzle."""
    k = np.arange(A.shape[1])
    rows = np.arange(A.shape[0])[:, None]
    return np.take_along_axis(A, k // DEPTH * DEPTH + 4 * (k % DEPTH // 4 ^ rows % 8) + k % 4, axis=1)


#: The stores of both tiles: swizzled, without a bank conflict, from coalesced loads of both matrices.
OWN_STORES = fill_in(
    "own-stores",
    _PRODUCT.replace(shapes=((64, 128, 64), (128, 64, 32))),
    sectors_per_request("A", "4", "let the 32 lanes of a warp load 32 neighbours of one row of A.", places=True),
    sectors_per_request(
        "B",
        "4",
        "neighbouring lanes must load neighbouring columns of B: eight columns are a sector, and a warp loads four "
        "sectors, from four rows.",
        places=True,
    ),
    conflicts(
        "the eight rows of a tile that follow each other have piece p at eight different places, but one place has "
        "room for only four elements. Which 32 elements of B's tile are in 32 different banks?"
    ),
    _BARRIERS,
    hints=_HINTS
    | {
        "out-of-bounds": "a tile has 64·32 elements: row 0 to 63, and k from 0 to 31. Along K, A and B begin at start.",
        "race": "each element of a tile is stored by one thread, once; and both barriers must stay.",
    },
    diagnoses=(
        result_is(
            lambda A, B: _as_read(A) @ _as_read(B.T).T,
            "the tiles are not swizzled, but the descriptors say that they are: piece p of row r is at p ^ r % 8.",
            "not swizzled",
        ),
    ),
)

EXERCISES = (SWIZZLED_PLACE, MISSING_FENCE, STAGES, EARLY_WAIT, WHAT_WAS_MULTIPLIED)
OPTIONAL = (OWN_STORES,)
