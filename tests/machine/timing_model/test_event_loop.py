"""The compiled loop of the timing simulation, held against one in plain Python, cycle by cycle."""

import importlib.util
import random
import sys
from dataclasses import replace

import pytest
from nightly import NIGHTLY, at_night
from oracles import timing_simulation as oracle

from course_lib.machine import measurements, timing_model
from course_lib.machine.timing_model import event_loop, predictions, simulation
from course_lib.machine.timing_model.event_loop import pseudo_random
from course_lib.machine.timing_model.instruction_streams import KINDS, Instruction, InstructionStreams
from course_lib.machine.timing_model.simulation import TimingSimulation

H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
OTHERS = ("multiply-add", "branch", "wait", "other")


def drawn_stream(draw, size):
    """Instructions of all kinds, with needs, sectors, pauses, registers and iterations of their own."""
    made, iteration = [], 0
    for place in range(size):
        iteration += draw.random() < 0.1
        kind = draw.choice([*KINDS, *OTHERS])
        asked = draw.randrange(5) if kind in ("load", "copy", "store") else 0
        made.append(
            Instruction(
                kind,
                line=0,
                needs=tuple(draw.sample(range(place), min(place, draw.randrange(3)))),
                wavefronts=draw.randrange(4),
                sectors=tuple((draw.choice("AB"), draw.randrange(40)) for _ in range(asked)),
                iteration=iteration if draw.random() < 0.9 else 0,
                bytes=draw.choice([4, 16]),
                pace=draw.choice([1, 1, 1, 2, 5, 15]),
                reads=(draw.randrange(3), draw.randrange(3)),
                uniform_read=draw.random() < 0.2,
            )
        )
    return made


def drawn_simulation(seed):
    """Return the streams of a block, and the other arguments of `TimingSimulation`."""
    draw = random.Random(seed)
    warps = [drawn_stream(draw, draw.choice([0, 5, 40, 80])) for _ in range(draw.randrange(1, 9))]
    served = draw.choice(["L2", "DRAM", {"A": "DRAM"}, {"A": "L2", "B": "DRAM"}])
    given = replace(H200, schedulers=draw.choice([1, 2, 4])), draw.randrange(1, 4), served, draw.choice([0, 320, 3200])
    more = {"rounds": draw.randrange(1, 4), "in_step": draw.random() < 0.5}
    return [*warps, drawn_stream(draw, 3)], given, {**more, "loaded_by": draw.choice([None, {"A": 8.0, "B": 2.5}])}


def told(warps, given, more):
    """Return all that the simulation says of these warps."""
    found = TimingSimulation(InstructionStreams(warps), *given, **more)
    found.run()
    return found.waits, found.issued, found.ended, found.spans, found.fetches, found.iterations, found.left


def told_by_oracle(warps, given, more):
    found = oracle.TimingSimulation(warps, *given, **more)
    found.run()
    by_warp = [[tuple(getattr(w, name)) for w in found.warps] for name in ("spans", "iterations", "left")]
    spans, iterations, left = map(tuple, by_warp)
    return found.waits, found.issued, [w.ended for w in found.warps], spans, tuple(found.fetches), iterations, left


@pytest.mark.parametrize("seed", range(400 if NIGHTLY else 40))
def test_drawn_streams_are_timed_as_by_the_oracle(seed):
    assert told(*drawn_simulation(seed)) == told_by_oracle(*drawn_simulation(seed))


@pytest.fixture
def interpreted(monkeypatch):
    """The loop as it is where numba is not installed."""
    monkeypatch.setitem(sys.modules, "numba.core.decorators", None)
    spec = importlib.util.spec_from_file_location("interpreted_loop", event_loop.__file__)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    monkeypatch.setattr(simulation, "event_loop", plain)
    return plain


def test_without_numba_python_simulates_the_same(interpreted):
    assert event_loop.COMPILED and not interpreted.COMPILED
    for seed in range(10):
        assert told(*drawn_simulation(seed)) == told_by_oracle(*drawn_simulation(seed))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["tiled", *map(at_night, ("naive", "outer_product", "pipelined", "best", "per_row"))])
def test_launches_of_the_ladder_are_timed_as_by_the_oracle(name):
    """From DRAM and from the second-level cache, in step and not; half as many iterations as are predicted."""
    recording = measurements.load("ladder")
    r = next(r for r in recording.results if r["rung"] == name and "gflops" in r)
    launch = predictions.launch_of(r, H200, recording)
    warps = [stream[: len(stream) // 2] for stream in launch.loop]
    for served in ("L2", {"A": "DRAM"}, "DRAM"):
        for in_step in (False, True):
            more = {"rounds": 2, "loaded_by": {"A": 8.0}, "in_step": in_step}
            given = (warps, (H200, launch.resident, served, 100_000), more)
            assert told(*given) == told_by_oracle(*given)


def test_numbers_are_drawn_as_in_python():
    """Without an overflow where the numbers are largest."""
    for name, block, line in ((0, 0, 0), (2**32 - 1, 64, 2**31), (123_456, 7, 1)):
        assert pseudo_random(name, block, line) == (name + 31 * block + line) * 2_654_435_761 >> 8
