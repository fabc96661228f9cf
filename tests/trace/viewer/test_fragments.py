"""Which lane holds which element of what a tensor core multiplies: in the trace, in the scene, in text and picture."""

import functools
import json

import numpy as np
from launches.samples import launch, numbers
from numba import cuda, float32, int32
from oracles.replay import State
from oracles.scene import scene_of

from course_lib import simulate
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.payload import encode


def multiplying(run):
    """The steps of block 0 that multiply matrices, from 1."""
    (line,) = {operation.line for operation in run.trace.matrices}
    timeline = stepper_of(run).timeline
    return [step for step in range(1, len(timeline) + 1) if timeline.step(step).line == line]


@functools.cache
def stepper_of(run):
    """Return one stepper of a run for all that is asked of it: each writes the whole trace anew."""
    return Stepper(run)


def at(run, step, thread):
    bx, by, _ = run.trace.block
    stepper = stepper_of(run)
    stepper.step, stepper.thread = step, (thread % bx, thread // bx % by, 0)
    return stepper


def test_the_registers_are_the_matrices():
    """What the variables of all lanes hold, put where the scene says, is a part of A, of B and of the result."""
    run = launch("tensor_cores")
    A, B = numbers(16, 16), numbers(16, 8, seed=1)
    steps = [step for step in multiplying(run) if stepper_of(run).timeline.step(step).warp == 0]

    def gathered(step, held, names):
        state = State(stepper_of(run).timeline, step)
        matrix = np.full((held.rows, held.columns), np.nan)
        for lane in range(32):
            mine = scene_of(at(run, step, lane)).matrices[0].held
            (here,) = (each for each in mine if each.name == held.name)
            for place, name in zip(here.mine, names, strict=True):
                matrix[divmod(place, held.columns)] = state.variable(name)[lane]
        return matrix

    a, b, c = scene_of(at(run, steps[0], 0)).matrices[0].held
    for number, step in enumerate(steps[:2]):
        part = slice(8 * number, 8 * number + 8)
        assert np.array_equal(gathered(step, a, ("a0", "a1", "a2", "a3")), A[:, part])
        assert np.array_equal(gathered(step, b, ("b0", "b1")), B[part])
        assert np.array_equal(gathered(step, c, ("c0", "c1", "c2", "c3")), A[:, : part.stop] @ B[: part.stop])


def test_only_a_step_that_multiplies_has_matrices():
    run = launch("tensor_cores")
    steps = multiplying(run)
    assert scene_of(stepper_of(run), 0).matrices == []
    assert scene_of(stepper_of(run), steps[0] - 1).matrices == []
    assert launch("tiled").trace.matrices == ()
    assert json.loads(encode(launch("tiled").trace))["matrices"] == []


class Exchange:
    """The sum of what a lane and its neighbour bring; so it says that the lanes hold a row of 32."""

    fragments = (("x", (1, 32), (np.zeros((1, 32), int), np.arange(32)[None])),)

    def of_warps(self, x):
        return x + x[:, np.arange(32) ^ 1]


def exchange(x):
    raise NotImplementedError


exchange.__simulated_as__ = ("warp", Exchange().of_warps, "float32")


@cuda.jit
def exchanging(x, out):
    i = cuda.threadIdx.x
    value = float32(int32(i))
    out[i] = (x[i] +
              exchange(value))  # fmt: skip


def test_any_intrinsic_that_has_fragments_is_shown():
    """Its call may stand on a later line of a statement: the step is that of the statement."""
    x, out = numbers(32), np.zeros(32, np.float32)
    run = simulate(exchanging, trace=True)[1, 32](x, out)
    (operation,) = run.trace.matrices
    assert operation.name == "exchange"
    assert [(f.name, f.rows, f.columns, f.held) for f in operation.fragments] == [
        ("x", 1, 32, tuple((lane,) for lane in range(32)))
    ]
    scenes = [scene_of(Stepper(run, step=step, thread=(7, 0))) for step in range(1, len(Stepper(run).timeline) + 1)]
    (scene,) = [scene for scene in scenes if scene.matrices]
    assert scene.step.accesses
    assert scene.matrices[0].says == "For exchange, lane 7 holds x: [0, 7]."
