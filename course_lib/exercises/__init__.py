"""Exercises graded on the mechanism: values, broken rules and memory traffic of the student's own kernel.

`check("name", kernel)` runs the kernel on the thread simulator and returns a `Verdict`. One file per exercise;
`EXERCISES` lists them in the order of the course.
"""

from . import barriers, gram, last_round, one_buffer, transposed, two_columns
from .grading import Verdict, grade
from .missing_gpu import explain_missing_gpu
from .predict import predict, score

EXERCISES = {
    exercise.name: exercise
    for exercise in (
        transposed.EXERCISE,
        two_columns.EXERCISE,
        barriers.EXERCISE,
        gram.EXERCISE,
        one_buffer.EXERCISE,
        last_round.EXERCISE,
    )
}

explain_missing_gpu()


def check(name, kernel) -> Verdict:
    """Grade ``kernel`` against the exercise called ``name``.

    Raises ValueError for a name that no exercise has, and for a kernel with the wrong parameters; TypeError
    where ``name`` is no text or ``kernel`` no kernel.
    """
    if not isinstance(name, str):
        raise TypeError(f'check takes the name of the exercise first, as in check("barriers", kernel), not {name!r}')
    if name not in EXERCISES:
        raise ValueError(f"there is no exercise {name!r}; the exercises are {', '.join(EXERCISES)}")
    return grade(EXERCISES[name], kernel)


__all__ = ["EXERCISES", "Verdict", "check", "predict", "score"]
