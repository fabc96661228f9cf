"""Kilobytes that a reader loads: pictures and states of widgets, and the stored outputs of the largest lesson."""

import json
from pathlib import Path

from launches import samples

from course_lib.machine import figures, measurements, sliders, timing_model
from course_lib.machine.sliders.widget import recorded
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.payload import encode

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def kilobytes(text: str | bytes) -> float:
    return len(text) / 1000


def picture(widget: object) -> str:
    """Return the HTML that stands for a widget which does not run."""
    return widget._repr_mimebundle_()[0]["text/html"]


def bench_stepper(measured):
    measured("picture of a stepper", kilobytes(picture(Stepper(samples.launch("tiled")))), 60, "kB")
    measured("size of the trace of best", kilobytes(encode(samples.launch("best").trace)), 1200, "kB")


def bench_waiting(measured):
    widget = timing_model.Waiting(timing_model.Multiprocessor.measured(measurements.load("latencies")))
    measured("picture of Waiting", kilobytes(picture(widget)), 60, "kB")
    measured("plan of Waiting", kilobytes(widget._plan), 100, "kB")


def bench_sliders(measured):
    widget = sliders.sectors(2, 1)
    measured("picture of a slider", kilobytes(picture(widget)), 25, "kB")
    measured("all settings of a slider", kilobytes(recorded(widget.get_state())["_sketches"]), 120, "kB")


def bench_figure(measured):
    measured("figure", kilobytes(figures.show(figures.tile_pairs(4, 4, 4, 2, (1, 1))).png), 60, "kB")


def bench_outputs(measured):
    sizes = {}
    for path in NOTEBOOKS.glob("[0-9]*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sizes[path.stem] = kilobytes(json.dumps([cell.get("outputs", []) for cell in cells]))
    largest = max(sizes, key=sizes.__getitem__)
    measured(f"outputs of {largest}", sizes[largest], 250, "kB")
