"""The model of the compiler compared with the compiler's own code: instructions of an iteration, waits, and plays."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from nightly import NIGHTLY, at_night

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.machine import measurements, waiting
from course_lib.machine.waiting.idioms import COMPARE, SUM, idiom
from course_lib.machine.waiting.instructions import Instruction, programs
from course_lib.machine.waiting.machine_code import machine_programs
from course_lib.machine.waiting.predictions import residency
from course_lib.machine.waiting.scheduling import AHEAD, Schedule

RECORDED = measurements.load("machine_code")
H200 = waiting.Machine.measured(measurements.load("latencies"))
TILES = [(name, {"tile_width": T}) for name in ("tiled", "prefetched") for T in (8, 16, 32)]
COPIES = [("pipelined", {"tile_width": T, "stages": 3}) for T in (8, 16, 32)]
DAY = [case for case in (*TILES, *COPIES) if case[1]["tile_width"] == 16]
NIGHT = [at_night(*case) for case in (*TILES, *COPIES) if case not in DAY]
LATE = [(name, {"tile_width": 32}) for name in ("padded", "bank_conflicts")]


@cache
def both(name, **params):
    """Return a warp's iteration in the middle of the loop: of the source, and of the compiler's code."""
    r = rung(name)
    M, N = r.tile(**params)
    depth = 6 * params["tile_width"]
    A, B = np.ones((M, depth), np.float32), np.ones((depth, N), np.float32)
    kernel = r.make(**params)
    grid, block = r.launch(M, N, depth, **params)
    trace = simulate(kernel, trace=True)[grid, block](A, B, np.zeros((M, N), np.float32)).trace
    lowered = programs(kernel, trace)
    code = next(c for c in RECORDED.results if (c["rung"], c["params"]) == (name, params))["code"]
    return [
        [i for i in program[0] if i.iteration == iteration]
        for program, iteration in ((lowered, 3), (machine_programs(code, lowered, H200), 3))
    ]


@pytest.mark.parametrize(("name", "params"), [*DAY, *NIGHT, *(at_night(*case) for case in LATE)])
def test_an_iteration_issues_what_the_compilers_does(name, params):
    """The counts agree within 5 %; those of each kind within a quarter, or within three."""
    source, code = both(name, **params)
    assert len(source) == pytest.approx(len(code), rel=0.05)
    kinds = [Counter(i.kind for i in iteration) for iteration in (source, code)]
    for kind in ("load", "copy", "shared load", "shared store", "multiply-add", "barrier", "wait", "branch"):
        assert kinds[0][kind] == kinds[1][kind], kind
    for kind in ("integer", "multiply", "uniform", "constant", "other"):
        assert kinds[0][kind] == pytest.approx(kinds[1][kind], rel=0.25, abs=3), kind


def words_ahead(iteration):
    """Return the words loaded from shared memory and not used yet, before each multiply-add, on average."""
    held, seen = 0, []
    for instruction in iteration:
        if instruction.kind == "shared load":
            held += instruction.bytes // 4
        elif instruction.kind == "multiply-add":
            seen.append(held)
            held -= 2
    return np.mean(seen[:-4])


@pytest.mark.parametrize(("name", "params"), [*DAY, *NIGHT])
def test_as_much_is_loaded_ahead_as_the_compiler_does(name, params):
    """Both agree within two words, of 5 to 9: a multiply-add uses one of A and one of B."""
    source, code = both(name, **params)
    assert words_ahead(source) == pytest.approx(words_ahead(code), abs=2)


FEWEST = {8: 2, 16: 8, 32: 32}
MOST = 64
#: The widths and warps that are played: by day few warps, of which the players have little to do.
CASES = [(T, warps) for T, fewest in FEWEST.items() for warps in (fewest, MOST) if NIGHTLY or warps <= 8]


@pytest.fixture(scope="module")
def judged():
    """Return predictions of the source and of the code for the fewest and the most warps of each width."""

    def chosen(items, label):
        for r in items:
            T = r["params"].get("tile_width")
            if r["params"].get("stages", 3) == 3 and (T, r["warps"]) in CASES:
                yield r

    return {(r["rung"], r["params"]["tile_width"], r["warps"]): r for r in residency(chosen, "cached")}


@pytest.mark.parametrize(("T", "warps"), CASES)
@pytest.mark.parametrize(("name", "within"), [("tiled", 0.08), ("prefetched", 0.08), ("pipelined", 0.1)])
def test_source_plays_like_the_compilers_code(judged, name, within, T, warps):
    """Few warps show the chains of instructions; many warps compete for issue slots."""
    r = judged[name, T, warps]
    assert r["predicted"] == pytest.approx(r["predicted_by_code"], rel=within)


def test_the_source_says_whether_prefetching_pays(judged):
    """The model agrees with measurements, for few and many warps, wherever prefetching changes the speed by 3 %."""
    for case in CASES:
        ratio = {
            key: judged["prefetched", *case][key] / judged["tiled", *case][key] for key in ("predicted", "measured")
        }
        if abs(ratio["measured"] - 1) > 0.03:
            assert (ratio["predicted"] > 1) == (ratio["measured"] > 1), case


def test_the_recorded_predictions_are_the_models(judged):
    """Recorded and recomputed predictions agree, with matrices in the second-level cache; nightly also without it."""
    recorded = {
        (r["what"], r["rung"], r["params"]["tile_width"], r["warps"]): r
        for r in measurements.load("waiting").results
        if r["what"] in ("cached", "residency") and r["params"].get("stages", 3) == 3 and "tile_width" in r["params"]
    }

    def chosen(items, label):
        return [r for r in items if (r["rung"], r["params"].get("tile_width"), r["warps"]) == ("tiled", 16, 32)]

    now = {("cached", *case): r for case, r in judged.items()}
    if NIGHTLY:
        now["residency", "tiled", 16, 32] = residency(chosen)[0]
    assert len(now) == (19 if NIGHTLY else 6)
    for case, r in now.items():
        for key in ("predicted", "predicted_by_code"):
            assert r[key] == pytest.approx(recorded[case][key]), case


def scheduled(parts, *after, fills=()):
    """Return the program of an idiom and the instructions after it, in the compiler's order."""
    schedule = Schedule()
    region = [Instruction(part.kind, 0, part.needs) for part in parts]
    schedule.latency = {place: part.latency for place, part in enumerate(parts) if part.latency}
    schedule.holds = {place: part.holds for place, part in enumerate(parts) if part.holds > 1}
    schedule.fills = set(fills)
    schedule.put(dict(enumerate([*region, *after])), whole=True)
    return schedule.out


