"""Processor time of the grader for a class."""

import itertools

from classroom.teach.made_class import KERNELS, LESSON, right, used, wrong

from course_lib.classroom.teach.collect import submissions
from course_lib.classroom.teach.grade import Batch
from course_lib.classroom.teach.limits import Limits


def bench_class(measured, tmp_path):
    """A submission, of 60 honest ones of lesson 4: its solution rewritten, and with mistakes of tests/exercises."""
    honest = (each for each in itertools.cycle([*wrong(), *right()]) if each.kind.split(":")[0] in KERNELS)
    (tmp_path / "in").mkdir()
    for number, student in enumerate(itertools.islice(honest, 60)):
        student.save(tmp_path / "in" / f"{number}.ipynb")
    limits = Limits()
    batch = Batch(submissions(tmp_path / "in", LESSON, limits), LESSON, tmp_path / "t.csv", tmp_path / "pages", limits)
    before = used()
    batch.grade()
    measured("submission graded", 1000 * (used() - before) / 60, 500)
