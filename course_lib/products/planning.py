"""The rule by which `product` chooses: the plan whose busiest multiprocessor is predicted to be done first.

What is predicted, in cycles of a multiprocessor: the multiplications of its blocks, with the words that they read from
shared memory and the elements that they bring there, or what the L2 cache takes to deliver these if that is longer, or
the least that a unit of work takes however few warps there are; the beginnings of its blocks; the results that it
stores; tickets and parts of shared tiles; launches, copies, and what inner products read again. It knows no sizes.
"""

from dataclasses import dataclass
from math import ceil

from .inner_products import FEW
from .tile import Tile
from .tile_loads import UNIT

#: The shapes, from the fewest loads a multiplication to the most blocks a result; two of them for thin results.
TILES = (
    Tile(128, 256, 8, 16, blocks=1),
    Tile(128, 128, 8, 8, blocks=1),
    Tile(64, 128, 8, 8, blocks=3),
    Tile(128, 64, 8, 4, blocks=3),
    Tile(32, 128, 4, 8, blocks=5),
    Tile(64, 64, 4, 8, blocks=4),
    Tile(64, 64, 8, 8, blocks=2, slices=2),
    Tile(64, 64, 8, 8, blocks=1, slices=4),
    Tile(32, 64, 4, 8, blocks=1, slices=4),
    Tile(32, 32, 4, 4, blocks=1, slices=4),
    Tile(128, 32, 8, 8, blocks=1, slices=4),
    Tile(32, 128, 8, 8, blocks=1, lane_rows=4, slices=4),
    Tile(128, 16, 8, 4, blocks=1, slices=4),
    Tile(16, 128, 4, 8, blocks=1, lane_rows=4, slices=4),
)
#: The shape of `best`.
LARGEST = TILES[0]
#: Shapes with a shorter side than this are for results of at most twice that side.
THINNEST, THIN = 32, 2
#: Multiply-adds that a multiprocessor does in a cycle.
LANES = 128
# The rest are cycles of a multiprocessor, fitted to the times of 1,048 candidates for 40 sizes on an H200.
#: For each word that a thread reads from shared memory, times its 32 lanes and shared among the multiprocessor's.
READ = 1.1
#: For each element, or four where rows begin on 16 bytes, on its way from global to shared memory; a lane's.
MOVE = 15
#: Bytes of A and B that a multiprocessor gets in a cycle while all of them ask.
FETCHED = 11.5
#: The least for a unit of work, beyond its multiplications, however few warps there are.
LATENCY = 230
#: For the first launch and for each one after it; for the prologue and the first loads of a round of blocks.
START, SECOND, FIRST = 5900, 15000, 6800
#: Bytes that a multiprocessor's share of the memory moves in a cycle, to copy A and B, or to read one of them again.
COPIED = 20
#: For a shared tile's ticket, and for each of the parts that its last block adds up.
TICKET, PART = 5300, 200
#: Bytes of results or partial sums that a multiprocessor writes, and that a block adding them up reads, in a cycle.
STORED, ADDED = 47, 60
#: `best` has one path less through its loop than the tile of the same shape: the share of the time that it takes.
BEST = 0.985
#: With so many units of K or fewer, the elements of a ragged one are multiplied alone, not with zeros after them.
SHORT = 8
#: The least work for a block, in units of K, and what no number of units times shares may reach.
LEAST_UNITS, MOST_UNITS = 2, 2**32
#: Products with so few rows, and those with no more of rows and columns, are inner products altogether.
FEWEST, TINY = 2, 8


@dataclass(frozen=True)
class Gpu:
    """What the rule asks of a GPU: its multiprocessors."""

    multiprocessors: int


@dataclass(frozen=True)
class ProductPlan:
    """How an M×N product over K is computed.

    tile, or None where `best` computes it all, by `rows`, or inner products do; rows and columns of C in tiles, the
    rest being inner products; blocks with a `whole` tile each and blocks with equal `shares` of the rest; whether A and
    B are `copied` into rows on 16-byte boundaries before; `cycles` is the prediction it was chosen by.
    """

    M: int
    N: int
    K: int
    tile: Tile | None = None
    rows: int = 0
    columns: int = 0
    whole: int = 0
    shares: int = 0
    copied: bool = False
    cycles: float = 0.0

    @property
    def units(self):
        """K in units of work, at least one."""
        return max(1, ceil(self.K / (self.tile.depth if self.tile else UNIT)))

    @property
    def short(self):
        """Whether no more of a ragged unit of K is multiplied than there is."""
        return self.tile is not None and _is_short(self.tile, self.K)

    @property
    def kernels(self):
        """What computes it, in a word: the shape of its tiles, `best`, or inner products."""
        return str(self.tile) if self.tile else "best" if self.rows else "inner products"

    @property
    def tiles(self):
        """Tiles of C."""
        return ceil(self.rows / self.tile.rows) * ceil(self.columns / self.tile.columns) if self.tile else 0


def _inside(size, tile_size):
    """Return the rows or columns that tiles compute: all, or whole tiles where only a few are left over."""
    return size - size % tile_size if size > tile_size and size % tile_size <= FEW else size


