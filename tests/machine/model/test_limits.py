"""Occupancy and roofline."""

import pytest

from course_lib.machine import measurements, model

H200 = {
    "threads_per_multiprocessor": 2048,
    "registers_per_multiprocessor": 65536,
    "shared_bytes_per_multiprocessor": 233472,
}


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "limit"),
    [
        (256, 241, 24832, 1, "registers"),  # one block of the tuned kernel: 248 × 256 of 65,536 registers
        (256, 128, 16384, 2, "registers"),
        (1024, 32, 8192, 2, "registers"),  # threads would allow two as well
        (64, 16, 50000, 4, "shared memory"),
        (32, 16, 0, 32, "blocks"),
        (512, 16, 0, 4, "threads"),
    ],
)
def test_occupancy(threads, registers, shared, blocks, limit):
    """Each resource in turn decides how many blocks fit."""
    held = model.occupancy(threads, registers, shared, H200)
    assert (held.blocks, held.limit) == (blocks, limit)
    assert held.share == blocks * -(-threads // 32) / 64


@pytest.mark.parametrize(
    ("capability", "held"),
    [("7.5", (16, 16, 8)), ("8.6", (16, 16, 7)), ("8.9", (24, 24, 7)), ("9.0", (32, 32, 7)), ("10.0", (32, 32, 7))],
)
def test_occupancy_by_compute_capability(capability, held):
    """Of blocks of one warp, with no and with 8 KiB of 64 KiB shared memory, of which newer drivers keep a part."""
    of = {**H200, "compute_capability": capability, "shared_bytes_per_multiprocessor": 65536}
    got = [model.occupancy(32, 32, shared, of | more).blocks for shared, more in ((0, {}), (128, {}), (8192, {}))]
    assert tuple(got) == held
    threads = model.occupancy(64, 32, 0, of | {"threads_per_multiprocessor": None})
    assert threads.share == min(1, held[0] * 2 * 32 / {"7.5": 1024, "8.6": 1536, "8.9": 1536}.get(capability, 2048))


def test_nothing_has_no_ratio():
    with pytest.raises(ValueError, match="at least one thread, not 0"):
        model.occupancy(0, 32, 0, H200)
    with pytest.raises(ValueError, match="M, N and K of at least 1"):
        model.loads_per_output(0, 4, 4)


def test_the_driver_holds_as_many_blocks():
    """For 10 sizes of blocks, some of no whole warps, 36 numbers of registers and three sizes of shared memory."""
    recording = measurements.load("occupancy")
    wrong = [
        (int(threads), result["registers"], int(shared), blocks)
        for result in recording.results
        for shared, row in result["blocks"].items()
        for threads, blocks in row.items()
        if model.occupancy(int(threads), result["registers"], int(shared), recording.provenance).blocks != blocks
    ]
    assert wrong == []
    assert sum(len(row) for result in recording.results for row in result["blocks"].values()) > 1000


def test_roofline_names_the_limit():
    """A quarter of an operation per byte is bound by memory, 64 by arithmetic."""
    assert model.attainable(1 / 4, 60e12, 4e12) == model.Bound(1e12, "memory")
    assert model.attainable(64, 60e12, 4e12) == model.Bound(60e12, "arithmetic")
