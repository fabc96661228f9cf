"""Variants: kernels of the ladder with one factor changed, to measure what that factor alone costs.

A variant is a rung's own source with a few lines replaced, so the difference between the two is the list of changes.
The factors are the type of the indices (numba tests a signed index for a negative value, and computes with 64 bits),
the number of steps of the inner loop that are unrolled, the tile, the place of the loads of large tiles and of the
first pair of tiles, and for some rungs a padding or a limit on registers. The kernels in CUDA C are beside the rungs,
as NAME.cu.
"""

import linecache
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import four_rows
from .rung import Rung

#: (old, new) lines of a source; each old text occurs exactly once.
Changes = Sequence[tuple[str, str]]
FOLDER = Path(__file__).parent


def variant(of: str, name: str, title: str, changes: Changes) -> Rung:
    """Return the rung of the file OF.py with `changes` made to its source; it is called `name`, its kernel as there.

    Raise ValueError if an old text does not occur exactly once.
    """
    source = (FOLDER / f"{of}.py").read_text(encoding="utf-8")
    for old, new in changes:
        if source.count(old) != 1:
            raise ValueError(
                f"{old!r} occurs {source.count(old)} times in {of}.py, so the variant {name} cannot change it"
            )
        source = source.replace(old, new)
    path = f"<variant {name}>"
    linecache.cache[path] = len(source), None, source.splitlines(True), path
    module: dict[str, Any] = {"__name__": f"{__package__}.{of}", "__package__": __package__}
    exec(compile(source, path, "exec"), module)
    return replace(module["RUNG"], name=name, title=title)


_IMPORT = "from numba import cuda, float32"
_UNSIGNED = (_IMPORT, f"{_IMPORT}, uint64")
_NAIVE_LOOP = """        for k in range(K):
            acc += A[row, k] * B[k, col]
"""
_TILE_LOOP = """            for k in range(T):
                acc += A_tile[ty, k] * B_tile[k, tx]
"""


def _cast(*accesses: str) -> Changes:
    """Return the changes that make the indices of accesses such as "A[row, k]" unsigned."""
    changes = []
    for access in accesses:
        array, _, indices = access[:-1].partition("[")
        changes.append((access, f"{array}[{', '.join(f'uint64({index})' for index in indices.split(', '))}]"))
    return changes


def naive_variant(index: str = "signed", steps: int | None = None) -> Rung:
    """Return `naive` with indices "signed", "uint32" or "uint64", and its loop over k unrolled by `steps` steps.

    None leaves the loop to the compiler, which unrolls four steps.
    """
    product = "acc += A[row, k] * B[k, col]"
    if index != "signed":
        product = f"acc += A[{index}(row), {index}(k)] * B[{index}(k), {index}(col)]"
    loop = f"        for k in range(K):\n            {product}\n"
    if steps:
        loop = f"""        whole = K // {steps} * {steps}
        for start in range(0, whole, {steps}):
            for i in range({steps}):
                k = start + i
                {product}
        for k in range(whole, K):
            {product}
"""
    name = f"naive_{index}_{steps or 'left'}"
    title = f"naive, {index} indices, {f'{steps} steps unrolled' if steps else 'its loop left'}"
    imported = _IMPORT if index == "signed" else f"{_IMPORT}, {index}"
    return variant("naive", name, title, ((_IMPORT, imported), (_NAIVE_LOOP, loop)))


#: What makes the indices of a thread in T×T tiles unsigned.
_PLACE_UNSIGNED = (
    _UNSIGNED,
    ("tx, ty = cuda.threadIdx.x, cuda.threadIdx.y", "tx, ty = uint64(cuda.threadIdx.x), uint64(cuda.threadIdx.y)"),
    *_cast("A[row, start + tx]"),
)
_TILES_UNSIGNED = (*_PLACE_UNSIGNED, *_cast("B[start + ty, col]"))


