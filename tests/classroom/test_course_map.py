"""The map of the ladder: every measured rung on it, in the order of the lessons, with figures that can be traced."""

import re
import shutil

import pytest

from course_lib.classroom.course_map import course_map, ladder
from course_lib.kernels import LADDER
from course_lib.machine import measurements
from course_lib.machine.measurements import IMPROVED
from course_lib.machine.model import loads_per_output
from tools.report import measured


@pytest.fixture(scope="module")
def steps():
    return course_map().steps


def test_every_measured_rung_is_explained_by_a_lesson(steps):
    known = {rung.name for rung in LADDER}
    names = [r["rung"] for r in measured(measurements.load("ladder")) if r["rung"] in known]
    assert sorted(step.rung for step in steps) == sorted([*names, IMPROVED])


def test_the_lessons_come_in_order(steps):
    assert [step.lesson for step in steps] == sorted(step.lesson for step in steps)


def test_figures_are_the_recordings_and_the_closed_forms(steps):
    n = 4096
    counters, ladder = measurements.load("counters"), measurements.load("ladder")
    for step in steps:
        right = step.rung == IMPROVED
        assert step.speed == (measurements.load("variants") if right else ladder).result(step.rung)["gflops"]
        if step.sectors is not None:
            counted = measurements.load("variants").result(IMPROVED) if right else counters.result(step.rung, M=n)
            assert step.sectors * n**2 == counted["global_load_sectors"]
    by_name = {step.rung: step for step in steps}
    assert by_name["naive"].loads == 2 * n
    assert by_name["tiled"].loads == loads_per_output(n, n, n, 32) == 2 * n / 32
    assert by_name["best"].loads == loads_per_output(n, n, n, 128, 256)
    assert by_name["per_row"].sectors is None


def test_the_tile_is_compared_with_its_fair_neighbour(steps):
    """Straight after `naive` comes the same with one change to its indices and one to its loop, then the tile."""
    place = [step.rung for step in steps].index("naive")
    (naive, right, tiled), variants = steps[place : place + 3], measurements.load("variants")
    assert (naive.rung, right.rung, tiled.rung) == ("naive", IMPROVED, "tiled")
    assert (naive.speeds.written, right.speeds.written) == (measurements.load("ladder").result("naive")["gflops"], None)
    assert naive.speeds.unsigned == variants.result("naive_uint64_left")["gflops"]
    assert right.speeds.unsigned == variants.result("naive_uint64_32")["gflops"]
    assert tiled.speeds.unsigned == variants.result("tiled_unsigned")["gflops"]
    assert [step.speeds.c for step in (naive, right, tiled)] == [
        variants.result(name)["gflops"] for name in ("naive_c", "naive_c_unroll_32", "tiled_c")
    ]
    assert 1.25 < tiled.speeds.unsigned / right.speeds.unsigned < 1.35


def test_without_variants_there_are_only_the_speeds_of_the_ladder(tmp_path):
    shutil.copytree(measurements.folder_of("nvidia-h100"), tmp_path, dirs_exist_ok=True)
    (tmp_path / "variants.json").unlink()
    steps = course_map(tmp_path).steps
    assert IMPROVED not in [step.rung for step in steps]
    assert {(step.speeds.unsigned, step.speeds.c) for step in steps} == {(None, None)}


def test_a_lesson_that_an_edition_leaves_out_is_no_link(steps, tmp_path, monkeypatch):
    (tmp_path / "02_naive.ipynb").touch()
    monkeypatch.setattr("course_lib.classroom.lessons.home", lambda: tmp_path)
    links = re.findall(r"\(([^)]*\.ipynb)\)", course_map().markdown())
    assert set(links) == {"02_naive.ipynb"} and "| 04 tiling |" in course_map().markdown()


def test_the_ladder_shows_the_kernels_up_to_a_rung_and_the_last(steps):
    """Between them no figure is shown: later lessons ask for it."""
    names = [step.rung for step in steps]
    for rung in ("", "per_row", "naive", IMPROVED, "tiled", "best"):
        shown = repr(ladder(rung))
        end = names.index(rung or "per_row")
        for place, step in enumerate(steps):
            assert (f"{step.title}: " in shown) == (place <= end or place == len(names) - 1), step.rung
    speeds = measurements.load("variants").result("tiled_unsigned")["gflops"], steps[-1].speed
    assert all(f": {speed:,.0f}" in repr(ladder("tiled")) for speed in speeds)
    assert f"One thread per element: {measurements.load('ladder').result('naive')['gflops']:,.0f};" in repr(
        ladder("naive")
    )
    with pytest.raises(ValueError, match="no 'tilde' on the ladder; its kernels are per_row, "):
        ladder("tilde")


def test_the_ladder_of_a_gpu_without_variants(tmp_path):
    shutil.copytree(measurements.folder_of("nvidia-h100"), tmp_path, dirs_exist_ok=True)
    (tmp_path / "variants.json").unlink()
    assert f"{measurements.load('ladder', tmp_path).result('tiled')['gflops']:,.0f}" in repr(ladder("tiled", tmp_path))
