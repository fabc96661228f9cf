"""The simulator's counts beside Nsight Compute's, as recorded on a GPU: equal, number for number."""

from pathlib import Path

import numpy as np
import pytest
from nightly import at_night, every

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.machine import measurements
from course_lib.machine.gpu.measuring import widest
from course_lib.machine.gpu.verification import prepare
from tools.lab.patterns import patterns

PATTERNS = measurements.load("patterns")
RUNGS = measurements.load("exact")
GLOBAL = ("global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors")
SHARED = (
    "shared_load_requests",
    "shared_load_wavefronts",
    "shared_load_bank_conflicts",
    "shared_store_requests",
    "shared_store_wavefronts",
    "shared_store_bank_conflicts",
)
#: The compiler fetches four neighbouring words of these arrays with one LDS.128, which the source asks for one by
#: one; the number is the distance between neighbouring lanes in units of 16 bytes (0: all lanes read the same).
WIDENED = {
    "tiled_uncoalesced": {"A_tile": 0},
    "padded": {"A_tile": 0},
    "tiled": {"A_tile": 0},
    "prefetched": {"A_tiles": 0},
    "pipelined": {"A_tiles": 0},
    "unrolled": {"A_tile": 0},
    "bank_conflicts": {"A_tile": 0, "B_tile": 8},
}
#: It makes one store of the two in an if/else, so that a warp with lanes in both asks once and not twice.
MERGED_STORES = {"tiled_uncoalesced", "bank_conflicts", "padded", "tiled", "outer_product", "unrolled", "register_1d"}


#: Copies that cost the GPU 16 wavefronts and the simulator 8; `copy_wavefronts` says so.
OFF = "copied 16 bytes, two sectors to four, (0, 0, 1, 1)"
#: The wavefronts of loads that the compiler drops, for each warp whose tiles are copied.
DROPPED = {"tensor_cores_tiled": 16, "tensor_cores_bf16": 0}


def counters(traffic):
    """The simulator's counts under the names of the recording."""
    kinds = {"global": ("requests", "sectors"), "shared": ("requests", "wavefronts", "bank_conflicts")}
    return {
        f"{space}_{op}_{kind}": getattr(traffic.select(space=space, op=op), kind)
        for space in kinds
        for op in ("load", "store")
        for kind in kinds[space]
    }


def test_the_patterns_measured_are_those_that_pages_count():
    names = [p.name for p in patterns()]
    assert names == [r["pattern"] for r in PATTERNS.results]
    copied = [name for name in names if name.startswith("copied")]
    assert (len(copied), sum("bytes," in name for name in copied)) == (370, 355)  # as `counters/README.md` says
    page = (Path(__file__).parents[3] / "docs" / "published.md").read_text(encoding="utf-8")
    assert f"equal for {len(names) - names.count(OFF)} of {len(names)};" in page


@pytest.mark.parametrize(
    "case", every(5, list(zip(patterns(), PATTERNS.results, strict=True))), ids=[p.name for p in patterns()]
)
def test_a_pattern_costs_what_the_gpu_counted(case):
    pattern, recorded = case
    run = simulate(pattern.kernel)[pattern.grid, pattern.block](*pattern.arguments())
    counted, wanted = counters(run.traffic), with_copies(recorded)
    if "product_wavefronts" in recorded:  # the profiler counts reads of tensor cores apart, and their requests by warps
        wanted["shared_load_wavefronts"] += recorded["product_wavefronts"]
        del counted["shared_load_requests"]
    if recorded.get("copy_requests"):  # the profiler has no count of the conflicts of copies beside their wavefronts
        del counted["shared_store_bank_conflicts"]
    if pattern.name == OFF:
        assert (counted.pop("shared_store_wavefronts"), wanted["shared_store_wavefronts"]) == (8, 16)
    assert counted == {name: wanted[name] for name in counted}


def wide_load(distance):
    """(wavefronts, bank conflicts) of one 16-byte load whose lanes lie `distance` × 16 bytes apart."""
    name = f"shared 16 bytes, stride {distance}"
    recorded = next(r for r in PATTERNS.results if r["pattern"] == name)
    return recorded["shared_load_wavefronts"], recorded["shared_load_bank_conflicts"]


