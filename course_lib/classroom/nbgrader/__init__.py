"""nbgrader with the course's judge: what `nbgrader_config.py` names, in the place of the steps that execute notebooks.

`SubmissionReader` reads what a student handed in, whatever it is; `RebuildNotebook` puts the assignment's own cells in
their places, and keeps of a student's cells their text; `Judge` judges each answer from that text, and writes the
output from which nbgrader takes the points; `MarkManualGrades` marks for a person what the judge leaves to one;
`Exercises` exports a row for each exercise. No cell of a student is executed. This package needs nbgrader (the extra
`grade`), and is in no edition for students, as the judge is.
"""

from .export import Exercises
from .judging import Judge, MarkManualGrades
from .reading import SubmissionReader
from .rebuilding import RebuildNotebook

__all__ = ["Exercises", "Judge", "RebuildNotebook", "SubmissionReader", "MarkManualGrades"]
