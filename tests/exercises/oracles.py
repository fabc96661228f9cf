"""What is right in the exercises that are plain functions: calls drawn by a seed, with their results.

Running this file writes the calls that the grader draws from, and digests of others for `check`, which students have.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import course_lib.exercises
from course_lib.classroom import teach
from course_lib.exercises.grading.routines import digest_of_result
from course_lib.simulator.hardware import BANKS, ceil_div
from course_lib.simulator.occupancy import occupancy

Arguments = tuple[Any, ...]
#: How many calls of each exercise the grader draws from, and how many `check` makes.
STORED, CHECKED = 25, 5
DRAWN = Path(teach.__file__).with_name("drawn.json")
DIGESTS = Path(course_lib.exercises.__file__).with_name("digests.json")
#: A multiprocessor of the H200.
_GPU = {
    "threads_per_multiprocessor": 2_048,
    "registers_per_multiprocessor": 65_536,
    "shared_bytes_per_multiprocessor": 228 * 1024,
}


def _integers(*ranges: tuple[int, int]) -> Callable[[np.random.Generator], Arguments]:
    """Arguments that are whole numbers, each from a range without its end."""
    return lambda rng: tuple(int(rng.integers(*each)) for each in ranges)


def _mix(rng: np.random.Generator) -> Arguments:
    names = ["FFMA", *rng.choice(["IMAD", "LDG.128", "STS", "BAR", "ISETP", "BRA", "MOV", "LEA"], 4, replace=False)]
    return ({str(name): int(count) for name, count in zip(names, rng.integers(20, 90, 5), strict=True)},)


def _pair(rng: np.random.Generator) -> Arguments:
    """A result and the right one: equal, with an error as large as rounding where terms cancel, or wrong."""
    want = rng.integers(1, 10, (5, 6)).astype(np.float32)
    C, place = want.copy(), (int(rng.integers(5)), int(rng.integers(6)))
    match int(rng.integers(6)):
        case 0 | 1:
            want[place], C[place] = 1e-6, 6e-6
        case 2:
            C[place] = 20
        case 3:
            C[place] = np.nan
        case 4:
            C, want = C / np.float32(500), want / np.float32(1000)
    return C, want


def _same(C: Any, want: Any) -> bool:
    return C.shape == want.shape and bool(np.linalg.norm(C - want) <= 1e-5 * np.linalg.norm(want))


def _race(rng: np.random.Generator) -> Arguments:
    ratios, b = rng.integers(5, 40, 9) / 10, np.linspace(1, 5, 9)
    return (ratios * b).tolist(), b.tolist()


def _times_as_fast(a: list[float], b: list[float]) -> float:
    ratios = np.array(a) / np.array(b)
    clear = max(np.mean(ratios > 1), np.mean(ratios < 1)) >= 0.9
    return float(np.median(ratios)) if clear else 1.0


def _pipeline(rng: np.random.Generator) -> Arguments:
    work, buffers = int(rng.integers(20, 300)), int(rng.integers(2, 7))
    return int(rng.integers(10, 40)), work, int(rng.integers(buffers * work, 12 * work)), buffers


def _last_cycle(pairs: int, work: int, latency: int, buffers: int) -> int:
    """Return the cycle by a formula: the pairs loaded ahead take their work together, or a latency if that is more."""
    ahead = buffers - 1
    if not ahead:
        return pairs * (latency + work)
    rounds, rest = divmod(pairs - 1, ahead)
    return latency + rounds * max(ahead * work, latency) + (rest + 1) * work


def _fewest(registers: int, sets: int, others: int) -> float:
    sides = [2**n for n in range(2, 8)]
    return min((h + w) / (h * w) for h in sides for w in sides if h * w + sets * (h + w) + others <= registers)


def _stages(rng: np.random.Generator) -> Arguments:
    sides = (16 * int(rng.integers(4, 17)) for _ in range(3))
    return *sides, int(rng.choice([2, 4])), 1024 * int(rng.integers(300, 900))


#: How the arguments of an exercise's calls are drawn, and what is right for them.
ORACLES: dict[str, tuple[Callable[[np.random.Generator], Arguments], Callable[..., bool | float]]] = {
    "which-bank": (_integers((40, 90), (40, 90), (40, 90)), lambda row, col, width: (row * width + col) % BANKS),
    "free-paddings": (
        _integers((3, BANKS), (20, 60)),
        lambda T, most: sum(len({i * (T + p) % BANKS for i in range(T)}) == T for p in range(most + 1)),
    ),
    "useful-share": (_mix, lambda mix: mix["FFMA"] / sum(mix.values())),
    "blocks-that-fit": (
        lambda rng: (int(rng.integers(33, 512)), int(rng.integers(20, 120)), 128 * int(rng.integers(0, 200))),
        lambda threads, registers, shared: occupancy(threads, registers, shared, _GPU).blocks,
    ),
    "written-buffer": (_integers((50, 90), (4, 8)), lambda iteration, buffers: (iteration + 1) % buffers),
    "busy-cycles": (
        _integers((2, 9), (5, 60), (100, 300)),
        lambda warps, work, latency: min(1.0, warps * work / (work + latency)),
    ),
    "requests-in-flight": (
        lambda rng: (int(rng.integers(300, 900)), int(rng.integers(9, 70)), int(rng.choice([64, 96, 512]))),
        lambda cycles, rate, size: ceil_div(cycles * rate, size),
    ),
    "more-buffers": (_pipeline, _last_cycle),
    "gain": (
        lambda rng: tuple(int(rng.integers(*ends)) / part for ends, part in 2 * [((110, 400), 100), ((300, 950), 10)]),
        lambda before, busy_before, after, busy_after: busy_after / after / (busy_before / before),
    ),
    "fewest-reads": (_integers((80, 400), (1, 4), (10, 30)), _fewest),
    "rate": (
        lambda rng: (*rng.integers(200, 900, 3).tolist(), int(rng.integers(200, 900)) / 64),
        lambda M, N, K, milliseconds: 2 * M * N * K / milliseconds / 1e6,
    ),
    "same-result": (_pair, _same),
    "typical": (
        lambda rng: (rng.integers(20, 90, 12).astype(float).tolist(), int(rng.integers(1, 5))),
        lambda milliseconds, warmups: float(np.median(milliseconds[warmups:])),
    ),
    "times-as-fast": (_race, _times_as_fast),
    "busy": (
        _integers((300, 900), (20, 90)),
        lambda tiles, at_once: tiles / (ceil_div(tiles, at_once) * at_once),
    ),
    "lane-of": (_integers((0, 16), (0, 8)), lambda row, column: 4 * (row % 8) + column % 4),
    "swizzled-place": (_integers((9, 63), (0, 32)), lambda row, k: 32 * row + 4 * (k // 4 ^ row % 8) + k % 4),
    "stages": (
        _stages,
        lambda rows, columns, depth, itemsize, shared: shared // ((rows + columns) * depth * itemsize),
    ),
    "plan": (_integers((3, 30), (3, 30)), lambda height, width: (height + width) / (height * width)),
}


def texts():
    """The text of each file: a line for each exercise."""
    calls = {name: _calls(name) for name in ORACLES}
    drawn = {name: found[:STORED] for name, found in calls.items()}
    digests = {
        name: [(each, digest_of_result(json.dumps(each), want)) for each, want in found[STORED:]]
        for name, found in calls.items()
    }
    return {DRAWN: _text(drawn), DIGESTS: _text(digests)}


def _text(calls):
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in calls.items()) + "\n}\n"


def _calls(name):
    """The calls to be drawn from, and those of `check`, among which both truths are, where a result is one."""
    arguments, right = ORACLES[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))

    def some(number, besides=()):
        calls = [(each, right(*each)) for each in (arguments(rng) for _ in range(number))]
        found = [([_as_json(each) for each in each], want) for each, want in calls]
        known = any(call in besides for call in found)
        return some(number, besides) if known or len({want for _, want in found}) < 2 else found

    return (drawn := some(STORED)) + some(CHECKED, drawn)


def _as_json(value):
    return {"float32": value.tolist()} if isinstance(value, np.ndarray) else value


if __name__ == "__main__":
    for file, text in texts().items():
        file.write_text(text, encoding="utf-8")
