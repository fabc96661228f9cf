"""What was measured of an exercise: told after a right answer, all of it, and with the reason where one is needed."""

import re
from itertools import groupby

import pytest
from exercises.test_exercises import kernel_from, solutions

from course_lib.exercises import EXERCISES, check, measured
from course_lib.machine import measurements

RECORDING = measurements.load(measured.RECORDING)
NAMES = tuple(dict.fromkeys(result["exercise"] for result in RECORDING.results))
#: A version that does without what the exercise asks for, and is slower by less than this, does not show what it saves.
SEEN = 1.02
EMPTY = "a kernel that does nothing"


def launches(name):
    """The launches of an exercise: for each, {version: its result}."""
    found = [result for result in RECORDING.results if result["exercise"] == name]
    return [{r["params"]["version"]: r for r in same} for _, same in groupby(found, key=measured.launch_of)]


def ms(launch, version="answer"):
    return launch[version]["median"]


def counted(launch, what, version="answer"):
    return launch[version]["counted"][what]


def says(name, *figures):
    """Whether the reason names these figures, in this order."""
    return bool(re.search(".*".join(rf"(?<![\d.,]){figure}(?!\d)" for figure in figures), EXERCISES[name].why))


def test_a_right_answer_is_told_how_long_it_takes_and_a_wrong_one_is_not(tmp_path):
    source = solutions()["too-deep"]
    right = check("too-deep", kernel_from(source, tmp_path))
    wrong = check("too-deep", kernel_from(source.replace("range(TILE)", "range(TILE - 1)"), tmp_path))
    assert right.passed and right.remarks == measured.remarks(EXERCISES["too-deep"])
    assert not wrong.passed and not wrong.remarks
    assert not measured.remarks(EXERCISES["gram"])


@pytest.mark.parametrize("name", NAMES)
def test_each_time_is_told_with_its_gpu_its_sizes_and_its_block(name):
    assert RECORDING.provenance["gpu"] == measurements.load("ladder").provenance["gpu"], "the GPU of the lessons"
    said = measured.remarks(EXERCISES[name])
    for remark, launch in zip(said, launches(name), strict=False):
        assert RECORDING.provenance["gpu"] in remark
        assert "×".join(map(str, launch["answer"]["block"])) in remark
        for size, value in launch["answer"]["params"]["sizes"].items():
            assert size in remark and f"= {value:,}" in remark
        for version, result in launch.items():
            assert version == "answer" or version in remark
            assert f"{result['median']:#.3g}" in remark
    assert said[len(launches(name)) :] == ((EXERCISES[name].why,) if EXERCISES[name].why else ())


@pytest.mark.parametrize("name", NAMES)
def test_a_time_that_does_not_show_what_an_exercise_saves_is_explained(name):
    hidden = [
        version
        for launch in launches(name)
        for version in launch
        if version not in ("answer", EMPTY) and ms(launch, version) < SEEN * ms(launch)
    ]
    assert EXERCISES[name].why or not hidden


def four_neighbours(narrow, wide):
    others, sectors = "four neighbours each", "global_load_sectors"
    for version in ("answer", others):
        assert abs(ms(narrow, version) / ms(narrow, EMPTY) - 1) < 0.02, "as long as one that does nothing"
        assert ms(wide, version) > 3 * ms(wide, EMPTY), "not so in blocks of eight warps"
    assert wide["answer"]["grid"][0] * 8 == narrow["answer"]["grid"][0], "an eighth of the blocks"
    assert counted(wide, sectors, others) == 4 * counted(wide, sectors), "four times as many sectors"
    assert 1.85 < ms(wide, others) / ms(wide) < 2, "nearly twice as long"


def no_tile(narrow, wide):
    other, sectors = "no tile, stores down the columns", "global_store_sectors"
    for version in ("answer", other):
        assert abs(ms(narrow, version) / ms(narrow, EMPTY) - 1) < 0.02, "as long as one that does nothing"
    assert 1e6 < narrow["answer"]["grid"][0] * narrow["answer"]["grid"][1] < 1.1e6, "a million blocks"
    assert counted(wide, sectors, other) == 8 * counted(wide, sectors), "eight times as many sectors"
    assert ms(wide, other) > 1.5 * ms(wide), "take longer"


