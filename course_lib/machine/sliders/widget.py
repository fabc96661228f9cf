"""The widget: sliders, and the picture of their setting."""

import base64
import json
import pathlib
import zlib
from collections.abc import Mapping
from dataclasses import astuple
from itertools import product
from typing import Any

import anywidget
import traitlets

from ...trace.png import element, with_palette
from ...trace.viewer.fallback import WithFallback
from ...trace.viewer.page import Bundle
from ...trace.viewer.picture_shapes import WIDTH, Box, Polygon, Text
from ...trace.viewer.static_picture import SCALE, Layout, draw
from .sketches import KINDS, Sketch

BUNDLE = Bundle(
    "sliders", pathlib.Path(__file__).parent, ("_sketch", "_sketches", "_offers", "setting"), "tile-by-tile-sliders"
)


#: What the browser calls each shape.
_NAMES = {Box: "box", Text: "text", Polygon: "polygon"}


class Sliders(WithFallback, anywidget.AnyWidget):
    """A picture with a slider for each number of ``setting``, which can also be set from Python.

    ``kind`` is one of `KINDS`, ``fixed`` what its picture needs beside the setting. Raises TraitError for a value that
    no slider offers.

    >>> sliders.sectors(stride=2).setting
    {'stride': 2, 'first': 0}
    """

    _esm = BUNDLE.folder / "sliders.js"
    _css = BUNDLE.folder / "sliders.css"
    setting = traitlets.Dict().tag(sync=True)
    _sketch = traitlets.Unicode().tag(sync=True)
    _offers = traitlets.Unicode().tag(sync=True)
    _fixed = traitlets.Unicode().tag(sync=True)  # for pages made of a notebook's widget states

    def __init__(self, kind: str, setting: Mapping[str, int], fixed: Mapping[str, Any] | None = None) -> None:
        self._kind = KINDS[kind]
        sliders = {
            name: {"values": slider.values, "says": [slider.says(value) for value in slider.values]}
            for name, slider in self._kind.sliders.items()
        }
        offers = json.dumps({"kind": kind, "title": self._kind.title, "sliders": sliders})
        super().__init__(_offers=offers, _fixed=json.dumps(dict(fixed or {})), setting=dict(setting))
        self._redraw()

    @traitlets.validate("setting")
    def _offered(self, proposal: dict[str, Any]) -> dict[str, int]:
        setting: dict[str, int] = proposal["value"]
        if set(setting) != set(self._kind.sliders):
            raise traitlets.TraitError(f"a setting has {', '.join(self._kind.sliders)}, not {', '.join(setting)}")
        for name, value in setting.items():
            values = self._kind.sliders[name].values
            if value not in values:
                raise traitlets.TraitError(f"{name} is {value}; choose from {', '.join(map(str, values))}")
        return setting

    @traitlets.observe("setting")
    def _redraw(self, change: object = None) -> None:
        self.sketch = self._kind.draw(**json.loads(self._fixed), **self.setting)
        self._sketch = encoded(self.sketch, self.setting)

    @property
    def png(self) -> bytes:
        """The picture of the current setting."""
        return with_palette(draw(Layout(list(self.sketch.shapes), self.sketch.height), SCALE))

    def __repr__(self) -> str:
        return "\n".join([f"{self._kind.title}:", *(f"  {sentence}." for sentence in self.sketch.says)])

    def _repr_html_(self) -> str:
        return element(self.png, repr(self), WIDTH)


def encoded(sketch: Sketch, setting: Mapping[str, int]) -> str:
    """Return all that the browser draws, as JSON: each shape as its name and its fields, in their order."""
    shapes = [[_NAMES[type(shape)], *astuple(shape)] for shape in sketch.shapes]
    shown = {"setting": setting, "height": sketch.height, "shapes": shapes, "says": sketch.says}
    return json.dumps(shown, separators=(",", ":"))


