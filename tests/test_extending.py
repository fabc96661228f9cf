"""A counter is added in one place, as CONTRIBUTING says."""

from dataclasses import fields, make_dataclass

import numpy as np
from numba import cuda

import course_lib.simulator.run
from course_lib import simulate
from course_lib.simulator import simulation
from course_lib.simulator.counters import COUNTERS
from course_lib.simulator.counters.traffic import Counter, TrafficObserver, key_of
from course_lib.simulator.run import COUNTS, Traffic, TrafficRow

FRONT = vars(simulation)


@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def launch(**options):
    return simulate(copy, **options)[2, 32](np.arange(40.0), np.zeros(40))


class IdleLanes(Counter):
    """Lanes that a request leaves idle."""

    def __init__(self):
        super().__init__()
        self.idle = {}

    def columns(self):
        return {"idle": self.idle}

    def counted(self, site, pattern):
        warps, lanes = pattern.vector.warps_active(pattern.mask), pattern.vector.count(pattern.mask)
        key, times = key_of(site, pattern), sum(pattern.tally.values())
        self.idle[key] = self.idle.get(key, 0) + times * (32 * warps - lanes)


def test_a_counter(monkeypatch):
    wider = make_dataclass("Wider", [("idle", int, course_lib.simulator.run.count())], bases=(TrafficRow,), frozen=True)
    monkeypatch.setitem(FRONT, "COUNTERS", (*COUNTERS, IdleLanes))
    monkeypatch.setitem(FRONT, "TrafficRow", wider)

    rows = launch().traffic.rows

    assert [(row.op, row.idle) for row in rows] == [("load", 24), ("store", 24)]


def test_every_count_has_one_counter():
    names = [name for make in (TrafficObserver, *COUNTERS) for name in make().columns()]

    assert sorted(names) == sorted(COUNTS)
    assert {name for name in (*COUNTS, "bytes") if isinstance(vars(Traffic).get(name), property)} == {*COUNTS, "bytes"}
    assert {entry.name for entry in fields(TrafficRow)} > set(COUNTS)