def lanes(launch):
    at_once, conflicts = "every lane beginning at the same element", "the kernel with conflicts"
    wavefronts, instructions, conflicting = "shared_load_wavefronts", "instructions", "shared_load_requests"
    assert abs(counted(launch, instructions, at_once) / counted(launch, instructions) - 1) < 0.02, (
        "as many instructions"
    )
    assert 31 < counted(launch, wavefronts, at_once) / counted(launch, conflicting, at_once) < 33, "32-way conflicts"
    assert counted(launch, wavefronts) < 1.01 * counted(launch, conflicting), "the solution has none"
    assert ms(launch, at_once) > 1.3 * ms(launch)
    assert ms(launch, conflicts) < ms(launch), "faster than both"
    assert counted(launch, conflicting, conflicts) * 4 == counted(launch, conflicting), "four elements, one instruction"
    assert 0.24 < counted(launch, wavefronts, conflicts) / counted(launch, wavefronts, at_once) < 0.26, "a quarter"
    assert 0.5 < counted(launch, instructions, conflicts) / counted(launch, instructions) < 0.6, "little more than half"
    masked = "& 31 for % 32"
    assert 0.5 < counted(launch, instructions, masked) / counted(launch, instructions) < 0.62, "saves as many"

    def waiting(version):  # for numbers from A, in warps times cycles
        return counted(launch, "stalled_long_scoreboard_percent", version) * counted(launch, instructions, version)

    assert waiting(masked) > 3 * waiting("answer"), "the warps wait longer for them"
    assert ms(launch, "padded") < ms(launch, conflicts)
    assert counted(launch, wavefronts, "padded") < 1.01 * counted(launch, conflicting), "padding avoids the conflicts"


def exchange(narrow, wide):
    same, unsigned = "columns not exchanged", "unsigned indices"
    assert 2 < ms(narrow, same) / ms(narrow) < 2.3, "halves the time"
    ratio = counted(wide, "instructions") / counted(wide, "instructions", unsigned)
    assert 5.5 < ratio < 6.5, "six times as many instructions"
    assert 3 < ms(wide, f"{unsigned}, {same}") / ms(wide, unsigned) < 3.5, "three times as fast"


def shared_reads(launch):
    each, one = "each element read for each product", "one result a thread"
    for what in ("instructions", "shared_load_requests"):
        assert counted(launch, what, each) == counted(launch, what), "the same instructions"
    products = 4096**3 / 32  # of a warp
    assert 0.99 < counted(launch, "shared_load_requests") / products < 1.01, "one for each product"
    assert 1.99 < counted(launch, "shared_load_requests", one) / products < 2.01, "two"
    assert 1.85 < ms(launch, one) / ms(launch) < 2, "nearly twice as long"


def one_iteration(long, short, wide):
    iterations = [
        launch["answer"]["params"]["sizes"]["K"] // launch["answer"]["block"][0] + 1 for launch in (long, short, wide)
    ]
    assert iterations == [513, 5, 2] and says("last-iteration", *iterations)
    other = "stores and waits in the last iteration, too"
    shares = [round(100 * (1 - ms(launch) / ms(launch, other))) for launch in (long, short, wide)]
    assert shares[0] == 0 and says("last-iteration", *(f"{share} %" for share in shares[1:]))


def one_loop(narrow, wide, short):
    two, counters = "one tile after the other", "counters instead of divisions"
    iterations = [
        2 * (launch["answer"]["params"]["sizes"]["K"] // launch["answer"]["block"][0] + 1)
        for launch in (narrow, wide, short)
    ]
    assert iterations == [1026, 258, 6] and says("across-tiles", *(f"{n:,}" for n in iterations))
    for launch in (narrow, wide, short):
        share = counted(launch, "instructions", counters) / counted(launch, "instructions")
        assert share < 2 / 3, "at least a third fewer instructions"
    assert says("across-tiles", f"{1 - ms(wide, counters) / ms(wide, two):.0%}".replace("%", " %"))
    assert 0.19 < 1 - ms(short, counters) / ms(short, two) < 0.22, "by a fifth"
    assert ms(narrow, two) < ms(narrow, counters), "two loops remain faster"
    fewer = 1 - counted(narrow, "instructions", two) / counted(narrow, "instructions", counters)
    assert 0.23 < fewer < 0.27, "a quarter fewer instructions"


#: What each `why` says, checked against what was recorded.
CLAIMS = {
    "side-by-side": four_neighbours,
    "turn-a-tile": no_tile,
    "skewed": lanes,
    "swizzle": exchange,
    "two-by-two": shared_reads,
    "last-iteration": one_iteration,
    "across-tiles": one_loop,
}


@pytest.mark.parametrize("name", [e.name for e in EXERCISES.values() if getattr(e, "why", "")])
def test_what_a_reason_says_was_recorded(name):
    CLAIMS[name](*launches(name))
