"""A class of any size that hands in lesson 4: right in several ways, wrong, hostile or broken, each with its grade.

Every notebook is the lesson with all exercises solved, and one thing changed.
"""

import copy
import itertools
import json
import re
import resource
from dataclasses import dataclass, field

from classroom.teach.cheats import CHEATS, LESSON, notebook, skeleton, solution, solutions
from exercises.tables import applied, tables
from oracles.rewrites import REWRITES

from course_lib.classroom.teach.cells import notebook as lesson_notebook
from course_lib.classroom.teach.cells import places
from course_lib.exercises import EXERCISES, LESSONS
from course_lib.exercises.grading.explain import Explanation

ANSWERS = tables("lesson_04_tiling")
NAMES = [exercise.name for exercise in LESSONS[LESSON]]
KERNELS = [name for name in NAMES if not isinstance(EXERCISES[name], Explanation)]
SOLVED = {name: ("to read" if name not in KERNELS else "passed", "") for name in NAMES}


@dataclass(frozen=True)
class Student:
    """``notebook`` is what is handed in: JSON, or bytes; ``want`` the status of each exercise, and the
    id of its hint or words of one without an id."""

    kind: str
    notebook: object
    want: dict = field(default_factory=lambda: dict(SOLVED))

    def save(self, path):
        data = self.notebook
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())


def solved(**changed):
    """The notebook with all exercises solved; ``changed`` are other cells, by exercise with _ for -."""
    cells = {cell["id"]: cell["source"] for cell in exercises(**changed)["cells"]}
    whole = copy.deepcopy(lesson_notebook(LESSON))
    for cell in whole["cells"]:
        cell["source"] = cells.get(cell["id"], cell["source"])
    return whole


def exercises(**changed):
    """The same notebook without the cells of the lesson."""
    return notebook(LESSON, solutions(LESSON) | {name.replace("_", "-"): text for name, text in changed.items()})


def _one(kind, exercise, text, status, words=""):
    return Student(kind, solved(**{exercise.replace("-", "_"): text}), SOLVED | {exercise: (status, words)})


def _answers(table):
    """The answers of tests/exercises: (exercise, what it is, answer)."""
    return [(name, *answer) for name, answers in ANSWERS[table].items() if name in NAMES for answer in answers.items()]


def _cell_of(exercise, change):
    """The cell of a change as tests/exercises has it."""
    solved, given = (text(exercise).split("\n\n\ncheck(")[0] + "\n" for text in (solution, skeleton))
    text = applied(change, solved, given)
    *_, name = re.findall(r"^def (\w+)\(", text, re.MULTILINE)
    return f'{text}\n\ncheck("{exercise}", {name})\n'


def right():
    yield Student("the solution", solved())
    for name, (rewrite, change) in itertools.product(KERNELS, REWRITES.items()):
        kernel, check = solution(name).split("\n\n\ncheck(")
        yield _one(f"{name}: {rewrite}", name, f"{change(kernel)}\n\n\ncheck({check}", "passed")
    for name, _, change in _answers("RIGHT"):
        yield _one(f"{name}: another answer", name, _cell_of(name, change), "passed")
    name = "barriers"
    yield _one("another name", name, solution(name).replace("product", "my_kernel"), "passed")
    yield _one("hangs beside the kernel", name, f"{solution(name)}\nwhile True:\n    pass\n", "passed")
    yield _one("64 GiB beside the kernel", name, f"big = np.zeros(2**33)\n{solution(name)}", "passed")
    yield _one("100 MB printed beside it", name, f"print('x' * 10**8)\n{solution(name)}", "passed")
    yield _one("a power of a power beside it", name, f"N = 10**10**10\n{solution(name)}", "passed")


def wrong():
    for name, mistake, (change, hint) in _answers("WRONG"):
        yield _one(f"{name}: {mistake}", name, _cell_of(name, change), "failed", hint.partition(": ")[0])
    name, text = "barriers", solution("barriers")
    hang = "        cuda.syncthreads()\n        for k"
    printing = "        while acc < 1e9:\n            print(acc)\n"
    for kind, before, after, words in (
        ("hangs in the kernel", hang, "        while True:\n            acc += 0\n" + hang, "this loop"),
        ("64 GiB in shared memory", "(TILE, TILE), float32)\n    B", "(131072, 131072), float32)\n    B", ""),
        ("100 MB printed in the kernel", hang, printing + hang, "nothing-ends-it"),
        ("a power of a power in the kernel", "float32(0)", "float32(9**9**9)", ""),
        ("a list of 64 GiB in the kernel", "float32(0)", "[0.0] * 2**33", ""),
        ("a syntax error", "for k in range(TILE):", "for k in range(TILE)", "is no Python"),
        ("an indentation error", "        cuda.syncthreads()\n", "     cuda.syncthreads()\n", "is no Python"),
    ):
        yield _one(kind, name, text.replace(before, after, 1), "failed|stopped", words)
    yield _one("a cell of a megabyte", name, text + "# …\n" * 300_000, "refused", "characters")
    yield _one("not begun", name, skeleton(name), "not yet", "three dots")
    yield _one("emptied", name, "", "not yet", "no function")
    yield _one("no words", "two-barriers", skeleton("two-barriers"), "not yet", "few words")


def cheats():
    for name, told in CHEATS.items():
        yield _one(f"cheat: {name}", "barriers", *told)


def broken():
    whole = solved()
    cells = {place.cell: name for name, place in places(LESSON).items()}
    without = copy.deepcopy(whole)
    without["cells"] = [cell for cell in whole["cells"] if cells.get(cell["id"]) != "barriers"]
    yield Student("a cell deleted", without, SOLVED | {"barriers": ("missing", "no cell")})
    yield Student("only the exercises", exercises())
    yield Student("cells reordered", whole | {"cells": whole["cells"][::-1]})
    bare = copy.deepcopy(whole)
    for cell in bare["cells"]:
        del cell["id"]
    yield Student("ids lost", bare)
    loud = copy.deepcopy(whole)
    stream = {"name": "stdout", "output_type": "stream", "text": "x" * 10**8}
    next(c for c in loud["cells"] if c["cell_type"] == "code")["outputs"] = [stream]
    yield Student("100 MB of stored output", loud)


def students(number):
    """So many students: one of each kind as long as that lasts, then again the right and the wrong ones."""
    kinds = [*cheats(), *broken(), *wrong(), *right()]
    usual = [*wrong(), *right()]
    return list(itertools.islice(itertools.chain(kinds, itertools.cycle(usual)), number))


def surprises(made, graded):
    """What the grader said differently: (kind, exercise, status, points, hint)."""
    found = []
    for student, rows in graded.items():
        kind, want = made[student].kind, made[student].want
        for row in rows:
            status, words = want[row.exercise]
            full = {"passed": row.of, "to read": None}.get(row.status)
            right = row.points == full if row.status in ("passed", "to read") else (row.points or 0) < row.of
            if row.status not in status.split("|") or words not in (row.hint_id or row.hint) or not right:
                found.append((kind, row.exercise, row.status, row.points, row.hint))
        if [row.exercise for row in rows] != NAMES:
            found.append((kind, "", "rows", len(rows), ""))
    return found


def save(number, folder):
    """Save a class in ``folder``; return the students by name."""
    made = {f"student{n:03}": student for n, student in enumerate(students(number))}
    folder.mkdir(parents=True, exist_ok=True)
    for name, student in made.items():
        student.save(folder / f"{name}.ipynb")
    return made


def used():
    """The processor's seconds of this process and of those that ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)
