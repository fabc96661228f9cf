"""What the viewer says of shuffles and votes is what CUDA defines, counted with NumPy from the launch's arguments."""

import pytest
from launches.samples import launch, numbers
from oracles.scene import Scene

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer.digits import number

THREADS = 45
A = numbers(2 * THREADS)[THREADS:] / 4  # of block 1
SOURCES = {
    "shfl_sync": lambda lane: 3 * lane % 32,
    "shfl_up_sync": lambda lane: lane - 2 if lane >= 2 else lane,
    "shfl_down_sync": lambda lane: lane + 4 if lane < 28 else lane,
    "shfl_xor_sync": lambda lane: lane ^ 1,
}


def bits(lanes):
    return f"0x{sum(1 << lane for lane in lanes):08x}"


def wanted(line, operation, warp):
    """(gave, source, got) of the 32 lanes; ``line`` counts the lines of the kernel that exchange, from 0."""
    base = 32 * warp
    here = range(min(32, THREADS - base))
    named = [lane for lane in here if (base + lane) % 5 != 2]
    values = {lane: float(A[base + lane]) for lane in here}
    if line == 0:
        gave = {lane: lane in named for lane in here}
        got = dict.fromkeys(here, bits(named))
    elif line in (1, 2, 3, 4):
        source = {lane: SOURCES[operation](lane) for lane in named}
        got = {lane: number(A[base + s]) if s in named else "undefined" for lane, s in source.items()}
        return {lane: number(A[base + lane]) for lane in named}, source, got
    elif line in (5, 6):
        gave = {lane: values[lane] > (3 if line == 5 else 8) for lane in named}
        truth = all(gave.values()) if line == 5 else any(gave.values())
        got = dict.fromkeys(named, str(truth).lower())
    elif line in (7, 9):
        gave = {lane: "0" if line == 7 else number(A[base + lane]) for lane in named}
        got = dict.fromkeys(named, str(len(set(gave.values())) == 1).lower())
    elif line in (8, 10):
        lanes, period = (named, 3) if line == 8 else (here, 2)
        key = {lane: lane % 3 if line == 8 else (base + lane) % 2 for lane in lanes}
        gave = {lane: str(key[lane]) for lane in lanes}
        got = {lane: bits(other for other in lanes if key[other] == key[lane]) for lane in lanes}
    elif line == 11:
        gave = {lane: values[lane] > 4 for lane in here}
        got = {lane: bits(o for o in here if gave[o] and (o - lane) % 2 == 0) for lane in here}
    else:
        source = {lane: lane ^ 2 for lane in here}
        got = {lane: number(A[base + s]) if s in here else "undefined" for lane, s in source.items()}
        return {lane: number(A[base + lane]) for lane in here}, source, got
    gave = {lane: {True: "yes", False: "no"}.get(value, value) for lane, value in gave.items()}
    return gave, {}, got


@pytest.mark.parametrize("warp", [0, 1])
def test_each_lane_gives_and_gets_what_cuda_defines(warp):
    """By whole warps, by the lanes of a mask, apart in two groups, and in a warp of 13 lanes."""
    trace = launch("exchanges").trace
    timeline = Timeline(trace, (1, 0, 0))
    steps = [p for p in range(1, len(timeline) + 1) if timeline.step(p).exchanges and timeline.step(p).warp == warp]
    assert len(steps) == 13
    for line, position in enumerate(steps):
        scene = Scene(timeline, position, 32 * warp)
        (exchange,) = scene.exchanges
        for name, part in zip(("gave", "source", "got"), wanted(line, exchange.operation, warp), strict=True):
            shown = {lane: value for lane, value in enumerate(getattr(exchange, name)) if value is not None}
            assert shown == part, (line, exchange.operation, name)


def sentences(line, thread, warp=0):
    """The scene's sentence of a thread after its n-th exchange, and that of the picture."""
    timeline = Timeline(launch("exchanges").trace, (1, 0, 0))
    steps = [p for p in range(1, len(timeline) + 1) if timeline.step(p).exchanges and timeline.step(p).warp == warp]
    scene = Scene(timeline, steps[line], thread)
    return scene.says.partition(". ")[2], scene.exchanges[0].says


def test_the_sentences():
    """The chosen thread's part with its lane, and how many lanes do what."""
    mine, all_ = sentences(2, 5)
    assert f"gets {number(A[3])} from lane 3" in mine
    named = [lane for lane in range(32) if lane % 5 != 2]
    silent = sum(lane >= 2 and (lane - 2) % 5 == 2 for lane in named)
    own = sum(lane < 2 for lane in named)
    other = len(named) - silent - own
    assert all_ == (
        f"shfl_up_sync: {other} of {len(named)} lanes take another lane's value, {own} keep their own, "
        f"{silent} take from a lane that gives none."
    )
    assert "gets an undefined value from lane 2, which gives none" in sentences(2, 4)[0]
    assert f"gets its own {number(A[1])}" in sentences(2, 1)[0]
    yes = sum(A[lane] > 3 for lane in named)
    assert sentences(5, 0)[1] == f"all_sync: {yes} of {len(named)} lanes vote yes; the result is false."
    assert "votes " in sentences(5, 0)[0] and " in all_sync: false" in sentences(5, 0)[0]
    assert sentences(8, 0)[1] == f"match_any_sync: {len(named)} lanes in 3 groups of equal values."
    assert "Thread 2 takes no part" in sentences(3, 2)[0]
