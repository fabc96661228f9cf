"""When prefetching pays: the kernels compute the product, the recording and the page say what was measured."""

import re
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from nightly import every

from course_lib import simulate
from course_lib.kernels import prefetch_places, prefetch_variants
from course_lib.kernels.variants import MOVED, loads_moved
from course_lib.machine import measurements, model
from course_lib.machine.gpu import cuda_c, prefetching
from course_lib.machine.gpu.verification import TOLERANCE, judge, random_matrices
from course_lib.machine.machine_code import run_block
from course_lib.machine.machine_code.compiling import disassembled
from course_lib.machine.machine_code.instructions import MachineCode, from_listing
from course_lib.machine.machine_code.show import inner_body
from tools import prefetching_page as page
from tools.lab import prefetching_predictions as predictions

RECORDED, PREDICTED, BESIDE = (
    measurements.load(what) for what in ("prefetching", predictions.WHAT, "prefetching_pairs")
)
FOUND, PAIRS = page.Found(RECORDED), page.Pairs(BESIDE)
TIMED = [r for r in RECORDED.results if r["rung"] != "cublas"]
#: The kernels in numba of `pairs` that `cases` do not have, and those in CUDA C with their parameters.
NEW = list(
    {c.kernel: c for c in prefetching.pairs() if c.language == "numba" and c.rung != prefetch_variants.RUNG}.values()
)
SETTINGS = [(width, *setting) for width in (8, 16, 32) for setting in prefetch_variants.SETTINGS]


def params(width, buffers, loads, barriers):
    return {"tile_width": width, "buffers": buffers, "loads": loads, "barriers": barriers}


def launched(r, shape, **params):
    """Return what a strict simulation of a kernel says, and its verdict against float64."""
    A, B, C = random_matrices(*shape)
    grid, block = r.launch(*shape, **params)
    run = simulate(r.make(dtype=np.float32, **params))[grid, block](A, B, C)
    return run, judge(C, A.astype(float) @ B.astype(float))


