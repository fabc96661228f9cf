"""The recordings: complete, honest about their origin, and what README and docs/measured.md show."""

import re

import numpy as np
import pytest
import recorded

from course_lib.kernels import LADDER, TENSOR_CORES
from course_lib.machine import measurements, model
from course_lib.machine.gpu.verification import TOLERANCE
from tools import report

RUNGS = (*LADDER, *TENSOR_CORES)
#: All but those that tools made.
WHAT = sorted({*measurements.kinds(measurements.DEFAULT_GPU)} - {"attempts", "sanitizer"})


def test_pages_and_pictures_are_those_of_the_recordings():
    """`tools/report.py` would change nothing."""
    for path, text in report.outputs().items():
        assert path.read_text(encoding="utf-8") == text, f"run tools/report.py ({path.name})"


@pytest.mark.parametrize("what", WHAT)
def test_a_recording_says_where_it_comes_from(what):
    """GPU, driver, versions, date and the command that repeats it."""
    recording = measurements.load(what)
    # Those of the laboratory were made before it left the package; `measurements` says which commit has their commands.
    assert recording.command.startswith((f"python -m course_lib.gpu {what}", f"python -m tools.lab {what}"))
    assert all(recording.provenance[key] for key in ("gpu", "driver", "numba", "numba-cuda", "numpy", "date"))
    assert recording.results


@pytest.mark.parametrize("what", ["ladder", "series", "tiles", "ragged", "variants"])
def test_speeds_follow_from_the_recorded_repeats(what):
    """GFLOP/s is 2 M N K over the median of the repeats, of kernels that were right."""
    for result in report.measured(measurements.load(what)):
        seconds = np.median(result["milliseconds"]) / 1e3
        assert result["gflops"] == pytest.approx(model.flop(*(result[k] for k in "MNK")) / seconds / 1e9)
        assert result["relative_error"] <= TOLERANCE["float32"]


#: Sectors loaded from A and from B, as times those of elements side by side: a sector for each lane, or one for all.
APART, SHARED = 8, 1 / 4
LOADED = dict.fromkeys(("per_row", "uncoalesced"), (APART, SHARED)) | dict.fromkeys(
    ("per_column", "naive"), (SHARED, 1)
)
LOADED["tiled_uncoalesced"] = 1, APART
#: The same of the stores of C.
STORED = dict.fromkeys(("per_row", "uncoalesced"), APART) | dict.fromkeys((r.name for r in TENSOR_CORES), 2)
#: The depth of the tiles of which two pairs are copied again after the last.
COPIED = {"tensor_cores_tiled": 16, "tensor_cores_bf16": 32}


@pytest.mark.parametrize(
    ("r", "gpu"),
    [(r, gpu) for gpu in recorded.gpus("counters") for r in RUNGS if r.name in recorded.rungs("counters", gpu)],
    ids=lambda each: getattr(each, "name", each),
)
def test_counters_agree_with_the_model(r, gpu):
    """Nsight Compute saw the requests and sectors that follow from the tile; the passes grow as the products do."""
    tile = r.tile(**{key: 32 if width == 16 else width for key, width in r.params.items()}) or ()
    itemsize = 2 if r.name == "tensor_cores_bf16" else 4
    access = itemsize if "F" in r.orders and r.name not in COPIED else 16
    passes = []
    for result in (result for result in measurements.load("counters", gpu).results if result["rung"] == r.name):
        if "skipped" not in result:
            n = result["M"]
            size = model.global_loads(n, n, n, *tile) * (1 + 2 * COPIED.get(r.name, 0) / n) * itemsize
            assert result["global_load_requests"] == size / (32 * access)
            assert result["global_load_sectors"] == size / 32 * sum(LOADED.get(r.name, (1, 1))) / 2
            assert result["global_store_sectors"] == 4 * n * n / 32 * STORED.get(r.name, 1)
            passes.append(result["shared_load_wavefronts"] / n**3)
    assert passes == pytest.approx([passes[0]] * len(passes), rel=5e-3)


