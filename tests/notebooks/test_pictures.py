"""What the lessons' pictures say, compared with the recordings themselves, NumPy, or a count by other code."""

import ast
import inspect
import json
import statistics
from math import prod
from pathlib import Path

from course_lib.kernels.variants import naive_variant

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "course_lib" / "machine" / "measurements" / "nvidia-h200"


def _said(lesson, cell):
    """The text that a cell has stored, of a picture or printed."""
    (path,) = (ROOT / "notebooks").glob(f"{lesson}_*.ipynb")
    (found,) = (c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["id"] == cell)
    return "".join(
        "".join(output.get("text") or output.get("data", {}).get("text/plain", [])) for output in found["outputs"]
    )


def _results(name):
    return json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))["results"]


def _gflops(rung):
    """From the recorded milliseconds of the ladder's launches."""
    (recorded,) = (r for r in _results("ladder") if r["rung"] == rung)
    return 2 * 4096**3 / statistics.median(recorded["milliseconds"]) / 1e6


def test_the_ladder_of_lesson_0_shows_the_recorded_speeds_of_two_kernels():
    """The first and the last; the others are asked for later."""
    _, bars = _said("00", "ladder-picture").split("\n", 1)
    first, last = f"One thread per row: {_gflops('per_row'):,.0f}", f"All together, tuned: {_gflops('best'):,.0f}"
    assert bars.strip() == f"{first}; {last} (GFLOP/s, n = 4,096)."


def test_the_bound_of_lesson_2_is_a_quarter_of_the_recorded_bandwidth():
    """A step of the loop has 2 flop for 8 bytes."""
    (copy,) = (r for r in _results("ceilings") if r["ceiling"] == "copy")
    assert f"bound: {copy['bytes_per_second'] * 2 / 8 / 1e9:,.0f} GFLOP/s" in _said("02", "bandwidth")


def test_the_improved_kernel_of_lesson_2_is_the_one_that_was_measured():
    """Its source is that of the variant, whose recorded speed and count of requests the lesson shows beside naive's."""
    (path,) = (ROOT / "notebooks").glob("02_*.ipynb")
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
    source = inspect.getsource(naive_variant("uint64", 32).make().py_func)
    shown, measured = (
        next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
        for text in (cells["improved-kernel"], source)
    )
    assert ast.dump(ast.Module(shown.body, [])) == ast.dump(ast.Module(measured.body[1:], []))
    recorded = {r["rung"]: r for r in reversed(_results("variants")) if "rung" in r}  # blocks of 32×32 come first
    naive, right = recorded["naive_signed_left"], recorded["naive_uint64_32"]
    assert right["global_load_requests"] == naive["global_load_requests"]
    assert f"answer: {right['gflops'] / naive['gflops']:.3f} " in _said("02", "predict-improved")


def test_the_pictures_with_sliders_say_what_the_rules_give():
    """Lesson 6: 32 neighbours are 128 bytes. Lesson 9: 65,536 registers. Lesson 12: three kernels in a row."""
    assert f"in {128 // 32} sectors of 32 bytes" in _said("06", "sectors-sliders")
    assert f"{65536 // (256 * 64)} blocks of {256 // 32} warps, limited by registers" in _said(
        "09", "occupancy-sliders"
    )
    said = _said("12", "queue-sliders")
    assert f"no synchronise {3 * 20} µs, synchronise {20 + 3 * 100} µs" in said


def test_the_races_of_lessons_3_4_and_9_spoil_the_rows_of_the_other_warp():
    """By arithmetic: a warp stores 4 of 8 rows, so half of the other one's 8 reads get a wrong number."""
    wrong, right = "warp 0 4 of 8, warp 1 0 of 8", "warp 0 0 of 8, warp 1 0 of 8"
    said = _said("03", "race-picture")
    assert f"without a barrier: reads of B_shared that get a wrong number: {wrong}" in said
    assert f"with a barrier: reads of B_shared that get a wrong number: {right}" in said
    said = _said("04", "race-picture")
    assert "without the second barrier: reads of B_tile that get a wrong number: warp 0 0 of 16, warp 1 4 of 16" in said
    said = _said("05", "race-picture")  # one buffer: also in the iteration that stores what comes after the last pair
    assert "buffers: 1: reads of B_tiles that get a wrong number: warp 0 0 of 16, warp 1 8 of 16" in said
    assert "buffers: 2: reads of B_tiles that get a wrong number: warp 0 0 of 16, warp 1 0 of 16" in said


def test_the_register_tiles_of_lesson_7_hold_what_the_blocks_share_out():
    said = _said("08", "tiles-picture")
    for label, side, threads, results in (("2×2", 16, 64, 4), ("8×8", 128, 256, 64)):
        assert side * side == threads * results
        warp = f"a block computes {side}×{side} elements, warp 0 {32 * results} of them, thread 0 {results}"
        assert f"{label} results: {warp}" in said


def test_the_waves_of_lesson_13_are_those_of_the_recorded_grids():
    recorded = {(r["rung"], r["M"]): r["grid"] for r in _results("series") if "grid" in r}
    for n in (1024, 2048, 4096):
        tiles = prod(recorded["best", n])
        assert f"{n:6} {tiles:7} {tiles / (132 * -(-tiles // 132)):6.1%}" in _said("13", "waves-table")
