"""The formulas for requests, sectors and wavefronts, compared with a count of every lane of every warp."""

from collections import defaultdict

import pytest
from oracles import closed_forms

from course_lib.machine import model

SIZES = [(37, 21, 50), (1, 1, 1), (3, 2, 5), (33, 40, 7), (5, 3, 0)]


class Counter:
    """Adds up requests given as the element addresses of their active lanes."""

    def __init__(self, itemsize):
        self.itemsize = itemsize
        self.counts = defaultdict(closed_forms.Count)

    def request(self, space, op, array, addresses):
        """Count one warp instruction."""
        if not addresses:
            return
        sectors = wavefronts = 0
        if space == "global":
            sectors = len({a * self.itemsize // 32 for a in addresses})
        else:
            banks = [a % 32 for a in set(addresses)]
            wavefronts = max(banks.count(bank) for bank in banks)
        self.counts[space, op, array] += closed_forms.Count(len(addresses), 1, sectors, wavefronts)


def warps(width, height):
    """Return the (ty, tx) of the lanes of each warp."""
    lanes = [(ty, tx) for ty in range(height) for tx in range(width)]
    return [lanes[i : i + 32] for i in range(0, len(lanes), 32)]


def blocks(M, N, T):
    """Return the first row and column of every block."""
    return [(top, left) for top in range(0, max(M, 1), T) for left in range(0, max(N, 1), T)]


def naive_lane_by_lane(M, N, K, T, itemsize):
    """Count the accesses of naive.py, one warp at a time."""
    count = Counter(itemsize)
    for top, left in blocks(M, N, T):
        for warp in warps(T, T):
            cells = [(top + ty, left + tx) for ty, tx in warp if top + ty < M and left + tx < N]
            for k in range(K):
                count.request("global", "load", "A", [row * K + k for row, _ in cells])
                count.request("global", "load", "B", [k * N + col for _, col in cells])
            count.request("global", "store", "C", [row * N + col for row, col in cells])
    return count.counts


def tiled_lane_by_lane(M, N, K, T, itemsize):
    """Count the accesses of tiled.py, one warp at a time."""
    count = Counter(itemsize)
    for top, left in blocks(M, N, T):
        for warp in warps(T, T):
            for start in range(0, K, T):
                in_A = [(ty, tx) for ty, tx in warp if top + ty < M and start + tx < K]
                in_B = [(ty, tx) for ty, tx in warp if start + ty < K and left + tx < N]
                count.request("global", "load", "A", [(top + ty) * K + start + tx for ty, tx in in_A])
                count.request("global", "load", "B", [(start + ty) * N + left + tx for ty, tx in in_B])
                for name, inside in (("A_tile", in_A), ("B_tile", in_B)):
                    outside = [lane for lane in warp if lane not in inside]
                    count.request("shared", "store", name, [ty * T + tx for ty, tx in inside])
                    count.request("shared", "store", name, [ty * T + tx for ty, tx in outside])
                for k in range(T):
                    count.request("shared", "load", "A_tile", [ty * T + k for ty, _ in warp])
                    count.request("shared", "load", "B_tile", [k * T + tx for _, tx in warp])
            cells = [(top + ty, left + tx) for ty, tx in warp if top + ty < M and left + tx < N]
            count.request("global", "store", "C", [row * N + col for row, col in cells])
    return count.counts


def some(counts):
    """Remove counts of zero."""
    return {key: count for key, count in counts.items() if count.accesses}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("T", [3, 16, 24, 32])
@pytest.mark.parametrize("itemsize", [4, 8])
def test_naive(size, T, itemsize):
    """All counts, for sizes that no tile divides and both element sizes."""
    assert some(closed_forms.traffic("naive", *size, block_width=T, itemsize=itemsize)) == naive_lane_by_lane(
        *size, T, itemsize
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("T", [3, 16, 24, 32])
def test_tiled(size, T):
    """All counts, among them the second request of a warp that stores zeros outside the matrix."""
    assert some(closed_forms.traffic("tiled", *size, tile_width=T)) == tiled_lane_by_lane(*size, T, 4)


def test_tiled_global_traffic_of_8_byte_elements():
    """Sectors follow the element size."""
    modelled = closed_forms.traffic("tiled", 33, 40, 7, tile_width=8, itemsize=8)
    counted = tiled_lane_by_lane(33, 40, 7, 8, 8)
    assert [modelled[key] for key in modelled if key[0] == "global"] == [
        counted[key] for key in modelled if key[0] == "global"
    ]


def test_accesses_agree_with_the_one_line_formulas():
    """The sums over warps and the formulas of counts.py are the same numbers."""
    for name, width in (("naive", None), ("tiled", 16), ("prefetched", 16)):
        counts = closed_forms.traffic(name, 70, 45, 130)
        loads = counts["global", "load", "A"].accesses + counts["global", "load", "B"].accesses
        assert loads == model.global_loads(70, 45, 130, width)
