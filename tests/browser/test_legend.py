"""The legend lists what the picture shows, no more, and the words of the glossary in the glossary's own sentences."""

import re
from pathlib import Path

import pytest
from nightly import NIGHTLY, at_night
from oracles.scene import Scene, scene_of
from playwright.sync_api import expect

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

REPOSITORY = Path(__file__).parents[2]
#: What the legend calls a state, and a mark of a grid of the scene.
STATES = {
    ".": "not used by this block",
    "r": "the block's region",
    "s": "loaded or stored by the block",
    "a": "a thread that takes part in this step",
    "e": "nothing stored yet",
    "R": "read in this step",
    "W": "written in this step",
}
MARKS = {
    "mine": "by the chosen thread",
    "dots": "loaded by the chosen thread",
    "owned": "what the chosen thread stores",
    "owned_by_warp": "what its warp stores",
    "frame": "around the block's region",
    "tile": "the borders of tiles",
    "wrong": "breaks a rule, or holds a wrong value",
    "outside": "an access out of bounds",
}


@pytest.mark.parametrize("name", ["tiled", "out_of_bounds_2d", *map(at_night, ["racy", "complex", "histogram"])])
def test_the_legend_lists_what_the_picture_shows(show, launch_of, name):
    """Of every step the states and the marks of the scene's grids, and the colour of each array.

    By day of every third step of a long walk.
    """
    timeline = Timeline(launch_of(name).trace, (0, 0, 0))
    page = show(Stepper(launch_of(name)))
    page.locator(".tt-root").press("?")
    seen = set()
    for step in range(0, len(timeline) + 1, 1 if NIGHTLY or len(timeline) < 20 else 3):
        page.evaluate("step => window.model.set('step', step)", step)
        state = page.evaluate("() => shown()")
        legend = state["legend"]
        grids = Scene(timeline, step, 0).grids
        # of a tinted array, counts are in the place of these
        tinted = {grid["name"] for grid in state["grids"] if grid["most"]}
        wanted = {
            STATES[letter] for grid in grids for letter in grid.states if grid.name not in tinted or letter not in ".rs"
        }
        wanted |= {text for mark, text in MARKS.items() if any(getattr(grid, mark) for grid in grids)}
        if not any(grid["tile"] for grid in state["grids"]):  # left out where their lines would be too close
            wanted -= {MARKS["tile"]}
        hues = [text for text in legend if text not in {*STATES.values(), *MARKS.values()}]
        assert set(legend) - set(hues) == wanted, step
        assert len(legend) == len(set(legend))
        for array in timeline.trace.arrays:
            assert any(re.search(rf"\b{array}\b", text) for text in hues), array
        seen |= wanted
    assert len(seen) >= 8
    assert page.page_errors == []


#: What the legend calls the marks of the rows of warps, by the kind of their spans.
SPANS = {
    "load": "a load, in the array's colour",
    "store": "a store or an atomic operation, in the array's colour",
    "other": "another statement of a warp",
    "barrier": "a warp arrives at a barrier",
    "wait": "a warp waits at a barrier",
    "held": "a buffer holds values for a later load",
}


def marks_of(stepper, step, panel):
    """Of the marks of the view and the timeline, those that the scene has, and those that it has not."""
    scene = Scene(stepper.timeline, step, 0)
    space = {"warp": "global", "banks": "shared"}.get(panel)
    requests = [each for each in scene.requests if each.space == space]
    spans = {what.split()[0] for _, spans in scene.strips for *_, what in spans}
    if panel != "waits":
        spans -= {"held"}
    releases = scene.timeline.releases
    has = {
        "a barrier opens": bool(len(releases)),
        "a finding, at its step": bool(set(scene.ticks) - {int(release) for release in releases}),
        "a lane that takes part": panel == "warp" and step > 0,
        "a bank, with its number below": panel == "banks",
        "a sector, 32 bytes, that is loaded or stored": panel == "warp" and bool(requests),
        "4 bytes that no lane asks for": panel == "warp" and any(8 * r.n_sectors > len(r.words) for r in requests),
        "a further word of the same bank, which comes after the first": panel == "banks"
        and any(len({word % 32 for word in r.words}) < len(r.words) for r in requests),
        **{text: kind in spans for kind, text in SPANS.items()},
    }
    return {text for text, there in has.items() if there}, {text for text, there in has.items() if not there}