def test_paces_hold_what_the_compiler_knows():
    """A sum has 5 cycles, the comparison of its other half 4 more, the branch on it 13 more and 5 itself."""
    assert [part.kind for part in (*SUM, *COMPARE)] == ["integer"] * 4
    chain = idiom("a IADD3; b IADD3.X a; c ISETP b; d ISETP.EX c; e BRA d")
    assert [i.pace for i in scheduled(chain)] == [5, 5, 4, 13, 5]
    assert all(i.needs == () for i in scheduled(chain)), "what is in the paces a warp need not wait for by itself"


def test_what_is_not_known_is_waited_for():
    """The latency of an argument is unknown, so no pace contains it."""
    out = scheduled(idiom("a LDC; b IADD3 a"))
    assert [(i.kind, i.needs, i.pace) for i in out] == [("constant", (), 1), ("integer", (0,), 1)]


def test_gaps_are_filled():
    """The compiler puts loop overhead between the links of a chain, without additional cycles."""
    chain, loop = "a IADD3; b IADD3.X a; c IADD3 b", "u UIADD3; v UIADD3.X u"
    alone, filled = scheduled(idiom(chain)), scheduled(idiom(f"{chain}; {loop}"), fills=(3, 4))
    assert [i.kind for i in filled][:2] == ["integer", "uniform"]
    assert sum(i.pace for i in filled[:-1]) <= sum(i.pace for i in alone)


def test_loads_go_ahead_as_far_as_there_are_registers():
    """Of single words AHEAD are loaded before the first is used, of four words two loads."""
    for size in (4, 16):
        count = 4 * AHEAD // size
        region = []
        for _ in range(4 * count):
            load = len(region)
            region.append(Instruction("shared load", 0, bytes=size))
            region += [Instruction("multiply-add", 0, (load,))] * (size // 4)
        schedule = Schedule()
        schedule.put(dict(enumerate(region)), whole=True)
        kinds = [i.kind for i in schedule.out]
        assert kinds.index("multiply-add") == count
        assert Counter(kinds) == Counter(i.kind for i in region)


def test_a_multiply_add_reads_three_operands_unless_one_is_kept():
    """Two of the three come from one bank; of eight that share an element seven read two, one from each bank."""
    loads = [Instruction("shared load", 0), Instruction("shared load", 0)]
    apart = [*loads, Instruction("multiply-add", 0, (0, 1))]
    shared = [loads[0], *loads, *(Instruction("multiply-add", 0, (0, 1)) for _ in range(8))]
    for region, reads in ((apart, {3: 1}), (shared, {2: 7, 3: 1})):
        schedule = Schedule()
        schedule.put(dict(enumerate(region)), whole=True)
        assert Counter(sum(i.reads) for i in schedule.out if i.kind == "multiply-add") == reads
