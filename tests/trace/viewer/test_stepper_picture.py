"""The static picture of a stepper: its frames, what is lit in them and what it says, held against formulas."""

import io
import re

import numpy as np
import pytest
from launches import uses as kernels
from launches.samples import LAUNCHES, SLOW, launch
from nightly import at_night
from numba import cuda
from oracles.frames import check_order
from PIL import Image

from course_lib import simulate
from course_lib.trace.kernel_structure import shown_source
from course_lib.trace.palette import COLOURS
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.picture_shapes import HUES, WIDTH, Box, Pixels, Text, rgb, tint
from course_lib.trace.viewer.stepper_picture import FEWEST_FRAMES, MOST_FRAMES, PicturedRun, chosen_frames


@pytest.mark.parametrize("name", [at_night(name) if name in SLOW else name for name in LAUNCHES])
def test_all_steps_are_in_one_frame(name):
    """Frames follow each other from the first step to the last, and a picture has two to five of them."""
    for block in launch(name).trace.columns.blocks.tolist()[:2]:
        timeline = Timeline(launch(name).trace, tuple(block))
        frames = timeline.animation.frames
        assert [begin for begin, _ in frames] == [0, *(end for _, end in frames[:-1])]
        assert frames[-1][1] == len(timeline)
        assert all(begin < end for begin, end in frames)
        assert min(FEWEST_FRAMES, len(frames)) <= len(chosen_frames(timeline)) <= MOST_FRAMES
        check_order(timeline, timeline.frame_of_step.tolist())


@pytest.mark.parametrize("kernel", [*kernels.RACES, *kernels.ORDERED], ids=lambda kernel: kernel.__name__)
def test_a_frame_of_a_race_shows_what_was_read(kernel):
    """Also what nobody has stored is said to be empty: in races_over, all that the first warp reads."""
    grid, block, arguments = kernels.arguments_of(kernel)
    run = simulate(kernel, trace=True, strict=False)[grid, block](*(a.copy() for a in arguments))
    timeline = Timeline(run.trace, (0, 0, 0))
    check_order(timeline, timeline.frame_of_step.tolist())
    said = PicturedRun(timeline).description
    assert ("32 empty elements" in said) == (kernel in (kernels.races_over, kernels.races_in_a_loop)), said


def test_tiles_are_copied_and_read():
    """16×16 in tiles of 4: four times a copy and a product, then the store; each with the numbers of the formula."""
    timeline = Timeline(launch("tiled_16").trace, (0, 0, 0))
    assert len(timeline.animation.frames) == 2 * 16 // 4 + 1
    said = re.split(r" frame \d of 9: ", PicturedRun(timeline).description)[1:]
    copy = f"16 threads copy {2 * 4 * 4} numbers of A and B to shared memory; each will be read 4 times."
    read = f"16 threads read {2 * 4 * 4} numbers in shared memory, {2 * 4 * 16} times in all, for {4**3} multiply-adds."
    assert said == [copy, read, copy, read, "16 threads store 16 numbers of C."]


def lit(layout, name, hue):
    """Which elements of the first array of this name have their full colour."""
    at = next(i for i, shape in enumerate(layout.shapes) if isinstance(shape, Text) and shape.text == name)
    boxes = [shape for shape in layout.shapes[at + 1 :] if isinstance(shape, Box)][:256]
    return np.array([box.fill.lower() == hue.lower() for box in boxes]).reshape(16, 16)


def test_the_first_frame_lights_the_first_tiles():
    """Of block (0, 0) the upper left tiles of A and B, and nothing of C, which is stored in the last frame."""
    (layout,) = Stepper(launch("tiled_16")).picture().layouts
    wanted = np.zeros((16, 16), bool)
    wanted[:4, :4] = True
    for name in "AB":
        assert (lit(layout, name, COLOURS[name]) == wanted).all()
    assert not lit(layout, "C", COLOURS["C"]).any()


def test_a_large_matrix_is_a_picture_of_pixels():
    """C of 65×65 has more elements than are drawn one by one."""
    (layout,) = Stepper(launch("naive_65")).picture().layouts
    sizes = [shape.colours.shape[:2] for shape in layout.shapes if isinstance(shape, Pixels)]
    assert (65, 65) in sizes


def test_tints_have_their_exact_colours_in_the_stored_picture():
    """So they stay apart on every page; means of near colours made one tint of those of A and C."""
    picture = Stepper(launch("tiled_16")).picture()
    images = picture.image(), Image.open(io.BytesIO(picture.png))
    drawn, stored = (np.asarray(image.convert("RGBA")) for image in images)
    for tinted in (tint(hue, strength) for hue in map(HUES.get, "ABC") for strength in (0.2, 1.0)):
        at = (drawn == (*rgb(tinted), 255)).all(axis=2)
        assert at.any() and (stored[at] == drawn[at]).all(), tinted


def test_a_race_shows_its_step_and_both_threads():
    """The picture has the finding's message and what either thread does at its own step, also in words."""
    stepper = Stepper(launch("racy"))
    picture = stepper.picture(hint="")
    (finding, *_) = stepper.trace.findings
    words = " ".join(shape.text for shape in picture.layouts[0].shapes if isinstance(shape, Text))
    assert str(finding) in repr(picture)
    assert finding.message.split(",")[0] in words
    for _, (x, y, _) in finding.threads:
        assert f"Thread ({x}, {y}) " in repr(picture)
    edges = [shape for shape in picture.layouts[0].shapes if isinstance(shape, Box) and shape.thick == 2 and shape.edge]
    assert edges


def test_a_chosen_step_is_drawn_with_its_sentence():
    stepper = Stepper(launch("tiled_16"), step=28)
    assert repr(stepper.picture()).startswith("tiled, step 28: Line ")
    assert repr(stepper.picture(0)).startswith("tiled, frame 1 of 9: ")


def test_what_is_drawn_of_a_step_is_inside_the_picture():
    """The boxes around the findings, the elements and the line of code: none is wider than the picture."""
    (layout,) = Stepper(launch("racy")).picture(hint="").layouts
    assert all(0 <= box.x and box.x + box.width <= WIDTH for box in layout.shapes if isinstance(box, Box))


@cuda.jit
def with_a_long_line(A):
    A[cuda.grid(1)] = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x  # a line that is wider than the picture is


def test_a_long_line_is_drawn_whole():
    run = simulate(with_a_long_line, trace=True)[1, 2](np.zeros(2, np.float32))
    drawn = [shape.text for shape in Stepper(run, step=1).picture().layouts[0].shapes if isinstance(shape, Text)]
    longest = max((text for _, text in shown_source(run.trace)), key=len)
    assert "".join(longest.split()) in "".join("".join(drawn).split())