@pytest.mark.parametrize("setting", every(3, SETTINGS), ids=str)
def test_every_setting_computes_the_product(setting):
    """On sizes that no tile divides, without any finding, and with the loads of `tiled`."""
    M, N, K = shape = 45, 37, 67
    run, verdict = launched(prefetch_variants.RUNG, shape, **params(*setting))
    assert run.findings == ()
    assert verdict.correct
    width = setting[0]
    loads = {name: run.traffic.select(space="global", op="load", array=name).accesses for name in "AB"}
    assert loads == {"A": M * K * -(-N // width), "B": K * N * -(-M // width)}


def test_a_setting_without_a_barrier_that_it_needs_is_refused():
    with pytest.raises(ValueError, match="1 buffers, loads 'early' and 1 barriers compute no product"):
        prefetch_variants.RUNG.make(buffers=1, loads="early", barriers=1)


def test_the_refused_setting_races(monkeypatch):
    """The simulator finds what the table of settings leaves out: one buffer needs both barriers."""
    monkeypatch.setattr(prefetch_variants, "SETTINGS", ((1, "early", 1),))
    A, B, C = random_matrices(32, 32, 64)
    kernel = prefetch_variants.prefetch_variants.__wrapped__(8, 1, "early", 1)
    run = simulate(kernel, strict=False)[prefetch_variants.RUNG.launch(32, 32, 64, tile_width=8)](A, B, C)
    assert {finding.kind for finding in run.findings} == {"race"}


@pytest.mark.parametrize("moved", every(99, [(of, loads) for of in prefetching.LARGE for loads in MOVED]), ids=str)
def test_large_tiles_compute_the_product_wherever_their_loads_stand(moved):
    run, verdict = launched(loads_moved(*moved), (130, 260, 44))
    assert run.findings == ()
    assert verdict.correct


@pytest.mark.parametrize("case", every(9, NEW), ids=str)
def test_a_pair_computes_the_product(case):
    """On sizes that no tile divides, without any finding, and with the loads of `tiled`."""
    M, N, K = shape = 45, 37, 67
    run, verdict = launched(case.rung, shape, **case.params)
    assert run.findings == ()
    assert verdict.correct
    loads = {name: run.traffic.select(space="global", op="load", array=name).accesses for name in "AB"}
    assert loads == {"A": M * K * -(-N // 32), "B": K * N * -(-M // 32)}


def test_a_place_outside_of_the_products_is_refused():
    for after in ({"a_after": 8, "b_after": 4}, {"a_after": 0, "b_after": 33}):
        with pytest.raises(ValueError, match="the loads cannot be after"):
            prefetch_places.RUNG.make(tile_width=32, **after)


@pytest.mark.nightly
@pytest.mark.skipif(find_spec("cuda") is None or find_spec("numba_cuda") is None, reason="needs the extra compiler")
@pytest.mark.parametrize("place", prefetching.HELD_PLACES, ids=str)
def test_loads_held_in_cuda_c_compute_the_product(place):
    """One block of the machine code of NVRTC, run without a GPU."""
    given, shape = {"tile_width": 32, "a_after": place[0], "b_after": place[1]}, (64, 64, 96)
    A, B, C = random_matrices(*shape)
    case = prefetching.PrefetchCase(
        cuda_c.in_c(prefetch_places.RUNG), prefetch_places.RUNG.name, "CUDA C", given, shape
    )
    code = predictions.machine_code_of(case, {"shared_bytes": 8192, "filler_bytes": 0, "registers": 32})
    grid, block = prefetch_places.RUNG.launch(*shape, **given)
    run_block(code, (A, B, C, *map(np.int32, shape)), block, grid, names="ABCMNK", pointers=True)
    assert judge(C[:32, :32], A[:32].astype(float) @ B[:, :32].astype(float)).correct


@pytest.mark.nightly
@pytest.mark.skipif(find_spec("cuda") is None or find_spec("numba_cuda") is None, reason="needs the extra compiler")
@pytest.mark.parametrize("restrict", [False, True])
def test_with_the_promise_loads_move_over_a_barrier(restrict):
    """What `__restrict__` changes: the compiler then loads behind the barrier no more, but before most products."""
    given = {"tile_width": 32, "buffers": 1, "loads": "behind", "barriers": 2}
    listing = disassembled(cuda_c.compiled(prefetch_variants.RUNG.name, given, "sm_90", restrict=restrict).code)
    text = [each.text for each in inner_body(MachineCode("", from_listing(listing, {}), 0, 0, 0, 0))]
    assert ("barrier" in page.stand(text)) is not restrict


@pytest.mark.nightly
@pytest.mark.skipif(find_spec("cuda") is None or find_spec("numba_cuda") is None, reason="needs the extra compiler")
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_setting_in_cuda_c_computes_the_product(setting):
    """One block of the machine code of NVRTC, run without a GPU."""
    given, shape = params(*setting), (64, 64, 72)
    width = setting[0]
    A, B, C = random_matrices(*shape)
    case = prefetching.PrefetchCase(
        cuda_c.in_c(prefetch_variants.RUNG), prefetch_variants.RUNG.name, "CUDA C", given, shape
    )
    resources = {"shared_bytes": setting[1] * 2 * 4 * width**2, "filler_bytes": 0, "registers": 32}
    code = predictions.machine_code_of(case, resources)
    grid, block = prefetch_variants.RUNG.launch(*shape, **given)
    run_block(code, (A, B, C, *map(np.int32, shape)), block, grid, names="ABCMNK", pointers=True)
    assert judge(C[:width, :width], A[:width].astype(float) @ B[:, :width].astype(float)).correct


@pytest.mark.parametrize("of", [(RECORDED, prefetching.cases), (BESIDE, prefetching.pairs)], ids=["cases", "pairs"])
def test_every_case_is_recorded_once(of):
    """In the order of the command; nothing was wrong, and all fitted."""
    recording, listed = of
    cases = {(c.rung.name, str({**c.rung.params, **c.params}), c.size[0], c.warps): c for c in listed()}
    timed = [r for r in recording.results if r["rung"] != "cublas"]
    recorded = [(r["rung"], str(r["params"]), r["M"], r["warps"]) for r in timed]
    assert recorded == list(cases)
    assert not [r for r in recording.results if "wrong" in r or "skipped" in r]


@pytest.mark.parametrize("recording", [RECORDED, BESIDE], ids=["cases", "pairs"])
def test_speeds_follow_from_the_repeats_of_kernels_that_were_right(recording):
    for r in recording.results:
        assert r["gflops"] == pytest.approx(model.flop(*(r[k] for k in "MNK")) / np.median(r["milliseconds"]) / 1e6)
        assert r.get("relative_error", 0) <= TOLERANCE["float32"]
        assert r.get("ragged_error", 0) <= TOLERANCE["float32"]


def test_equal_warps_are_equal():
    """The driver held as many blocks as asked for, with equal bytes of shared memory, whatever the switches."""
    held = {}
    for r in TIMED:
        if r["warps"]:
            width = r["params"]["tile_width"]
            assert r["blocks_per_multiprocessor"] * width**2 == 32 * r["warps"]
            assert 0.9 * r["warps"] - 1 <= r["warps_active"] <= r["warps"]  # whole ones, over time
            held.setdefault((width, r["warps"]), set()).add(r["shared_bytes"])
    assert len(held) == 14
    assert {len(sizes) for sizes in held.values()} == {1}


def test_the_page_is_that_of_the_recordings():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(RECORDED, PREDICTED, BESIDE), (
        "run tools/prefetching_page.py"
    )


def test_the_first_table_has_the_medians_of_the_repeats():
    """Read from the page, and computed without the code that wrote it."""
    text = page.PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (\w+) \| (\d) \| (.*) \|$", text, re.MULTILINE)[: len(prefetch_variants.SETTINGS)]
    columns = [(language, width) for language in ("numba", "CUDA C") for width in (8, 16, 32)]
    assert len(rows) == 9
    for buffers, loads, barriers, cells in rows:
        for (language, width), cell in zip(columns, cells.split(" | "), strict=True):
            setting = params(width, int(buffers), loads, int(barriers))
            (r,) = (r for r in TIMED if r["params"] == setting and r["language"] == language and r["warps"] == 64)
            assert int(cell.replace(",", "")) == round(2 * 4096**3 / np.median(r["milliseconds"]) / 1e6)


def test_what_the_page_says_in_words_holds():
    """Gains stay below what is free, the second buffer hides nothing, and copies need more wavefronts."""
    rows = page.slots(FOUND, page.Found(PREDICTED))
    assert all(row["gain"] < row["most"] for row in rows)
    assert page.ranks(rows, "empty") < page.ranks(rows, "room")
    of = {name: [one for one, _ in pairs] for name, pairs in page.steps(FOUND, FOUND, page.MANY).items()}
    names = ("behind", "behind 2", "late", "buffer", "barrier", "both", "copied", "buffer behind", "barrier late")
    of = dict(zip(names, of.values(), strict=True))
    assert max(of["buffer"]) < 1.005 < min(of["behind"])
    assert min(of["barrier late"]) < 0.9  # in CUDA C, the second load is nearly last
    assert min(of["barrier"]) > 1
    assert max(of["copied"]) < 0.96
    for loads, stalls in (("early", (0, 0.02)), ("half", (0, 0.02)), ("behind", (0.1, 1))):
        for of in prefetching.LARGE:
            assert stalls[0] <= page.share(FOUND.large(of, loads, 4096), "long_scoreboard") <= stalls[1]
    assert all(row["room"] < row["empty"] for row in rows)
    assert max(row["gain"] for row in rows if (row["width"], row["warps"]) == (8, 48)) < 1.005
    for language in prefetching.LANGUAGES:
        one, two = (FOUND.variant(language, 32, setting, None)["loop"] for setting in (page.EARLY, page.TWO_BUFFERS))
        added = {kind: two["kinds"][kind] - one["kinds"][kind] for kind in two["kinds"]}
        assert added == {**dict.fromkeys(added, 0), "address": two["instructions"] - one["instructions"]}
    for suffix in ("", "_unsigned", "_c"):
        tiled, ahead = (FOUND.ladder(f"{name}{suffix}", 32, 4096) for name in ("tiled", "prefetched"))
        assert ahead["instructions"] > tiled["instructions"]
        assert page.speed(ahead) > page.speed(tiled)
    second = {s: page.stand(FOUND.variant("CUDA C", 32, s, None)["loop"]["code"]) for s in prefetch_variants.SETTINGS}
    assert {s for s, place in second.items() if "barrier" in place} == {page.BEHIND, page.TWO_BEHIND}
    nearer = {s: int(place.split()[-1]) <= 4 for s, place in second.items() if "barrier" not in place}
    waits = {s: page.share(FOUND.variant("CUDA C", 32, s, 32), "long_scoreboard") for s in nearer}
    assert max(waits[s] for s in nearer if nearer[s]) < min(waits[s] for s in nearer if not nearer[s])
    few = next(iter(page.steps(FOUND, page.Found(PREDICTED), page.FEW).values()))
    assert all(predicted > measured for measured, predicted in few[:3])
    before, after = (partial(FOUND.variant, warps=None, setting=s) for s in (page.ONE_BARRIER, page.COPIED))
    for language, width in page.columns():
        assert after(language, width)["l1_wavefronts"] > 1.1 * before(language, width)["l1_wavefronts"]
        path = [each(language, width)["l1_wavefronts_percent"] for each in (before, after)]
        assert (path[1] > path[0]) == ((language, width) == ("numba", 32))


def kinds_of(result):
    return PAIRS.loop(result)["kinds"]


def test_held_loads_differ_in_their_place_alone():
    """Kernels of a language have the instructions of each other, by kind, and as many registers and blocks."""
    for language, exceptions in (("numba", ()), ("CUDA C", ((32, 32),))):
        held = {
            place: PAIRS.placed(language, place, 32) for place in prefetching.HELD_PLACES if place not in exceptions
        }
        kinds = [{**kinds_of(r), "other": 0} for r in held.values()]
        assert all(each == kinds[0] for each in kinds)
        assert len({kinds_of(r)["other"] for r in held.values()}) <= 2
        assert {r["blocks_per_multiprocessor"] for r in held.values()} == {1}
        assert {r["registers"] for r in held.values()} <= {31, 32}
        for r in held.values():
            code = PAIRS.loop(r)["code"]
            assert [text.split()[0] for text in code].count("NOP") == 4  # the barriers of the warp
            assert not [text for text in code if "WARPSYNC" in text]


def test_what_the_page_says_of_places_holds():
    """The gain follows the place and not the language; with the place held, the indices change nothing."""
    for language in prefetching.LANGUAGES:
        ordered = [page.speed(PAIRS.placed(language, (k, k), 32)) for k in range(8, 33, 4)]
        assert ordered == sorted(ordered, reverse=True)
        for later, both in (((0, 4), (4, 4)), ((0, 8), (8, 8)), ((16, 28), (28, 28)), ((16, 32), (32, 32))):
            assert page.speed(PAIRS.placed(language, later, 32)) == pytest.approx(
                page.speed(PAIRS.placed(language, both, 32)), rel=0.02
            )
    early = {language: PAIRS.switched(language, page.EARLY, 32) for language in prefetching.LANGUAGES}
    assert PAIRS.after(early["numba"]) == "16 and 30"
    assert PAIRS.after(early["CUDA C"]) == "0 and 4"

    def made(of, first, index, held=""):
        (result,) = (r for r in BESIDE.results if r["rung"] == f"{of}_{first}_{index}{held}")
        return page.speed(result)

    for index in ("uint64", "uint32"):
        assert made("prefetched", "before", index) < 0.96 * made("prefetched", "inside", index)
        assert made("prefetched", "before", index, "_held") > 1.08 * made("prefetched", "inside", index, "_held")
    for first in ("inside", "before"):
        assert made("prefetched", first, "uint32", "_held") == pytest.approx(
            made("prefetched", first, "uint64", "_held"), rel=0.005
        )
    switched = PAIRS.switched("numba", page.ONE_BARRIER, None)
    assert made("prefetched", "inside", "uint64") > page.speed(switched)
    held = PAIRS.one(rung="prefetch_variants_held")
    assert made("prefetched", "inside", "uint64") < page.speed(held)
    assert kinds_of(held) == kinds_of(switched)
    code = [
        text.split()[1 if text.startswith("@") else 0][:3]
        for text in PAIRS.loop(PAIRS.one(rung="tiled_before_uint32"))["code"]
    ]
    assert [name for name in code if name in ("LDG", "STS")] == ["LDG", "STS", "LDG", "STS"]
    assert {
        name: "barrier" in PAIRS.after(PAIRS.one(rung=name)) for name in ("tiled_before_uint32", "tiled_before_uint64")
    } == {
        "tiled_before_uint32": True,
        "tiled_before_uint64": True,
    }
    for warps in (32, 64):
        behind, early_c = (PAIRS.switched("CUDA C", setting, warps) for setting in (page.BEHIND, page.EARLY))
        (promise,) = (r for r in BESIDE.results if r["rung"] == "prefetch_variants_c_restrict" and r["warps"] == warps)
        assert page.speed(promise) == pytest.approx(page.speed(early_c), rel=0.005)
        assert kinds_of(promise) == kinds_of(behind)