def widen(counted, traffic, arrays):
    """Replace the shared loads of `arrays` by a quarter as many of 16 bytes, as the compiler does."""
    for array, distance in arrays.items():
        part = traffic.select(space="shared", op="load", array=array)
        wavefronts, conflicts = wide_load(distance)
        counted["shared_load_requests"] += part.requests // 4 - part.requests
        counted["shared_load_wavefronts"] += part.requests // 4 * wavefronts - part.wavefronts
        counted["shared_load_bank_conflicts"] += part.requests // 4 * conflicts - part.bank_conflicts


def test_the_machine_code_shows_the_widened_loads():
    mixes = {r["rung"]: r["mix"] for r in measurements.load("instructions").results}
    for name, mix in mixes.items():
        if name in WIDENED:
            assert mix["LDS.128"] > 0
    # four multiply-adds need four words of A (one wide load) and four of B
    assert mixes["tiled"]["FFMA"] == mixes["tiled"]["LDS"] == 4 * mixes["tiled"]["LDS.128"]
    assert "LDS" not in mixes["unrolled"]
    assert "LDS.128" not in mixes["outer_product"]


@pytest.mark.parametrize(
    "recorded",
    # three sizes of each rung, by day one of them
    [r if n % 3 == n // 3 % 3 else at_night(r) for n, r in enumerate(RUNGS.results)],
    ids=lambda r: f"{r['rung']} {r['M']}x{r['N']}x{r['K']}",
)
def test_a_rung_asks_what_the_gpu_counted(recorded):
    M, N, K = (recorded[axis] for axis in "MNK")
    r = rung(recorded["rung"])
    kernel, grid, block, _ = prepare(r, M, N, K, **widest(r))
    rng = np.random.default_rng(M)
    A, B = (r.operand(rng.random(shape, np.float32)) for shape in ((M, K), (K, N)))
    traffic = simulate(kernel)[grid, block](A, B, np.zeros((M, N), "f4")).traffic
    counted = counters(traffic)
    widen(counted, traffic, WIDENED.get(r.name, {}))
    if r.name in DROPPED and recorded["copy_requests"]:
        # The last fragments that a warp loads of B in 8 bytes are of no use, and the compiler drops the loads. Before
        # copies of 16 bytes it puts others, which no lane takes part in, in numbers that depend on the loop (LDS RZ).
        counted["shared_load_wavefronts"] -= DROPPED[r.name] * 4 * (M // 128) * (N // 128)
        del counted["shared_load_requests"]
        del counted["shared_store_bank_conflicts"]  # of which the profiler has no count for copies
    assert {n: counted[n] for n in GLOBAL} == {n: recorded[n] for n in GLOBAL}
    for name in counted.keys() & SHARED:
        if name.startswith("shared_store") and r.name in MERGED_STORES and (N % 32 or K % 32):
            continue
        assert counted[name] == with_copies(recorded)[name], name


def with_copies(recorded):
    """The counters with loads of matrices taken for loads, and copies for stores, as the simulator counts them.

    The assembler puts three loads that no lane takes part in before each copy, and the profiler counts them as
    requests. It also counts as requests the stores and copies of which no lane is left, as at the ragged edges of
    `pipelined`.
    """
    matrices = recorded.get("matrix_load_requests", 0)
    recorded = {**recorded, "shared_load_requests": recorded["shared_load_requests"] + matrices}
    copies = recorded.get("copy_requests", 0)
    if not copies:
        return recorded
    wavefronts = recorded["shared_store_wavefronts"] + recorded["copy_wavefronts"]
    edge = recorded.get("rung") == "pipelined"
    return {
        **recorded,
        "shared_load_requests": recorded["shared_load_requests"] - 3 * copies,
        "shared_store_requests": wavefronts if edge else recorded["shared_store_requests"] + copies,
        "shared_store_wavefronts": wavefronts,
    }