@pytest.mark.parametrize(
    "name, panels",
    [
        at_night("bank_conflicts", ("warp", "banks", "waits")),
        ("racy", ("warp", "banks", "waits")),
        at_night("naive", ("warp", "waits")),
        at_night("exchanges", ("warp", "waits")),
    ],
)
def test_the_legend_lists_the_marks_of_the_view_and_the_timeline(show, launch_of, name, panels):
    """At steps that load and store global and shared memory, and at one that does neither."""
    stepper = Stepper(launch_of(name))
    page = show(stepper)
    page.locator(".tt-root").press("?")
    seen = set()
    for panel in panels:
        page.evaluate("panel => window.model.set('panel', panel)", panel)
        steps = range(0, len(stepper.timeline), 1 + len(stepper.timeline) // (40 if NIGHTLY else 4))
        for step in {*steps, scene_of(stepper).position}:
            page.evaluate("step => window.model.set('step', step)", step)
            legend = page.locator(".tt-marks > span").all_text_contents()
            there, missing = marks_of(stepper, step, panel)
            assert set(legend) & (there | missing) == there, (panel, step)
            seen |= there
    assert len(seen) >= 6
    samples = page.locator(".tt-marks svg > *")
    assert samples.evaluate_all("all => all.every((sample) => sample.getBoundingClientRect().height)")


def test_the_legend_says_what_bold_pieces_are(show, launch_of):
    """Pieces of tiles that are swizzled never meet; if the rows of a tile were 128 bytes apart, all would."""
    stepper = Stepper(launch_of("groups_in_flight"))
    line = stepper.trace.matrices[0].line
    step = next(i for i, each in enumerate(stepper.trace.steps, 1) if each.line == line)
    page = show(stepper, panel="fragments", step=step, own=True)
    page.locator(".tt-root").press("?")
    expect(page.locator(".tt-pieces")).to_have_count(2)
    bold = page.locator(".tt-marks").get_by_text("pieces in the same banks, which are read one after another")
    expect(bold).to_have_count(0)
    page.evaluate(
        """step => {
      const { scene } = document.querySelector(".tt-root").stepper;
      for (const array of scene.trace.arrays) if (array.space === "shared") array.strides = [32];
      for (const at of [step - 1, step]) window.model.set("step", at);
    }""",
        step,
    )
    assert set(page.locator(".tt-pieces td:not(:empty)").evaluate_all("all => all.map((td) => td.className)")) == {
        "tt-same-bank"
    }
    expect(bold).to_be_visible()


def test_words_are_the_glossarys(show, launch_of):
    """Tabs, headings and columns have the sentence of the glossary as their tooltip, and the legend lists them."""
    text = (REPOSITORY / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n\n(.+?)(?=\n\n## |\Z)", text, re.S | re.M))
    plain = {term: re.sub(r"[*`]", "", re.sub(r"\s+", " ", said)) for term, said in sections.items()}
    page = show(Stepper(launch_of("tiled")), panel="banks")
    page.locator(".tt-root").press("?")
    words = {
        row.locator("dt").text_content(): row.locator("dd").text_content()
        for row in page.locator(".tt-words > div").all()
    }
    assert {"warp", "bank", "barrier", "launch", "wavefront", "bank conflict"} <= set(words)
    for word, said in words.items():
        whole = plain[next(term for term in plain if term.lower() == word.replace(" ", "-"))]
        assert re.sub(r" ?\(\[.*", "", whole) == said, word
    assert page.locator(".tt-tab-waits").get_attribute("title") == words["barrier"]
    assert page.locator("th", has_text="conflicts").first.get_attribute("title") == words["bank conflict"]
    expect(page.locator(".tt-keys")).to_contain_text("Colours and marks in this picture")
