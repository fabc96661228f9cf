"""The rule that divides a product among blocks: what was recorded of it, and the reasons that it gives."""

import pytest

from course_lib import measurements
from course_lib.machine import planning
from course_lib.machine.planning import TILES, Gpu, plan, plans

GPU = Gpu(132)


def test_it_chooses_what_was_recorded():
    """`product` chose by this rule on the GPU of the recording: tiles, whole ones and shares, of 40 shapes.

    The eight others are small or thin, and it had kernels without tiles for them. Rows of A and B begin on 16
    bytes if K and N are multiples of 4.
    """
    recording = measurements.load("product")
    gpu = Gpu(recording.provenance["multiprocessors"])
    products = [result for result in recording.results if result["rung"] == "product"]
    recorded = [result for result in products if result["params"]["kernels"] not in ("direct", "inner products")]
    assert (len(products), len(recorded)) == (48, 40)
    for result in recorded:
        M, N, K = (result[axis] for axis in "MNK")
        p = plan(M, N, K, gpu, wide=K % 4 == 0 and N % 4 == 0, plain=True)
        assert {"kernels": p.kernels, "whole": p.whole, "shares": p.shares} == result["params"], (M, N, K)


def test_the_rule_names_its_reasons():
    """Many whole tiles go to `best`, a last round is shared, few tiles are shared, thin results have thin tiles."""
    assert plan(2048, 2048, 2048, GPU, plain=True).kernels == "best"
    assert (plan(3072, 3072, 3072, GPU).whole, plan(3072, 3072, 3072, GPU).shares) == (264, 132)
    assert plan(768, 768, 768, GPU).whole == 0
    assert plan(4095, 4095, 4095, GPU, wide=False).copied
    assert str(plan(16, 4096, 4096, GPU).tile) == "16×128"


@pytest.mark.parametrize("size", [(3072, 3072, 3072), (768, 768, 768), (128, 128, 8192), (257, 8191, 33)], ids=str)
def test_a_plan_has_every_tile_once(size):
    """Those of whole blocks and those that the shares divide are all; the rest of C are a few rows or columns."""
    M, N, K = size
    for p in plans(M, N, K, GPU):
        tiles = -(-p.rows // p.tile.rows) * -(-p.columns // p.tile.columns)
        assert p.whole < tiles if p.shares else p.whole == tiles
        assert p.tile in TILES and 0 <= M - p.rows <= planning.FEW and 0 <= N - p.columns <= planning.FEW
