"""Pictures of steps as files, judged by the values that the launch held at those steps."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from launches.samples import launch
from oracles.scene import scene_of
from PIL import Image

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper, compare
from course_lib.trace.viewer.picture_shapes import Box
from course_lib.trace.viewer.static_picture import SCALE

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def stepper():
    return Stepper(launch("tiled_16"), step=31, block=(1, 2), thread=(1, 3))


def test_an_svg_shows_the_values_of_its_step(stepper, tmp_path):
    """Each number of the shared tiles is a text in the middle of its element, and the sentence is complete."""
    tree = ET.parse(stepper.save_picture(tmp_path / "step.svg", step=28))
    texts = {(float(t.get("x")), float(t.get("y"))): t.text for t in tree.iter(f"{SVG}text")}
    timeline = Timeline(stepper.trace, (1, 2, 0))
    (layout,) = stepper.picture(28, hint="").layouts
    for name in ("A_tile", "B_tile"):
        held = timeline.values(name, 28)
        assert held.count() == 16
        at = next(i for i, shape in enumerate(layout.shapes) if getattr(shape, "text", "") == name)
        boxes = [shape for shape in layout.shapes[at:] if isinstance(shape, Box)][:16]
        for box, value in zip(boxes, held, strict=True):
            x, y = box.x + box.width / 2 + 0.5, box.y + box.height / 2 + 0.5
            near = [text for (tx, ty), text in texts.items() if abs(tx - x) < 1 and abs(ty - y) < 1]
            assert near == [f"{value:.0f}"], name
    assert scene_of(stepper, 28).says in texts.values()
    assert any(text.endswith("step 28 of 69") for text in texts.values())
    assert "step 28" in tree.getroot().find(f"{SVG}title").text


def test_a_png_is_the_static_picture(stepper, tmp_path):
    """Twice as large as the layout; without a step, that of the stepper."""
    wanted = stepper.picture(31, hint="").image(2.0)
    for step in (None, 31, np.int64(31)):
        assert Image.open(stepper.save_picture(str(tmp_path / "step.PNG"), step)).tobytes() == wanted.tobytes()
    assert Image.open(stepper.save_picture(tmp_path / "other.png", 30)).tobytes() != wanted.tobytes()


def test_a_gif_has_the_frames_that_are_asked_for(stepper, tmp_path):
    """In their order, each for its time, and each nearer to its own step than to the others."""
    steps = [9, 31, 12]
    gif = Image.open(stepper.save_picture(tmp_path / "steps.gif", steps, seconds=0.5))
    assert gif.n_frames == len(steps)
    pictures = [np.asarray(stepper.picture(step, hint="").image(SCALE).convert("RGB"), float) for step in steps]
    height = min(len(picture) for picture in pictures)
    for frame in range(len(steps)):
        gif.seek(frame)
        assert gif.info["duration"] == 500
        shown = np.asarray(gif.convert("RGB"), float)[:height]
        far = [np.abs(shown - picture[:height]).mean() for picture in pictures]
        assert np.argmin(far) == frame, far
    assert Image.open(stepper.save_picture(tmp_path / "one.gif", 9)).n_frames == 1


def test_a_gif_without_steps_is_the_animation(stepper, tmp_path):
    """A frame for each of the nine of the animation."""
    assert Image.open(stepper.save_picture(tmp_path / "animation.gif")).n_frames == 9


def test_two_launches_are_one_below_the_other(tmp_path):
    two = compare(launch("naive"), launch("tiled"))
    tree = ET.parse(two.save_picture(tmp_path / "two.svg")).getroot()
    texts = [text.text for text in tree.iter(f"{SVG}text")]
    assert [name for name in texts if name in ("naive", "tiled")] == ["naive", "tiled"]
    assert [text for text in texts if text.startswith("1 of ")] == ["1 of 5", "1 of 5"]
    size = Image.open(two.save_picture(tmp_path / "two.png")).size
    assert size == (2000, pytest.approx(2 * float(tree.get("height")), abs=2))


@pytest.mark.parametrize(
    "path, step, seconds, says",
    [
        ("step.jpg", 3, 1, "its name must end in .png, .svg or .gif"),
        ("step", 3, 1, "its name must end in"),
        ("step.png", range(3, 6), 1, "A .png file shows one step, and several are given"),
        ("step.svg", [3, 4], 1, "A .svg file shows one step"),
        ("step.gif", [], 1, "The range of steps is empty"),
        ("step.gif", range(9, 3), 1, "The range of steps is empty"),
        ("step.gif", range(10**12), 1, "at most 300 steps"),
        ("step.gif", range(60, 80), 1, r"There is no step 70: block \(1, 2, 0\) takes 69"),
        ("step.png", -1, 1, "There is no step -1"),
        ("step.png", 2.5, 1, "There is no step 2.5"),
        ("step.gif", 3, 0, "cannot be shown for 0 seconds"),
        ("step.gif", 3, float("nan"), "cannot be shown for nan seconds"),
    ],
)
def test_what_cannot_be_saved(stepper, tmp_path, path, step, seconds, says):
    """One sentence, and no file."""
    with pytest.raises(ValueError, match=says):
        stepper.save_picture(tmp_path / path, step, seconds=seconds)
    assert list(tmp_path.iterdir()) == []
