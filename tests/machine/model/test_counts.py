"""Closed forms for operations and accesses."""

from fractions import Fraction

import pytest

from course_lib.machine import model


def test_the_4x4_example_halves_its_loads_with_2x2_tiles():
    """8 loads per thread become 4, as in the blog post."""
    assert model.loads_per_output(4, 4, 4) == 8
    assert model.loads_per_output(4, 4, 4, tile_width=2) == 4


def test_ratio_of_operations_to_bytes_is_a_quarter_of_the_tile_width():
    """1/4 flop per byte without tiles, T/4 with them, half of that in float64."""
    assert model.flop_per_byte(64, 128, 96) == Fraction(1, 4)
    assert model.flop_per_byte(64, 128, 96, tile_width=16) == 4
    assert model.flop_per_byte(64, 128, 96, tile_width=16, itemsize=8) == 2


@pytest.mark.parametrize(("M", "N", "K", "T"), [(70, 45, 130, 16), (1, 1, 1, 32), (5, 9, 0, 4), (33, 64, 7, 8)])
def test_tiled_loads_are_those_of_every_block_walking_its_tiles(M, N, K, T):
    """Counted block by block: each one loads its rows of A and its columns of B once."""
    walked = 0
    for top in range(0, M, T):
        for left in range(0, N, T):
            walked += (min(top + T, M) - top) * K + (min(left + T, N) - left) * K
    assert model.global_loads(M, N, K, T) == walked
