"""The Python side of the stepper: traits, text and picture."""

import base64
import pathlib
import re

import numpy as np
import pytest
from launches.samples import launch, matrices, numbers
from numba import cuda
from oracles.replay import State
from oracles.scene import scene_of
from traitlets import TraitError

import course_lib.trace.viewer
from course_lib import simulate
from course_lib.trace.notebook_outputs import HTML
from course_lib.trace.png import packed_in
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper, compare
from course_lib.trace.viewer.stepper import PANELS
from course_lib.trace.viewer.words import sentence


def test_text_says_what_the_launch_did(tiled_run):
    """Shape, steps, loads by array and the step on show; 4 loads a thread with 2×2 tiles of 4×4."""
    A, B, C = matrices(4, 4, 4)
    stepper = Stepper(tiled_run(A, B, C), step=21, block=(1, 0), thread=(1, 0))

    assert str(stepper).splitlines() == [
        "Stepper of tiled: grid (2, 2) × block (2, 2), 26 steps and 4 barriers in block (0, 0)",
        "global loads: 4 per thread (A 2, B 2), 16 per block, 64 in all",
        "global stores: 1 per thread (C 1), 4 per block, 16 in all",
        "shared arrays: As 2×2 float32, Bs 2×2 float32",
        f"step 21 of 26: Line 13, warp 0 (threads 0–3). Thread (1, 0) reads As[0, 0] = {A[0, 2]:.0f}, "
        f"Bs[0, 1] = {B[2, 3]:.0f}; sets acc = {A[0, :3] @ B[:3, 3]:.0f}.",
    ]


def test_text_counts_atomics_where_there_are_some():
    """Loads and stores are counted in any launch: this one has 50 atomics in 64 threads, and no store."""
    lines = str(Stepper(launch("histogram"))).splitlines()
    assert "global stores: none" in lines
    assert [line for line in lines if line.startswith("global atomics: ")] == [
        "global atomics: 0 to 1 per thread (counts 0 to 1), 18 to 32 per block, 50 in all"
    ]


def test_text_gives_the_range_where_threads_differ(naive_run):
    """At the ragged edge some threads load nothing."""
    text = str(Stepper(naive_run(*matrices(3, 5, 3))))
    assert "global loads: 0 to 10 per thread (A 0 to 5, B 0 to 5), 10 to 40 per block, 90 in all" in text


def test_mimebundle_has_widget_picture_and_text(tiled_run):
    """Readers who have not run the notebook get a PNG of the text's step; the same one every time."""
    stepper = Stepper(tiled_run(*matrices(4, 4, 4)))
    data, _ = stepper._repr_mimebundle_()
    again, _ = stepper._repr_mimebundle_()

    assert stepper.model_id == data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert str(stepper) == data["text/plain"]
    assert base64.b64decode(packed_in(data[HTML])).startswith(b"\x89PNG")
    assert data[HTML] == again[HTML]
    assert data[HTML].endswith('width="1000">')


def test_positions_are_checked(tiled_run):
    """A block, thread or step that the launch does not have is refused."""
    stepper = Stepper(tiled_run(*matrices(4, 4, 4)))
    stepper.block = (1, 1)
    assert (1, 1, 0) == stepper.block
    for name, value in [("block", (2, 0)), ("thread", (0, 2)), ("thread", ("x", 1)), ("step", 27), ("step", -1)]:
        with pytest.raises(TraitError, match=f"There is no {name}"):
            setattr(stepper, name, value)
    assert Stepper(stepper.run, block=1, thread=1).thread == (1, 0, 0)
    with pytest.raises(TraitError, match="There is no thread"):
        Stepper(stepper.run, thread=99)


