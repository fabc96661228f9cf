"""Processor time of `teach grade`."""

import itertools

from classroom.teach.made_class import KERNELS, LESSON, right, used, wrong

from course_lib.classroom.teach.grade import judged_file
from course_lib.classroom.teach.worker import Worker


def bench_class(measured, tmp_path):
    """A notebook, of 60 honest ones of lesson 4: its solution rewritten, and with mistakes of tests/exercises."""
    honest = (each for each in itertools.cycle([*wrong(), *right()]) if each.kind.split(":")[0] in KERNELS)
    paths = [tmp_path / f"{number}.ipynb" for number in range(60)]
    for path, student in zip(paths, honest, strict=False):
        student.save(path)
    before = used()
    with Worker() as worker:
        for path in paths:
            judged_file(path, LESSON, worker)
    measured("notebook graded", 1000 * (used() - before) / len(paths), 500)
