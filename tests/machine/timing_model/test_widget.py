"""The interactive timing model: its plan equals the model's, is fast, and text and picture agree."""

import base64
import html
import json
import re
import zlib
from dataclasses import replace
from functools import cache

import ipywidgets
import numpy as np
import pytest
import traitlets
from nightly import NIGHTLY

from course_lib.machine import measurements
from course_lib.machine import timing_model as model
from course_lib.machine.timing_model import Waiting
from course_lib.machine.timing_model.simulation import REASONS
from course_lib.machine.timing_model.widget import SHOWN, instructions, plan, recorded
from course_lib.simulator.hardware import SECTOR_BYTES
from course_lib.trace.notebook_outputs import HTML, VIEW
from course_lib.trace.png import packed_in
from course_lib.trace.viewer.fallback import show_box

H200 = model.Multiprocessor.measured(measurements.load("latencies"))
SETTINGS = [(280, 1, 4, 1), (600, 4, 8, 2), (1200, 16, 16, 1), (40, 8, 16, 2)]


@cache
def planned(*setting):
    """Return the plan of a setting, which tests read and do not change."""
    return plan(H200, *setting)


@pytest.mark.parametrize("latency, warps, tile_width, buffers", SETTINGS)
def test_the_plan_is_what_the_model_simulates(latency, warps, tile_width, buffers):
    """The plan has a quarter of the measured multiprocessor's bandwidth, one scheduler, one latency for all lines."""
    quarter = {level: rate / 4 for level, rate in H200.bytes_per_cycle.items()}
    latencies = {**H200.latency, "L2": latency}
    multiprocessor = replace(H200, schedulers=1, bytes_per_cycle=quarter, latency=latencies, spread=())
    block = instructions(tile_width, buffers)
    timing = model.simulate_warps(block, multiprocessor, warps // len(block))
    shown = json.loads(planned(latency, warps, tile_width, buffers).encoded())

    assert shown["end"] == round(timing.cycles)
    assert len(shown["rows"]) == warps
    for row, spans in zip(shown["rows"], timing.spans, strict=True):
        for reason, name in enumerate(REASONS):
            drawn = sum(last - first for number, first, last in row if number == reason)
            simulated = sum(min(b, SHOWN) - min(a, SHOWN) for why, a, b in spans if why == name)
            assert drawn == pytest.approx(simulated, abs=0.01 * SHOWN)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_curve_holds_every_byte_in_flight(setting):
    """Its area is the byte-cycles of the sectors in flight, as far as it is drawn."""
    chosen = planned(*setting)
    curve = chosen.in_flight()
    asked, arrived = np.minimum(np.array(chosen.timing.fetches).T, SHOWN)
    assert sum(curve) * SHOWN / len(curve) == pytest.approx(SECTOR_BYTES * float(np.sum(arrived - asked)))
    assert max(curve) > 0


@pytest.mark.parametrize("setting", SETTINGS)
def test_bytes_in_flight_are_latency_times_bandwidth(setting):
    """Little's law holds, and no load is faster than the chosen latency."""
    chosen = planned(*setting)
    assert chosen.timing.in_flight == pytest.approx(chosen.mean_latency * chosen.rate)
    assert chosen.mean_latency >= chosen.latency
    assert chosen.rate <= chosen.bandwidth


def test_the_second_buffer_helps_a_few_warps_and_not_many():
    """Two warps wait less for global memory, as the picture should show; sixteen hardly waited before."""
    few, many = ([plan(H200, 600, warps, 8, buffers).timing for buffers in (1, 2)] for warps in (2, 16))
    assert few[1].cycles < few[0].cycles
    assert few[1].waits["global memory"] < few[0].waits["global memory"]
    assert many[1].cycles > many[0].cycles


def test_warps_come_in_whole_blocks():
    """A block of 8×8 threads has two warps: one becomes two, and they stay when T is 4 again."""
    widget = Waiting(H200, warps=1, tile_width=8)
    assert widget.warps == 2
    assert len(json.loads(widget._plan)["rows"]) == 2
    widget.tile_width = 4
    assert (widget.warps, json.loads(widget._plan)["tile_width"]) == (2, 4)


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"latency": 300.5}, "latency"),
        ({"latency": 0}, "latency is 0; choose from 40 to 1200 in steps of 20"),
        ({"warps": 17}, "warps is 17; choose from 1 to 16"),
        ({"tile_width": 5}, "tile_width is 5; choose from 4, 8, 16"),
        ({"buffers": 3}, "buffers is 3; choose from 1, 2"),
    ],
)
def test_what_the_sliders_do_not_offer_is_refused(wrong, says):
    with pytest.raises(traitlets.TraitError, match=says):
        Waiting(H200, **wrong)


