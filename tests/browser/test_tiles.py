"""The tile's width, dragged on the border of the block's region: each width is a stored launch."""

import numpy as np
import pytest
import traitlets
from launches.samples import product
from playwright.sync_api import expect

from course_lib.trace.viewer import Stepper

WIDTHS, N = (1, 2, 4, 8), 8


@pytest.fixture(scope="module")
def runs():
    return {T: product("tiled", N, N, N, tile_width=T)() for T in WIDTHS}


def width_of(page):
    return page.evaluate("() => window.model.get('tile_width')")


def counts_of(page):
    """How often the launch loads each element of A and of B, as the picture has it."""
    grids = page.evaluate("() => shown().grids")
    return {grid["name"]: grid["counts"] for grid in grids if grid["name"] in "AB"}


def test_a_drag_shows_the_launch_of_another_width(show, runs):
    """From 4 to 8 elements, to 2 and to 1: regions, counter and tint are the launch's own; T = 1 counts like naive."""
    page = show(Stepper(runs[4], tiles=runs))
    naive = product("naive", N, N, N, block_width=4)()
    assert width_of(page) == 4
    for wanted in (8, 2, 1):
        handle = page.locator(".tt-matrix-C .tt-handle circle").bounding_box()
        region = page.locator(".tt-matrix-C .tt-outline").bounding_box()
        side = region["width"] / width_of(page)
        page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
        page.mouse.down()
        page.mouse.move(region["x"] + wanted * side, region["y"] + wanted * side, steps=4)
        page.mouse.up()
        expect(page.locator(".tt-handle-text")).to_have_text(f"T = {wanted}")
        run = runs[wanted]
        loaded = run.traffic.select(space="global", op="load").accesses
        expect(page.locator(".tt-counter b")).to_have_text(f"{loaded:,}")
        assert counts_of(page) == {name: [N // wanted] * N**2 for name in "AB"}
        frame = next(grid for grid in page.evaluate("() => shown().grids") if grid["name"] == "A")["frame"]
        assert np.subtract(frame[2:], frame[:2]).tolist() == [wanted - 1, N - 1]
    assert loaded == naive.traffic.select(space="global", op="load").accesses
    assert page.page_errors == []


def test_the_width_is_chosen_by_the_keyboard(show, runs):
    """The handle is a slider: its arrows go to the next width, and do not step."""
    page = show(Stepper(runs[4], tiles=runs))
    handle = page.get_by_role("slider", name="Tile width").first
    page.locator(".tt-matrix-C .tt-handle").press("ArrowRight")
    expect(page.locator(".tt-handle-text")).to_have_text("T = 8")
    expect(handle).to_have_attribute("aria-valuenow", "8")
    assert page.evaluate("() => window.model.get('step')") == 0
    page.locator(".tt-matrix-C .tt-handle").press("ArrowLeft")
    expect(page.locator(".tt-handle-text")).to_have_text("T = 4")


def test_python_follows_the_width(runs):
    """The run is that of the width; block and thread stay inside its grid."""
    stepper = Stepper(runs[1], tiles=runs, block=(7, 5))
    stepper.tile_width = 4
    assert stepper.run is runs[4] and stepper.block == (1, 1, 0) and stepper.step == 0
    with pytest.raises(traitlets.TraitError, match="1, 2, 4, 8"):
        stepper.tile_width = 3
    with pytest.raises(ValueError, match="None of the tiles"):
        Stepper(runs[1], tiles={2: runs[2]})
    stepper.run = runs[2]
    assert stepper.tile_width == 0 and not stepper._tiles


def test_a_stepper_without_tiles_has_no_handle(show, runs):
    page = show(Stepper(runs[4]))
    assert page.locator(".tt-handle").count() == 0