def _is_short(tile, K):
    """Return whether K has few units of a tile without slices, one of them ragged."""
    return tile.slices == 1 and 0 < K <= SHORT * tile.depth and K % tile.depth > 0


def _cycles(tile, blocks, units, gpu, wide):
    """Predict the cycles in which the busiest multiprocessor does `blocks` blocks of so many units each."""
    results, area = tile.thread_rows * tile.thread_columns, tile.rows * tile.columns * tile.depth
    reads = READ * (tile.thread_rows + tile.thread_columns) / results
    moves = MOVE * (tile.rows + tile.columns) * tile.depth / (4 if wide else 1) / LANES
    fetched = 4 * (tile.rows + tile.columns) * tile.depth / FETCHED
    unit = max(area / LANES * (1 + reads) + moves, fetched)
    alone = LATENCY + UNIT * results * ceil(tile.threads / LANES) * (1 + reads) + moves
    rounds, rest = divmod(blocks, tile.blocks * gpu.multiprocessors)
    whole_rounds = rounds * max(tile.blocks * unit, alone)
    return units * (whole_rounds + (max(ceil(rest / gpu.multiprocessors) * unit, alone) if rest else 0))


def plans(M, N, K, gpu, wide=True, plain=False):
    """Return the candidates for a product with tiles: every shape, with and without shares.

    wide: the rows of A and B begin on 16-byte boundaries; plain: C = A·B as it stands, which `best` computes too.
    """
    found = []
    for tile in TILES:
        thin = min(tile.rows, tile.columns) < THINNEST
        if thin and THIN * min(tile.rows, tile.columns) < (M if tile.rows < tile.columns else N):
            continue
        for rows, columns in {(M, N), (_inside(M, tile.rows), _inside(N, tile.columns))}:
            found += _plans_of(tile, M, N, K, rows, columns, gpu, wide, False)
            if not wide:
                found += _plans_of(tile, M, N, K, rows, columns, gpu, wide, True)
    if plain and wide and M % LARGEST.rows == 0 and N % LARGEST.columns == 0:
        tiles = ceil(M / LARGEST.rows) * ceil(N / LARGEST.columns)
        cycles = BEST * _cycles(LARGEST, tiles, max(1, ceil(K / UNIT)), gpu, wide)
        found.append(ProductPlan(M, N, K, None, M, N, tiles, cycles=START + cycles + _ends(LARGEST, tiles, tiles, gpu)))
    return found


def _plans_of(tile, M, N, K, rows, columns, gpu, wide, copied):
    """Return the candidates with one tile for so many rows and columns of C, the rest being inner products."""
    units, tiles = max(1, ceil(K / tile.depth)), ceil(rows / tile.rows) * ceil(columns / tile.columns)
    start = START + SECOND * ((rows < M) + (columns < N))
    # Inner products read the operand that is long beside them once more.
    start += 4 * K * ((rows < M) * columns + (columns < N) * M) / COPIED / gpu.multiprocessors
    if copied:
        start += 2 * SECOND + 8 * (M * K + K * N) / COPIED / gpu.multiprocessors
        wide = True
    room = tile.blocks * gpu.multiprocessors
    multiplied = K / tile.depth if _is_short(tile, K) else units
    cycles = start + _cycles(tile, tiles, multiplied, gpu, wide) + _ends(tile, tiles, tiles, gpu)
    found = [ProductPlan(M, N, K, tile, rows, columns, tiles, 0, copied, cycles)]
    left = tiles % room
    for shares in {room, room // left * left} if left else ():
        if left < shares <= left * units // LEAST_UNITS and shares * left * units < MOST_UNITS:
            whole = tiles - left
            cycles = start + _cycles(tile, whole, multiplied, gpu, wide) + _ends(tile, whole, whole, gpu)
            cycles += _cycles(tile, shares, left * multiplied / shares, gpu, wide) + _ends(tile, shares, left, gpu)
            # A share of equal parts of one tile each has one part of a tile, any other share two.
            area, parts = 4 * tile.rows * tile.columns, 2 if shares % left else 1
            cycles += parts * (TICKET + area * tile.blocks / STORED) + ceil(shares / left) * (PART + area / ADDED)
            found.append(ProductPlan(M, N, K, tile, rows, columns, whole, shares, copied, cycles))
    return found


def _ends(tile, blocks, tiles, gpu):
    """Predict the cycles in which blocks find their places and load what they begin with, and their tiles are stored.

    The first is so for every round of blocks; of the tiles of results the busiest multiprocessor stores its part.
    """
    rounds = ceil(blocks / (tile.blocks * gpu.multiprocessors))
    return FIRST * rounds + 4 * tile.rows * tile.columns * ceil(tiles / gpu.multiprocessors) / STORED


def plan(M, N, K, gpu, wide=True, plain=False):
    """Return the ProductPlan of an M×N product over K on `gpu`; wide and plain as in `plans`."""
    if N <= min(M, FEW) or M <= FEWEST or max(M, N) <= TINY:
        return ProductPlan(M, N, K)
    return min(plans(M, N, K, gpu, wide, plain), key=lambda p: p.cycles)
