"""The contents of the viewer at one step, as data: words, source, registers, grids of elements and requests.

The page's state must equal it (:meth:`Scene.data`). Elements are row-major numbers, threads linear ids in the block.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from course_lib.simulator.findings import Finding
from course_lib.simulator.hardware import WARP_SIZE, ceil_div
from course_lib.simulator.launch_shape import coordinates, linear
from course_lib.trace.columns import OPS
from course_lib.trace.finding_locations import locate
from course_lib.trace.kernel_structure import shown_source
from course_lib.trace.replay import Timeline
from course_lib.trace.trace import Step
from course_lib.trace.viewer.digits import number
from course_lib.trace.viewer.lane_exchanges import Exchanged, exchanged
from course_lib.trace.viewer.words import (
    conditions,
    element,
    sentence,
    shown_dimensions,
)
from course_lib.trace.viewer.words import label as position_label
from course_lib.trace.viewer.wrong_elements import WrongElements
from oracles.fragments import Matrices, matrices_of
from oracles.grids import Grid, Grids
from oracles.pieces import products_in_flight
from oracles.replay import State
from oracles.requests import Request, request_of
from oracles.stops import line_runs
from oracles.strips import Strip, strips, waiting


class Scene:
    """One step of a block, seen by one of its threads; its parts are computed when they are read."""

    def __init__(
        self,
        timeline: Timeline,
        position: int,
        thread: int,
        wrong: WrongElements | None = None,
    ):
        self.timeline, self.position, self.thread = timeline, position, thread
        self.wrong = wrong or {}
        self.trace = timeline.trace
        self.state = State(timeline, position)

    @cached_property
    def step(self) -> Step | None:
        """The last step taken; None before the first."""
        return self.timeline.step(self.position) if self.position else None

    @cached_property
    def says(self) -> str:
        return sentence(self.timeline, self.position, self.thread)

    @property
    def where(self) -> str:
        """Launch, block, thread and step, in one line."""
        trace, dims = self.trace, shown_dimensions(self.trace)
        return (
            f"grid {position_label(trace.grid, dims)} × block {position_label(trace.block, dims)}     "
            f"block {position_label(self.timeline.block, dims)}, "
            f"thread {position_label(coordinates(self.thread, trace.block), dims)}     "
            f"step {self.position} of {len(self.timeline)}"
        )

    @cached_property
    def source(self) -> list[tuple[int, str, int, int]]:
        """(line, text, runs, global loads) of every line shown; the counts are the thread's."""
        at = self.timeline, self.position
        runs = {line: int(line_runs(*at, line)[self.thread]) for line, _ in shown_source(self.trace)}
        loads = {line: int(self.state.counts("global", "load", line)[self.thread]) for line in runs if runs[line]}
        return [(line, text, runs[line], loads.get(line, 0)) for line, text in shown_source(self.trace)]

    @property
    def line(self) -> int | None:
        return self.step.line if self.step else None

    @property
    def truth(self) -> str:
        """The thread's conditions on the line, with its numbers: ``7 < 5: false``."""
        return ", ".join(short_condition(text) for text in conditions(self.step, self.thread)) if self.step else ""

    @cached_property
    def _located(self) -> list[tuple[Finding, tuple[int, ...]]]:
        """Every finding in this block, and the positions of its accesses, later first."""
        places = ((finding, locate(self.trace, finding)) for finding in self.trace.findings)
        here = ((finding, tuple(p.position for p in at if p.block == self.timeline.block)) for finding, at in places)
        return [(finding, at) for finding, at in here if at]

    @property
    def findings(self) -> list[tuple[str, tuple[int, ...]]]:
        """The text of every finding in this block, and the positions of its accesses, later first."""
        return [(str(finding), at) for finding, at in self._located]

    @property
    def found(self) -> list[list[Any]]:
        """[kind, message, whether this step takes part] of every finding of the launch."""
        now = [finding for finding, at in self._located if self.position in at]
        return [[each.kind, each.message, each in now] for each in self.trace.findings]

    @property
    def broken(self) -> list[int]:
        """The lines of the findings in which this step takes part."""
        lines = {number for f, at in self._located if self.position in at for number in (f.line, f.other_line)}
        return [number for number, _ in shown_source(self.trace) if number in lines]

    @property
    def ticks(self) -> list[int]:
        """The positions at which the block's barriers open, and at which it breaks rules."""
        places = (locate(self.trace, finding)[:1] for finding in self.trace.findings)
        broken = (at for first in places for at in first if at.block == self.timeline.block)
        return sorted({*self.timeline.releases, *(at.position for at in broken)})

    @property
    def findings_now(self) -> list[str]:
        """The findings in which this step takes part, and the wrong values that it stores."""
        return [text for text, positions in self.findings if self.position in positions] + self.wrong_now

    @property
    def wrong_now(self) -> list[str]:
        """``C[1, 2] holds 3 in the end, and 5 was wanted``, of the elements that the thread stores in this step."""
        found = []
        for name, elements in self.wrong.items():
            accesses = self.timeline.accesses(name)
            now = accesses.between(self.position - 1, self.position)
            mine = accesses.store[now] & (accesses.thread[now] == self.thread)
            for flat in np.unique(accesses.element[now][mine]).tolist():
                if str(flat) in elements:
                    holds, wanted = elements[str(flat)]
                    place = element(name, flat, self.trace.arrays[name].shape)
                    found.append(f"{place} holds {holds} in the end, and {wanted} was wanted.")
        return found

    @cached_property
    def registers(self) -> list[tuple[str, str]]:
        """(name, value) of every variable that the thread has assigned, in the order of their first assignments."""
        columns, timeline = self.trace.columns, self.timeline
        numbers = columns.variable["name"][columns.rows("variable", timeline.first, timeline.last)]
        names = [columns.names[i] for i in dict.fromkeys(numbers.tolist())]
        held = ((name, self.state.variable(name)[self.thread]) for name in names)
        return [(name, number(value)) for name, value in held if value is not np.ma.masked]

    @property
    def changed(self) -> list[str]:
        """The variables that the thread assigned in this step."""
        return sorted(self.step.variables) if self.step and self.thread in self.step.threads else []

    @cached_property
    def grids(self) -> list[Grid]:
        """The elements of all arrays, and the accumulators in all threads."""
        broken = [finding for finding, at in self._located if self.position in at]
        block = self.timeline.block
        threads = [at.thread for finding in broken for at in locate(self.trace, finding) if at.block == block]
        return Grids(self.timeline, self.position, self.thread, broken, threads, self.wrong).all()

    @cached_property
    def requests(self) -> list[Request]:
        """The requests of the step's warp to global and shared memory."""
        if self.step is None:
            return []
        arrays = self.trace.arrays
        return [
            request_of(self.trace, access) for access in self.step.accesses if arrays[access.array].space != "local"
        ]

    @cached_property
    def costs(self) -> list[list[Any]]:
        """The requests so far: [space, line, access, requests, sectors or wavefronts, conflicts].

        A row for each line, array and kind of access that the block makes in the whole launch; the last entry tells
        whether this step makes it.
        """
        columns, arrays, timeline = self.trace.columns, self.trace.arrays, self.timeline
        rows = columns.rows("access", timeline.first, timeline.last)
        table = {name: column[rows].tolist() for name, column in columns.access.items()}
        found: dict[tuple[str, int, str], list[Any]] = {}
        for i, step in enumerate(table["step"]):
            array = arrays[columns.arrays[table["array"][i]]]
            if array.space == "local":
                continue
            key = array.space, int(columns.step["line"][step]), f"{OPS[table['op'][i]]} {array.name}"
            row = found.setdefault(key, [0, 0, 0, False])
            if step - timeline.first < self.position:
                cost = table["sectors" if array.space == "global" else "wavefronts"][i]
                for j, more in enumerate((1, cost, table["conflicts"][i])):
                    row[j] += more
                row[3] = step - timeline.first == self.position - 1
        return sorted([*key, *row] for key, row in found.items())

    @property
    def _lane(self) -> int:
        """The thread's lane if its warp runs in this step, else -1."""
        runs = self.step is not None and self.step.warp == self.thread // WARP_SIZE
        return self.thread % WARP_SIZE if runs else -1

    @cached_property
    def launch(self) -> dict[str, Any]:
        """A row for each line, array and kind of access: [whether it runs now, line, access, accesses, requests]."""
        rows = [[row.line, f"{row.op} {row.array}", row.accesses, row.requests] for row in self.trace.traffic]
        return {"rows": [[row[0] == self.line, *map(str, row)] for row in rows]}

    @property
    def who(self) -> str:
        """Whose step it is: the block and the chosen thread."""
        dims = shown_dimensions(self.trace)
        block, thread = self.timeline.block, coordinates(self.thread, self.trace.block)
        return f"block {position_label(block, dims)}, thread {position_label(thread, dims)}"

    @cached_property
    def exchanges(self) -> list[Exchanged]:
        """The shuffles and votes of the step's warp."""
        return [exchanged(each) for each in self.step.exchanges] if self.step else []

    @cached_property
    def matrices(self) -> list[Matrices]:
        """The lanes that hold the elements of the matrices that the statement multiplies."""
        return matrices_of(self.trace, self.step, self.thread)

    @property
    def strips(self) -> tuple[Strip, ...]:
        """The history of each warp, and of each buffer of shared memory, over all steps of the block."""
        return strips(self.timeline)

    def data(self) -> dict[str, Any]:
        """All parts, as JSON holds them: what a page must show for the same step."""
        names = "says who line truth ticks costs found broken source registers changed strips".split()
        found = {name: getattr(self, name) for name in names} | {
            "where": [self.timeline.block, self.thread, self.position, len(self.timeline)],
            "findings": self.findings_now,
            "grids": [asdict(grid) | {"wrong": sorted(set(grid.wrong))} for grid in self.grids],
            "requests": [
                {
                    "says": request.says,
                    "lanes": request.lanes,
                    "words": sorted(request.words.items()),
                    "mine": sorted(word for word, lanes in request.words.items() if self._lane in lanes),
                }
                for request in self.requests
            ],
            "exchanges": [asdict(each) | {"says": each.says} for each in self.exchanges],
            "matrices": [
                {
                    "says": each.says,
                    "held": [[m.title, m.lanes, sorted(m.mine)] for m in each.held],
                    "read": [[read.title, read.rows] for read in each.read],
                }
                for each in self.matrices
            ],
            "in_flight": products_in_flight(self.timeline, self.position),
            "waiting": waiting_sentence(self.timeline, self.position),
        }
        data: dict[str, Any] = json.loads(json.dumps(found, default=int))
        return data


def scene_of(stepper: Any, step: int | None = None) -> Scene:
    """Return the scene of a stepper's step, by default the one that its text describes."""
    view = stepper._described()
    thread = linear(stepper.thread, stepper.trace.block)
    if step is None:
        return Scene(view.timeline, view.position, thread if stepper.step else view.places[0][1], stepper._wrong)
    return Scene(stepper.timeline, step, thread, stepper._wrong)


def short_condition(text):
    """A text of `conditions`, short enough for the space beside its line: ``7 < 5: false``."""
    said, _, truth = text.rpartition(" is ")
    return f"{said.rpartition(': ')[2]}: {truth}"


def waiting_sentence(timeline, position):
    """Say which warps have arrived at a barrier that is still closed."""
    there = waiting(timeline, position)
    if not there:
        return "No warp waits." + ("" if timeline.releases else " This block meets no barrier.")
    others = [warp for warp in range(ceil_div(timeline.n_threads, WARP_SIZE)) if warp not in there]
    return f"At the barrier: {_warps(there)}; not there yet: {_warps(others)}."


def _warps(warps):
    return f"warp{'s' * (len(warps) > 1)} {', '.join(map(str, warps))}"
