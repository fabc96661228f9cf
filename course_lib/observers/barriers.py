"""Barriers that only a part of a block reaches, and warp operations that name absent lanes."""

from __future__ import annotations

import numpy as np

from ..simulator.findings import Finding
from ..simulator.observer import Observer


class BarriersObserver(Observer):
    """Reports who did not come to a barrier, and why: returned, waiting elsewhere, or on another path."""

    def start(self, engine):
        super().start(engine)
        self._paths: dict[tuple, dict] = {}  # (branch, barrier) lines -> who missed that barrier on another path

    def divergence(self, barrier, vectors, arrivals, missing, waiting):
        line, branch = barrier.line, barrier.branch
        arrived = {vector.warp for vector, _ in arrivals}
        parted = blocks_of(missing)
        came = next(
            v.first_thread(v.full(mask) & parted)
            for v, mask in sorted(arrivals, key=lambda a: a[0].warp)
            if (v.full(mask) & parted).any()
        )
        count = sum(int(np.count_nonzero(m)) for m in missing.values())
        vector = next(v for v in vectors if missing[v.warp].any())
        absent = missing[vector.warp]
        other, why = branch, "took another path" + (f" at line {branch}" if branch else "")
        for mask, at in vector.returned:
            if (vector.full(mask) & absent).any():
                absent = vector.full(mask) & absent
                other, why = at, f"had returned at line {at}"
                break
        else:
            elsewhere = waiting.get(vector.warp)
            if elsewhere is not None and vector.warp not in arrived and (vector.full(elsewhere.mask) & absent).any():
                absent = vector.full(elsewhere.mask) & absent
                other, why = elsewhere.line, f"waits at the barrier in line {elsewhere.line}"
        thread = vector.first_thread(absent)
        if why.startswith("took another path") and branch:
            # if the other branch has a barrier, the missing threads have met it before, or will meet it later: one
            # finding with both lines takes the place of the first
            for (at, barrier_line), absentees in list(self._paths.items()):
                met = [v for v, m in arrivals if (v.full(m) & absentees.get(v.warp, False)).any()]
                if at == branch and barrier_line != line and met:
                    self._findings.pop(("barrier-divergence", barrier_line, branch, None), None)
                    other, why = barrier_line, f"went to the barrier in line {barrier_line}"
                    break
            else:
                self._paths[branch, line] = missing
        self.add(
            Finding(
                "barrier-divergence",
                "error",
                line,
                other,
                None,
                None,
                (came, thread),
                f"{self.name(came)} reached syncthreads() in line {line}, but {self.name(thread)} {why}; "
                "every thread of a block must reach the same barrier",
                count,
            )
        )

    def misled(self, line, vector, lanes, what):
        thread = vector.first_thread(lanes)
        text = {
            "absent": "is named in the mask of this warp operation but does not arrive at it",
            "stray": "arrives at this warp operation but is not named in its mask",
        }[what]
        self.add(
            Finding(
                "barrier-divergence",
                "error",
                line,
                None,
                None,
                None,
                (thread,),
                f"{self.name(thread)} {text}; the mask must name exactly the lanes that take part",
                int(np.count_nonzero(lanes)),
            )
        )


def blocks_of(missing) -> np.ndarray:
    """The blocks in which somebody is missing, as a mask over (1, 1, block rows, block columns)."""
    return np.any([m.any(axis=(0, 1)) for m in missing.values()], axis=0)[None, None]