def tiled_variant(index: str = "signed", steps: int | None = None) -> Rung:
    """Return `tiled` with indices "signed" or "uint64", its tiles 32 wide, and `steps` steps of its loop unrolled.

    None and 16 hide the loop's length from the compiler, which then unrolls four steps or 16; with 32 the length is
    a constant, as in `tiled`.
    """
    product = "acc += A_tile[ty, {0}] * B_tile[{0}, tx]".format("k" if index == "signed" else "uint64(k)")
    length = "range(int64(cuda.blockDim.x){})"  # T, but known only when the kernel runs
    loop = f"            for k in {length.format('')}:\n                {product}\n"
    if steps:
        loop = f"""            for first in {length.format(f", {steps}").replace("(int64", "(0, int64")}:
                for i in range({steps}):
                    k = first + i
                    {product}
"""
    name = f"tiled_{index}_{steps or 'left'}"
    title = f"tiled, {index} indices, {f'{steps} steps unrolled' if steps else 'its loop left'}"
    changes = list(_TILES_UNSIGNED if index == "uint64" else ())
    if steps == 32:
        return variant("tiled", name, title, changes)
    imported = changes.pop(0)[1] if changes else _IMPORT
    return variant("tiled", name, title, ((_IMPORT, f"{imported}, int64"), *changes, (_TILE_LOOP, loop)))


_OUTER_UNSIGNED = (
    ("from numba import cuda, float32, uint32", "from numba import cuda, float32, uint32, uint64"),
    *_cast("A[top + ty + i, start + tx]", "B[start + k, col]", "C[top + i, col]"),
)
#: The rungs after `naive` with unsigned indices. Those of `pipelined` are unsigned in its inner loop already.
UNSIGNED_RUNGS: dict[str, Changes] = {
    "uncoalesced": (_UNSIGNED, *_cast("A[row, k]", "B[k, col]", "C[row, col]")),
    "tiled_uncoalesced": (*_PLACE_UNSIGNED, *_cast("B[start + tx, left + ty]")),
    "bank_conflicts": _TILES_UNSIGNED,
    "padded": _TILES_UNSIGNED,
    "tiled": _TILES_UNSIGNED,
    "prefetched": (
        *_TILES_UNSIGNED,
        *_cast("A_tiles[now, ty, k]", "B_tiles[now, k, tx]", "A_tiles[now, ty, tx]", "B_tiles[now, ty, tx]"),
    ),
    "outer_product": _OUTER_UNSIGNED,
    "unrolled": _OUTER_UNSIGNED,
    "register_1d": (
        _OUTER_UNSIGNED[0],
        *_cast("A[top + a_row, start + a_k]", "B[start + b_k, left + b_col]", "C[top + first_row + i, left + col]"),
    ),
    "register_2d": (
        _OUTER_UNSIGNED[0],
        ("A[row, col] if", "A[uint64(row), uint64(col)] if"),
        ("B[row, col] if", "B[uint64(row), uint64(col)] if"),
        *_cast("C[row, col]"),
    ),
}
_FOUR_ROWS_UNSIGNED = (
    _UNSIGNED,
    *_cast("A_tile[y + 8 * i, k]", "B_tile[k, x]", "A[top + row, start + x]", "B[start + row, col]"),
    *_cast("A_tile[row, x]", "B_tile[row, x]", "C[top + row, col]"),
)
_CONSTANT = (
    ("            depth = ROWS if ROWS < K - start else K - start\n", ""),
    ("range(depth):  # not known when compiling, so the compiler keeps the loop", "range(ROWS):"),
    ("B[start + k, col] if col < N", "B[start + k, col] if start + k < K and col < N"),
)
_BATCHED = (
    *_CONSTANT[:2],
    ("        thread = uint32", "        b = cuda.local.array(ROWS, dtype)\n        thread = uint32"),
    (
        "b = B[start + k, col] if col < N else dtype(0)\n",
        "b[k] = B[start + k, col] if start + k < K and col < N else dtype(0)\n            for k in range(ROWS):\n",
    ),
    ("acc[i] += A_tile[i, k] * b", "acc[i] += A_tile[i, k] * b[k]"),
)
_PADDED = (
    ("    T = tile_width\n", "    T = tile_width\n    T_PADDED = T + 1\n"),
    ("B_tile = cuda.shared.array((T, T), dtype)", "B_tile = cuda.shared.array((T, T_PADDED), dtype)"),
)
_JIT_OF_TILES = "    @cuda.jit\n    def "


def unsigned_loop() -> Rung:
    """Return `naive` whose loop variable is unsigned, because K is: the loop has no cast."""
    place = "cuda.blockIdx.{0} * cuda.blockDim.{0} + cuda.threadIdx.{0}"
    changes = (
        _UNSIGNED,
        *(
            (f"{name} = {place.format(axis)}", f"{name} = uint64({place.format(axis)})")
            for name, axis in (("row", "y"), ("col", "x"))
        ),
        ("M, K = A.shape", "M, K = uint64(A.shape[0]), uint64(A.shape[1])"),
        ("N = B.shape[1]", "N = uint64(B.shape[1])"),
    )
    return variant("naive", "naive_unsigned_loop", "naive, its sizes and so its loop unsigned", changes)