def test_counters_hold_a_size_beyond_the_l2_cache():
    """Of every rung that was counted, or it says why not; there all read at least their two matrices from DRAM."""
    counters = measurements.load("counters")
    large = [result for result in counters.results if result["M"] == 4096]
    assert {result["rung"] for result in large} == recorded.rungs("counters")
    assert 3 * 4 * 4096**2 > counters.provenance["l2_bytes"]
    for result in large:
        itemsize = 2 if result["rung"] == "tensor_cores_bf16" else 4
        assert "skipped" in result or result["dram_read_bytes"] >= 2 * itemsize * 4096**2


def test_host_times_are_repeated_up_to_1024():
    """Three repeats after a warm-up; above that one, or a reason for none."""
    hosts = [result for result in measurements.load("series").results if result["rung"] == "host"]
    assert [result["M"] for result in hosts] == [128, 256, 512, 1024, 2048, 4096, 8192]
    for result in hosts:
        if result["M"] <= 1024:
            assert result["warmups"] == 1
            assert len(result["milliseconds"]) >= 3
        else:
            assert "skipped" in result or len(result["milliseconds"]) == 1


def test_the_variants_are_right_and_pass_the_first_level_cache_where_they_say_so():
    variants = measurements.load("variants")
    assert variants.result("naive_c_uncached")["l2_bytes"] > 8 * variants.result("naive_c")["l2_bytes"]
    assert not [r for r in variants.results if "wrong" in r]
    (host,) = (r for r in variants.results if "program" in r)
    assert host["said"] == "largest error: 0"


def test_ragged_sizes_are_within_15_percent_of_even_ones():
    """The best kernel, beside the even size next to each."""
    results = measurements.load("ragged").results
    speed = {tuple(result[k] for k in "MNK"): result["gflops"] for result in results if result["rung"] == "best"}
    even = {(n, n, n): (4096, 4096, 4096) for n in (4095, 4097)}
    even |= {(1000, 500, 3000): (1024, 512, 3072), (1000, 3000, 500): (1024, 3072, 512)}
    for ragged, whole in even.items():
        assert speed[ragged] >= 0.85 * speed[whole], ragged


TENSOR = measurements.load("tensor")


def test_tensor_cores_are_recorded_on_every_square():
    """Every rung with its parameters, best, and cuBLAS with four pairs of types; none was wrong."""
    sizes = [n for n in (1024, 2048, 4096, 8192) for _ in range(9)]
    rungs = [r for r in TENSOR.results if "rung" in r]
    assert [r["M"] for r in rungs] == sizes
    assert not any("wrong" in r for r in rungs)
    for result in rungs:
        seconds = np.median(result["milliseconds"]) / 1e3
        assert result["gflops"] == pytest.approx(model.flop(*(result[k] for k in "MNK")) / seconds / 1e9)


def test_instructions_are_what_numpy_says():
    """Not one of 4 million results of mma, nor of a million rounded numbers, was another bit."""
    compared = [r for r in TENSOR.results if "compared" in r]
    assert {r["instruction"] for r in compared} == {"mma_tf32", "mma_bf16", "to_tf32"}
    assert sum(r["compared"] for r in compared) > 5e6
    assert all(r["different"] == 0 for r in compared)


def test_the_two_gpus_agree_on_what_each_factor_gains():
    """Within 3 %, but where L1 is bypassed: the sentence of the page on numba and CUDA C."""
    page = (report.ROOT / "notebooks" / "numba_and_cuda_c.md").read_text(encoding="utf-8")
    here, there = (measurements.load("variants", gpu) for gpu in ("nvidia-h200", "nvidia-h100"))
    pairs = re.findall(r"<!--(\w+)/(\w+)-->", page)
    gains = {
        pair: [of.result(pair[0])["gflops"] / of.result(pair[1])["gflops"] for of in (here, there)] for pair in pairs
    }
    apart = {pair: gain for pair, gain in gains.items() if abs(gain[1] / gain[0] - 1) > 0.03}
    assert len(apart) == 3 < len(gains) and all("uncached" in pair[0] for pair in apart)
    assert all(3.05 <= gain[1] < 3.25 for gain in apart.values())