def recorded(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of `Sliders` (its traits by name) with recorded pictures, for a page without a kernel.

    `_offers` then holds the values with pictures, and `_sketches` every picture by its setting, its values joined by
    commas, as base64 of zlib's compressed JSON.
    """
    offers = json.loads(state["_offers"])
    fixed = json.loads(state["_fixed"])
    kind = KINDS[offers["kind"]]
    current = state["setting"]
    values = {name: sorted({*slider.recorded, current[name]}) for name, slider in kind.sliders.items()}
    sketches = {}
    for chosen in product(*values.values()):
        setting = dict(zip(values, chosen, strict=True))
        sketches[",".join(map(str, chosen))] = json.loads(encoded(kind.draw(**fixed, **setting), setting))
    for name, slider in kind.sliders.items():
        offers["sliders"][name] = {"values": values[name], "says": [slider.says(value) for value in values[name]]}
    packed = zlib.compress(json.dumps(sketches, separators=(",", ":")).encode(), 6)
    return {
        **state,
        "_offers": json.dumps(offers | {"recorded": True}),
        "_sketches": base64.b64encode(packed).decode("ascii"),
    }


def sectors(stride: int = 1, first: int = 0) -> Sliders:
    """Return a picture of a warp's load, with sliders: lane i loads element ``first + stride * i`` of float32.

    >>> sliders.sectors(stride=8).sketch.says[1]
    'Of 256 numbers that are fetched, the warp uses 32: 12.5 %'
    """
    return Sliders("sectors", {"stride": stride, "first": first})


def occupancy(gpu: Mapping[str, Any], threads: int = 256, registers: int = 32, shared: int = 8) -> Sliders:
    """Return a picture of the blocks that a multiprocessor holds, with sliders; ``shared`` is in KiB for each block.

    ``gpu`` is a recording's provenance. The rules are those of `model.occupancy`.

    >>> sliders.occupancy(measurements.load("ladder").provenance, threads=256, registers=64).sketch.says[2]
    'Occupancy: 32 of 64 warps, 50 %'
    """
    names = ("gpu", "threads_per_multiprocessor", "registers_per_multiprocessor", "shared_bytes_per_multiprocessor")
    setting = {"threads": threads, "registers": registers, "shared": shared}
    return Sliders("occupancy", setting, {"gpu": {name: gpu[name] for name in names}})


def early_load(latency: int = 80, work: int = 20, warps: int = 1, path: int = 0) -> Sliders:
    """Return a picture of what a load one iteration earlier gains, with sliders: one scheduler of a multiprocessor.

    An iteration of a warp starts ``work`` instructions, one in each cycle, and waits ``latency`` cycles from the start
    of its load. It uses the scheduler's share of the path to L1 and shared memory for ``path`` cycles.

    >>> sliders.early_load(latency=80, work=20, warps=4).sketch.says[1:3]
    ('load, then use: 40 iterations in 1,000 cycles', 'one iteration earlier: 50 iterations in 1,000 cycles')
    """
    return Sliders("early_load", {"latency": latency, "work": work, "warps": warps, "path": path})


def queue(launches: int = 3, kernel: int = 100, launch: int = 20, filled: bool = False) -> Sliders:
    """Return a picture of launches that wait in the GPU's queue, with sliders; times are in microseconds.

    >>> sliders.queue(launches=3, kernel=100, launch=20).sketch.says[1]
    'The clocks show: no synchronise 60 µs, synchronise 320 µs, events 320 µs'
    """
    return Sliders("queue", {"launches": launches, "kernel": kernel, "launch": launch, "filled": int(filled)})


def layout(layout: int = 0, piece: int = 0) -> Sliders:
    """Return a picture of the banks of a tile for tensor cores, with sliders: its layout and the piece that is read.

    >>> sliders.layout(layout=2, piece=5).sketch.says[2]
    'Piece 5 of the 8 rows, which are read together, takes 1 pass'
    """
    return Sliders("layout", {"layout": layout, "piece": piece})


def cube(tile: int = 4) -> Sliders:
    """Return the cube of the 16³ multiply-adds of C = A·B, with a slider for the side of a tile.

    The sub-cube of one pair of tiles is lit: its faces are the numbers that are loaded, its volume the multiply-adds
    that use them, so each is used ``tile`` times. Raises TraitError for a tile that no slider offers.

    >>> sliders.cube(tile=8).setting
    {'tile': 8}
    """
    return Sliders("cube", {"tile": tile})