def unsigned_variant(of: str) -> Rung:
    """Return the rung `of` with unsigned indices; KeyError if it has no such variant."""
    return variant(of, f"{of}_unsigned", f"{of}, unsigned indices", UNSIGNED_RUNGS[of])


def single_steps() -> tuple[Rung, ...]:
    """Return the variants that differ from a rung, or from the one before them, in one thing that a lesson explains."""
    capped = (_JIT_OF_TILES, "    @cuda.jit(max_registers=32)\n    def ")
    uncoalesced = "tiled_uncoalesced"
    unsigned = UNSIGNED_RUNGS["tiled_uncoalesced"]
    return (
        variant(uncoalesced, f"{uncoalesced}_padded", "B loaded down its columns, its tile padded", _PADDED),
        variant(uncoalesced, f"{uncoalesced}_padded_unsigned", "the same, unsigned indices", (*unsigned, *_PADDED)),
        variant("bank_conflicts", "bank_conflicts_32_registers", "bank conflicts, at most 32 registers", (capped,)),
        variant("outer_product", "outer_product_constant", "outer products, loops of constant length", _CONSTANT),
        variant("outer_product", "outer_product_batched", "the same, loads of B before the products", _BATCHED),
        four_rows.RUNG,
        variant("four_rows", "four_rows_unsigned", "four rows a thread, unsigned indices", _FOUR_ROWS_UNSIGNED),
    )


#: The line that loads the next tiles, in the kernels whose tiles leave room for eight warps.
_FETCH = {
    "large_tiles": "        fetch(A, B, top, left, start, a_next, b_next)\n",
    "best": "        fetch(A, B, inside, top, left, start, a_next, b_next)\n",
}
_TWO_STEPS = "        two_steps(A_tile, B_tile, {}, m, n, a0, b0, a1, b1, acc)\n"
_PRODUCTS_END = "        cuda.syncthreads()  # no thread reads the tiles any more\n"
#: Where the loads of `loads_moved` stand: after 2, 8 or 14 of a tile's 16 steps, or at its end.
MOVED = ("early", "half", "14 steps", "late", "behind")


def loads_moved(of: str, loads: str) -> Rung:
    """Return `large_tiles` or `best` with the loads of the next tiles in one of the places of MOVED.

    "early" is as in the rung, after two of sixteen steps; "half" after eight of them; "late" after the last products,
    before the barrier that ends them; "behind" after that barrier.
    """
    fetch = _FETCH[of]
    eighth = _TWO_STEPS.format(6)
    fourteenth = _TWO_STEPS.format(12)
    places = {
        "half": (eighth, eighth + fetch),
        "14 steps": (fourteenth, fourteenth + fetch),
        "late": (_PRODUCTS_END, fetch + _PRODUCTS_END),
        "behind": (_PRODUCTS_END, _PRODUCTS_END + fetch),
    }
    changes = () if loads == "early" else ((fetch, ""), places[loads])
    return variant(of, f"{of}_{loads.replace(' ', '_')}", f"{of}, loads {loads}", changes)


