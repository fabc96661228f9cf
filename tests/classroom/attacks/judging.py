"""Judges the attacks of a lesson between two honest answers, in one worker; prints the verdicts as JSON."""

import json
import sys

from classroom.attacks.texts import KERNELS, ROUTINES, SPEED
from classroom.teach.cheats import LESSON, solution
from nightly import NIGHTLY

from course_lib.classroom.teach.judge import Judged, from_json
from course_lib.classroom.teach.submission import Answer
from course_lib.classroom.teach.worker import Stopped, Worker

#: By day every so many-th attack is judged in a worker, each at night.
STEP = 1 if NIGHTLY else 5


def cells(lesson):
    """{name: (exercise, cell)}: an honest answer, the attacks, and the honest answer again."""
    attacks = {name: ("rate", text) for name, text in ROUTINES.items()} if lesson == SPEED else KERNELS
    attacks = dict([*attacks.items()][::STEP])
    name = "rate" if lesson == SPEED else "barriers"
    honest = name, solution(name, lesson)
    return {"honest, before": honest, **attacks, "honest, after": honest}


def main(lesson):
    verdicts = {}
    with Worker() as worker:
        for name, (exercise, cell) in cells(lesson).items():
            try:
                row = worker.do("judge", lesson, {exercise: Answer(cell)}, 7)[exercise]
            except Stopped as stopped:
                row = {"exercise": exercise, "points": 0, "of": 0, "status": "stopped", "hint": str(stopped)}
            verdicts[name] = row | {"html": Judged(**from_json(row))._repr_html_()}
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main({"kernels": LESSON, "routines": SPEED}[sys.argv[1]])