def test_replacing_the_run_starts_again(naive_run, tiled_run):
    """A new run shows itself from its first step, whatever was chosen before."""
    stepper = Stepper(tiled_run(*matrices(8, 8, 8)), step=26, block=(3, 3), thread=(1, 1))
    stepper.run = naive_run(*matrices(2, 2, 2))

    assert (0, (0, 0, 0), (0, 0, 0)) == (stepper.step, stepper.block, stepper.thread)
    assert str(stepper).startswith("Stepper of naive: grid (1, 1)")


def test_a_shorter_block_ends_the_walk(naive_run):
    """At the ragged edge a block may take fewer steps; choosing it there goes to its end."""
    stepper = Stepper(naive_run(*matrices(1, 3, 3), block=(1, 3)))
    stepper.step = len(stepper.timeline)
    lengths = {block: len(Stepper(stepper.run, block=(block, 0)).timeline) for block in range(3)}
    stepper.block = (2, 0)

    assert stepper.step == min(lengths[0], lengths[2])
    assert f"step {stepper.step} of {lengths[2]}" in str(stepper)


def test_what_broke_a_rule_is_shown_first():
    """Before the first step the picture and the text are those of the finding: its step, its block and its thread."""
    stepper = Stepper(launch("racy"))
    (text, positions), *_ = scene_of(stepper).findings
    assert text.startswith("race")
    assert scene_of(stepper).position == positions[0]
    assert text in scene_of(stepper).findings_now
    assert text in repr(stepper)


def test_panels_are_those_of_the_page():
    """Python and the browser name the same views, in the same order, and nothing else is taken."""
    scene = (pathlib.Path(course_lib.trace.viewer.__file__).parent / "web" / "scene.js").read_text(encoding="utf-8")
    (panels,) = re.findall(r"const PANELS = \[(.*)\]", scene)
    assert PANELS == tuple(panels.lower().split(", "))  # each class is named like its view
    with pytest.raises(ValueError, match=f"no panel 'bank'; choose from {', '.join(PANELS)}"):
        Stepper(launch("tiled"), panels=["bank"])


def test_a_comparison_tells_of_both_runs():
    """The text has both launches; the picture has the animation of each below the other."""
    naive, tiled = launch("naive"), launch("tiled")
    stepper = compare(naive, tiled)
    assert repr(stepper) == f"{Stepper(naive)!r}\n\n{Stepper(tiled)!r}"
    both = stepper.picture(hint="").layouts
    assert both == tuple(Stepper(run).picture(hint="").layouts[0] for run in (naive, tiled))


@pytest.mark.parametrize("block", [0, 1])
def test_atomics_of_one_of_several_blocks(block):
    """Each thread's own addition, after those of the threads before it; they count as atomics, and not as stores."""
    x = numbers(50).astype(int)
    timeline = Timeline(launch("histogram").trace, (block, 0, 0))
    last = len(timeline)
    for thread in range(32 if block == 0 else 18):
        i = 32 * block + thread
        before, here = np.count_nonzero(x[:i] == x[i]), np.count_nonzero(x[32 * block : i] == x[i])
        others = "; other blocks changed it from 0" if before and not here and block else ""
        says = f"updates counts[{x[i]}]: {before} → {before + 1} (add 1{others})."
        assert sentence(timeline, last, thread).endswith(says)
    state = State(timeline, last)
    assert [int(state.counts("global", op).sum()) for op in ("atomic", "store")] == [thread + 1, 0]
    if block == 0:
        np.testing.assert_array_equal(state.values("counts"), np.bincount(x[:32], minlength=10))


def test_an_atomic_in_a_condition_is_told_of_the_threads_that_execute_it():
    @cuda.jit
    def kernel(counts, out):
        i = cuda.threadIdx.x
        out[i] = cuda.atomic.add(counts, 0, 1) if i < 2 else 7

    run = simulate(kernel, trace=True)[1, 4](np.zeros(1, np.int32), np.zeros(4, np.int32))
    timeline = Timeline(run.trace, (0, 0, 0))
    told = ["updates" in sentence(timeline, len(timeline), thread) for thread in range(4)]
    assert told == [True, True, False, False]