#: What makes all integers 32 bits wide and unsigned, as those of `prefetch_variants` are.
_INTEGERS_UINT32 = (
    (_IMPORT, f"{_IMPORT}, uint32"),
    ("tx, ty = cuda.threadIdx.x, cuda.threadIdx.y", "tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)"),
    ("row, col = cuda.blockIdx.y * T", "row, col = uint32(cuda.blockIdx.y) * uint32(T)"),
    ("cuda.blockIdx.x * T", "uint32(cuda.blockIdx.x) * uint32(T)"),
    ("M, K = A.shape", "M, K = uint32(A.shape[0]), uint32(A.shape[1])"),
    ("N = B.shape[1]", "N = uint32(B.shape[1])"),
)
_ALL_UINT32: dict[str, Changes] = {
    "tiled": (
        *_INTEGERS_UINT32,
        ("range(0, K, T)", "range(uint32(0), K, uint32(T))"),
        ("A_tile[ty, k] * B_tile[k, tx]", "A_tile[ty, uint32(k)] * B_tile[uint32(k), tx]"),
    ),
    "prefetched": (
        *_INTEGERS_UINT32,
        ("range(0, K + T, T)", "range(uint32(0), K + uint32(T), uint32(T))"),
        ("A_tiles[now, ty, k] * B_tiles[now, k, tx]", "A_tiles[now, ty, uint32(k)] * B_tiles[now, uint32(k), tx]"),
        ("now = 0\n", "now = uint32(0)\n"),
        ("now = 1 - now\n", "now = uint32(1) - now\n"),
    ),
}
#: The first pair of tiles before the loop, with its indices in braces.
_FIRST_PAIR = {
    "tiled": """        if row < M and tx < K:
            A_tile[ty, tx] = A[{row}, {tx}]
        else:
            A_tile[ty, tx] = 0
        if ty < K and col < N:
            B_tile[ty, tx] = B[{ty}, {col}]
        else:
            B_tile[ty, tx] = 0
        cuda.syncthreads()  # the first pair is complete
""",
    "prefetched": """        a_next, b_next = dtype(0), dtype(0)
        if row < M and tx < K:
            a_next = A[{row}, {tx}]
        if ty < K and col < N:
            b_next = B[{ty}, {col}]
        A_tiles[{now}, {ty}, {tx}] = a_next
        B_tiles[{now}, {ty}, {tx}] = b_next
        cuda.syncthreads()  # the first pair is complete
""",
}
_HELD = "{}cuda.syncwarp()  # the loads stay before the products\n"
_EACH = "  # each iteration fetches one pair of tiles and computes with the one before"
_TILES_FULL = "            cuda.syncthreads()  # both tiles are complete\n"
_TILES_USED = "            cuda.syncthreads()  # no thread reads the tiles any more\n"


def first_pair(of: str, first: str, index: str, held: bool = False) -> Rung:
    """Return `tiled` or `prefetched` with its first pair of tiles loaded "inside" the loop, as there, or "before" it.

    index: "uint64", where the integers are signed and each index is cast, as in `unsigned_variant`; or "uint32", where
    all integers are. With the first pair before it, the loop of `prefetched` needs no condition around the products,
    and that of `tiled` multiplies a pair and then loads the next one. held: of `prefetched`, whether a barrier of the
    warp holds the loads before the products; it is no instruction that waits, but the compiler moves no load over it.
    """
    changes = {"uint64": UNSIGNED_RUNGS, "uint32": _ALL_UINT32}[index][of]
    if first == "before":
        changes = (*changes, *_first_before(of, index))
    if held:
        place = "uint64(start + ty), uint64(col)" if index == "uint64" else "start + ty, col"
        load = f"                b_next = B[{place}]\n"
        capped = (_JIT_OF_TILES, "    @cuda.jit(max_registers=32)\n    def ")  # one of the four would have 40
        changes = (*changes, (load, load + _HELD.format(12 * " ")), capped)
    name = f"{of}_{first}_{index}{'_held' if held else ''}"
    return variant(of, name, f"{of}, {index}, its first pair {first} the loop{', loads held' if held else ''}", changes)


def loads_held() -> Rung:
    """Return `prefetch_variants` whose early loads are held before the products, as `first_pair` holds them."""
    load = "            if early:\n                a, b = fetch(A, B, row, col, start)\n"
    changes = ((load, load + _HELD.format(16 * " ")),)
    return variant("prefetch_variants", "prefetch_variants_held", "early loads, held before the products", changes)


def _first_before(of: str, index: str) -> Changes:
    """Return the changes that load the first pair before the loop, to be made after those of the indices' type."""
    zero, step, k = ("0", "T", "k") if index == "uint64" else ("uint32(0)", "uint32(T)", "uint32(k)")
    names = ("row", "col", "tx", "ty", "now")
    pair = _FIRST_PAIR[of].format(**{name: f"uint64({name})" if index == "uint64" else name for name in names})
    loop = f"        for start in range({step}, K + {step}, {step}):\n"
    if of == "prefetched":
        products = "{0}for k in range(T):\n{0}    acc += A_tiles"
        return (
            (f"        for start in range({zero}, K + {step}, {step}):{_EACH}\n", pair + loop),
            ("            if start > 0:\n" + products.format(16 * " "), products.format(12 * " ")),
        )
    products = _TILE_LOOP.replace("ty, k]", f"ty, {k}]").replace("[k, tx", f"[{k}, tx") + _TILES_USED
    return (
        (_TILES_FULL + products, _TILES_FULL),
        (f"        for start in range({zero}, K, {step}):\n", pair + loop + products),
    )