@pytest.mark.nightly
def test_text_and_picture_are_the_same_every_time():
    """They equal those of the browser, contain no address, and do not depend on earlier settings."""
    widget, other = Waiting(H200), Waiting(H200, 600, 4, 8, 2)
    other.latency, other.tile_width, other.warps, other.buffers = 280, 8, 2, 1
    data, _ = widget._repr_mimebundle_()
    again, _ = other._repr_mimebundle_()
    assert data["text/plain"] == again["text/plain"] == repr(widget)
    assert data[HTML] == again[HTML]
    assert f'alt="{html.escape(repr(widget))}"' in data[HTML]
    for sentence in json.loads(widget._plan)["says"]:
        assert sentence in repr(widget)
    assert "Bytes in flight = latency × bandwidth" in repr(widget)


def test_in_a_box_of_the_readers_it_leaves_its_picture_and_text(monkeypatch):
    """IPython shows boxes in this way; of a box without our widgets nothing is shown here."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw, metadata=None: shown.append(data))
    widget = Waiting(H200)
    box = ipywidgets.VBox([ipywidgets.IntSlider(), ipywidgets.HBox([widget])])
    show_box(box)
    fallback, living = shown
    assert fallback["text/plain"] == repr(widget)
    assert packed_in(fallback[HTML]).endswith(widget._fallback)
    assert living[VIEW]["model_id"] == box.model_id
    with pytest.raises(NotImplementedError):
        show_box(ipywidgets.VBox([ipywidgets.IntSlider()]))


@pytest.fixture(scope="module")
def page():
    """Return the state of a saved page; the default run has a coarser grid, of 12 plans instead of 156."""
    with pytest.MonkeyPatch.context() as patch:
        if not NIGHTLY:
            patch.setattr("course_lib.machine.timing_model.widget.RECORDED_LATENCIES", (100,))
            patch.setattr("course_lib.machine.timing_model.widget.RECORDED_WARPS", (8,))
            patch.setattr("course_lib.machine.timing_model.widget.TILE_WIDTHS", (4, 8))
        return recorded(Waiting(H200, 340, 3, 4, 2).get_state())


def test_a_page_holds_a_plan_of_every_setting_it_offers(page):
    """Each plan is the model's own, including that of the setting at which the page was saved, on no slider's grid."""
    offers, plans = json.loads(page["_offers"]), json.loads(zlib.decompress(base64.b64decode(page["_recorded"])))
    if NIGHTLY:
        assert offers["latencies"] == [100, 300, 340, 600, 900, 1200]
        assert offers["recorded"] == {"4": [2, 3, 4, 8, 16], "8": [2, 4, 8, 16], "16": [8, 16], "32": [8, 16]}
    else:
        assert offers["latencies"] == [100, 340]
        assert offers["recorded"] == {"4": [3, 8], "8": [8]}
    settings = [
        (latency, warps, int(width), buffers)
        for width, counts in offers["recorded"].items()
        for warps in counts
        for latency in offers["latencies"]
        for buffers in (1, 2)
    ]
    assert sorted(plans) == sorted(",".join(map(str, setting)) for setting in settings)
    for setting in ((340, 3, 4, 2), (100, 8, 8, 1), *(((100, 16, 32, 1), (1200, 8, 16, 2)) if NIGHTLY else ())):
        assert plans[",".join(map(str, setting))] == json.loads(planned(*setting).encoded())


def test_a_saved_page_needs_no_other_file(page, tmp_path, monkeypatch):
    """It has the plans, of which the nightly run has all, and no element of it refers to another file."""
    monkeypatch.setattr("course_lib.machine.timing_model.widget.recorded", lambda state: page)
    path = Waiting(H200, 340, 3, 4, 2).save(tmp_path / "page.html")
    assert page["_recorded"] in path.read_text(encoding="utf-8")
    assert not re.findall(
        r'(?:src|href)\s*=\s*["\'](?!data:)', path.read_text(encoding="utf-8").split('<script type="module">')[0]
    )
