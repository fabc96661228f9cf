"""Operations and memory accesses of C = A @ B, for A of M×K and B of K×N; exact for every size."""

from fractions import Fraction

from ...simulator.hardware import ceil_div


def flop(M: int, N: int, K: int) -> int:
    """Return the floating-point operations: one multiplication and one addition per term of each inner product.

    >>> model.flop(64, 64, 64)
    524288
    """
    return 2 * M * N * K


def global_loads(M: int, N: int, K: int, tile_width: int | None = None, tile_columns: int | None = None) -> int:
    """Return the elements of A and B that all threads together load from global memory.

    Without tiles every element of C costs a row of A and a column of B: 2 M N K. With tiles of T×T elements,
    A is loaded once per column of tiles of C and B once per row of tiles: M K ceil(N/T) + K N ceil(M/T).
    Tiles that are not square have `tile_width` rows and `tile_columns` columns.

    >>> model.global_loads(64, 64, 64), model.global_loads(64, 64, 64, tile_width=16)
    (524288, 32768)
    """
    if tile_width is None:
        return 2 * M * N * K
    return M * K * ceil_div(N, tile_columns or tile_width) + K * N * ceil_div(M, tile_width)


def global_loads_of_best(M: int, N: int, K: int) -> int:
    """Return the elements of A and B that the tuned kernel loads: tiles of 128×256, but not at edges of 1 to 4.

    A few columns at the edge are inner products: each loads all of A, and K elements of B in all 8 warps of every 128
    rows. A few rows load B once each, and K elements of A for all 32 lanes of a warp, once in every 256 columns.

    >>> model.global_loads_of_best(256, 256, 256), model.global_loads(256, 256, 256, 128, 256)
    (196608, 196608)
    """
    few_rows, few_columns = (size % tile if size % tile <= 4 else 0 for size, tile in ((M, 128), (N, 256)))
    rows, columns = M - few_rows, N - few_columns
    for_columns = few_columns * (M * K + 8 * ceil_div(M, 128) * K)
    for_rows = few_rows * (K * columns + 32 * ceil_div(columns, 256) * K)
    return global_loads(rows, columns, K, 128, 256) + for_columns + for_rows


def loads_per_output(
    M: int, N: int, K: int, tile_width: int | None = None, tile_columns: int | None = None
) -> Fraction:
    """Return the global loads per element of C, as a Fraction: 2 K, or 2 K / T where T divides M and N.

    >>> model.loads_per_output(64, 64, 64), model.loads_per_output(64, 64, 64, tile_width=16)
    (Fraction(128, 1), Fraction(8, 1))
    """
    return _ratio(global_loads(M, N, K, tile_width, tile_columns), M * N)


def flop_per_byte(
    M: int, N: int, K: int, tile_width: int | None = None, tile_columns: int | None = None, itemsize: int = 4
) -> Fraction:
    """Return the operations per byte loaded from global memory, as a Fraction: 1/4 in float32, T/4 with tiles.

    Source: the computation-to-memory ratio of the TU Eindhoven 5KK73 page, which leaves out the stores of C.

    >>> model.flop_per_byte(64, 64, 64), model.flop_per_byte(64, 64, 64, tile_width=16)
    (Fraction(1, 4), Fraction(4, 1))
    """
    return _ratio(flop(M, N, K), global_loads(M, N, K, tile_width, tile_columns) * itemsize)


def _ratio(part: int, whole: int) -> Fraction:
    if whole == 0:
        raise ValueError("a product without elements has no such ratio; give M, N and K of at least 1")
    return Fraction(part, whole)
