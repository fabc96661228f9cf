"""How to divide a product of any shape: the plan whose busiest multiprocessor is predicted to finish first.

The recording `product` has 48 shapes on an NVIDIA H200: the speed of a function that chose by this rule, and what it
chose. A test holds the rule to the 40 of them that it divides into tiles. Not recorded are the times to which the
constants below were fitted, so the error of the predicted cycles is not known, only how good the choices are.

Predicted are, in cycles of a multiprocessor: the multiplications of its blocks, with the words that they read from
shared memory and the elements that they store there, or the time the L2 cache takes to deliver these if that is longer,
or the minimum for a unit of work of few warps; the start of its blocks; the results that it stores; tickets and parts
of shared tiles; launches, copies, and what inner products read again. The rule contains no matrix sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

#: Elements along K that a thread loads and multiplies between two barriers of the block.
UNIT = 16


@dataclass(frozen=True)
class Tile:
    """A shape of tile: rows×columns of C for a block, in threads of thread_rows×thread_columns results.

    A multiprocessor holds `blocks` blocks at once. Several slices of a block's threads divide each unit of K.
    """

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    blocks: int
    slices: int = 1

    @property
    def depth(self) -> int:
        """The depth of the tiles in shared memory, which is that of one unit of work along K."""
        return UNIT * self.slices

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.slices * self.rows * self.columns // (self.thread_rows * self.thread_columns)

    def __str__(self) -> str:
        return f"{self.rows}×{self.columns}"


#: Tile shapes, from the fewest loads per multiplication to the most blocks per result; two of them for thin results.
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
    Tile(32, 128, 8, 8, blocks=1, slices=4),
    Tile(128, 16, 8, 4, blocks=1, slices=4),
    Tile(16, 128, 4, 8, blocks=1, slices=4),
)
#: The shape of `best`.
LARGEST = TILES[0]
#: A shape whose shorter side is less than THINNEST is for results of at most THIN times that side.
THINNEST, THIN = 32, 2
#: Multiply-adds that a multiprocessor does in a cycle.
LANES = 128
# The rest are cycles of a multiprocessor, fitted to times on an H200 that no recording has.
#: For each word that a thread reads from shared memory, times its 32 lanes and shared among the multiprocessor's.
READ = 1.1
#: For each element, or four where rows begin on 16 bytes, that a lane moves from global to shared memory.
MOVE = 15
#: Bytes of A and B that a multiprocessor receives in a cycle while all of them load.
FETCHED = 11.5
#: The minimum for a unit of work, beyond its multiplications, however few warps there are.
LATENCY = 230
#: For the first launch and for each later one; for the prologue and the first loads of a round of blocks.
START, SECOND, FIRST = 5900, 15000, 6800
#: Bytes that a multiprocessor's share of the memory moves in a cycle, to copy A and B, or to read one of them again.
COPIED = 20
#: For a shared tile's ticket, and for each of the parts that its last block adds up.
TICKET, PART = 5300, 200
#: Bytes of results or partial sums that a multiprocessor writes, and that a block adding them up reads, in a cycle.
STORED, ADDED = 47, 60
#: The same of results for each warp of the multiprocessor, if the rows of C do not begin on 16-byte boundaries.
STORED_BY_WARP = 0.8
#: Ratio of the times of `best` and of the tile of the same shape, whose loop has one path more.
BEST = 0.985
#: With so many units of K or fewer, only the existing elements of a ragged unit are multiplied, without zero padding.
SHORT = 8
#: The least work for a block, in units of K, and a bound that the product of units and shares must not reach.
LEAST_UNITS, MOST_UNITS = 2, 2**32
#: So many rows or columns beyond the last whole tile may be inner products.
FEW = 4


@dataclass(frozen=True)
class Gpu:
    """The properties of a GPU that the rule needs: its multiprocessors."""

    multiprocessors: int


@dataclass(frozen=True)
class ProductPlan:
    """The way in which a product is computed.

    tile: None if `best` computes all of C. rows, columns: those of C in tiles; the rest are inner products. whole: the
    number of blocks with one tile each; shares: the number of blocks that divide the other tiles equally. copied:
    whether A and B are first copied into rows on 16-byte boundaries. cycles: the prediction.
    """

    tile: Tile | None
    rows: int
    columns: int
    whole: int
    shares: int
    copied: bool
    cycles: float

    @property
    def kernels(self) -> str:
        """A word for the kernel: the shape of its tiles, or `best`."""
        return str(self.tile or "best")


def _inside(size: int, tile_size: int) -> int:
    """Return the rows or columns that tiles compute: all, or those of whole tiles if only a few are left over."""
    return size - size % tile_size if size > tile_size and size % tile_size <= FEW else size


def _work(tile: Tile, blocks: int, units: float, gpu: Gpu, wide: bool) -> float:
    """Predict the cycles in which the busiest multiprocessor does `blocks` blocks of `units` units each."""
    results, area = tile.thread_rows * tile.thread_columns, tile.rows * tile.columns * tile.depth
    reads = READ * (tile.thread_rows + tile.thread_columns) / results
    moves = MOVE * (tile.rows + tile.columns) * tile.depth / (4 if wide else 1) / LANES
    fetched = 4 * (tile.rows + tile.columns) * tile.depth / FETCHED
    unit = max(area / LANES * (1 + reads) + moves, fetched)
    alone = LATENCY + UNIT * results * ceil(tile.threads / LANES) * (1 + reads) + moves
    rounds, rest = divmod(blocks, tile.blocks * gpu.multiprocessors)
    whole_rounds = rounds * max(tile.blocks * unit, alone)
    return units * (whole_rounds + (max(ceil(rest / gpu.multiprocessors) * unit, alone) if rest else 0))


def _ends(tile: Tile, blocks: int, tiles: int, gpu: Gpu, columns: int) -> float:
    """Predict the cycles of the blocks' first loads and of storing the tiles; `columns` are those of C.

    First loads recur in every round of blocks; the busiest multiprocessor stores its part of the tiles of results.
    """
    rounds = ceil(blocks / (tile.blocks * gpu.multiprocessors))
    stored = STORED if columns % 4 == 0 else min(STORED, STORED_BY_WARP * tile.blocks * tile.threads / 32)
    return FIRST * rounds + 4 * tile.rows * tile.columns * ceil(tiles / gpu.multiprocessors) / stored


def plans(M: int, N: int, K: int, gpu: Gpu, wide: bool = True, plain: bool = False) -> list[ProductPlan]:
    """Return the candidates for a product: every shape of tile, with and without shares.

    wide: the rows of A and B begin on 16-byte boundaries; plain: neither scaled nor transposed.
    """
    found: list[ProductPlan] = []
    for tile in TILES:
        thin = min(tile.rows, tile.columns) < THINNEST
        if thin and THIN * min(tile.rows, tile.columns) < (M if tile.rows < tile.columns else N):
            continue
        for rows, columns in {(M, N), (_inside(M, tile.rows), _inside(N, tile.columns))}:
            for copied in {False, not wide}:
                found += _plans_of(tile, M, N, K, rows, columns, gpu=gpu, wide=wide, copied=copied)
    if plain and wide and M % LARGEST.rows == 0 and N % LARGEST.columns == 0:
        tiles, units = M // LARGEST.rows * (N // LARGEST.columns), max(1, ceil(K / UNIT))
        cycles = START + BEST * _work(LARGEST, tiles, units, gpu, wide) + _ends(LARGEST, tiles, tiles, gpu, N)
        found.append(ProductPlan(None, M, N, tiles, 0, False, cycles))
    return found


def _plans_of(
    tile: Tile, M: int, N: int, K: int, rows: int, columns: int, *, gpu: Gpu, wide: bool, copied: bool
) -> Iterator[ProductPlan]:
    """Yield the candidates with one tile for `rows` rows and `columns` columns of C, the rest being inner products."""
    units, tiles = max(1, ceil(K / tile.depth)), ceil(rows / tile.rows) * ceil(columns / tile.columns)
    start: float = START + SECOND * ((rows < M) + (columns < N) + 2 * copied)
    # Inner products read their long operand once more.
    again = 4 * K * ((rows < M) * columns + (columns < N) * M) + 8 * (M * K + K * N) * copied
    start += again / COPIED / gpu.multiprocessors
    short = tile.slices == 1 and 0 < K <= SHORT * tile.depth and K % tile.depth > 0
    multiplied, room = K / tile.depth if short else units, tile.blocks * gpu.multiprocessors
    left = tiles % room
    for shares in (0, *{room, room // left * left}) if left else (0,):
        if shares and not (left < shares <= left * units // LEAST_UNITS and shares * left * units < MOST_UNITS):
            continue
        whole = tiles - left if shares else tiles
        cycles = start + _work(tile, whole, multiplied, gpu, wide or copied) + _ends(tile, whole, whole, gpu, N)
        if shares:
            each = left * multiplied / shares
            cycles += _work(tile, shares, each, gpu, wide or copied) + _ends(tile, shares, left, gpu, N)
            # If each tile of the shares belongs to equally many blocks, a block has one part of a tile, else up to two.
            area, parts = 4 * tile.rows * tile.columns, 2 if shares % left else 1
            cycles += parts * (TICKET + area * tile.blocks / STORED) + ceil(shares / left) * (PART + area / ADDED)
        yield ProductPlan(tile, rows, columns, whole, shares, copied, cycles)


def plan(M: int, N: int, K: int, gpu: Gpu, wide: bool = True, plain: bool = False) -> ProductPlan:
    """Return the ProductPlan of an M×N product over K on `gpu`; wide and plain as in `plans`."""
    return min(plans(M, N, K, gpu, wide, plain), key=lambda p: p.cycles)
