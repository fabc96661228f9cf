"""How the files of answers/ are read, which say for each exercise what is changed in its solution."""

import re
import runpy
from pathlib import Path

TABLES = ("WRONG", "NIGHTLY", "RIGHT")
ANSWERS = Path(__file__).parent / "answers"
#: A fill-in of a skeleton.
DOTS = re.compile(r"^ *\.\.\.\n", re.MULTILINE)


def tables(lesson):
    r"""Return what stands in answers/``lesson``.py, with each table as {exercise: {what it is: answer}}.

    A table is a text. `# exercise` begins an exercise. An answer is one line, `what it is: change ? hint`, or one with
    `what it is ? hint` and one for each change: `- old -> new` in the solution's cell, `> text` for the next fill-in
    of the skeleton, or `@ text` in the place of the whole cell. `+` goes on with a line, `\n` ends a line of code, and
    {NAME} is a constant of the file. What is right has no hint, and is its change alone.
    """
    names = runpy.run_path(str(ANSWERS / f"{lesson}.py"))
    constants = {f"{{{name}}}": value for name, value in names.items() if name.isupper() and isinstance(value, str)}
    for table in set(TABLES) & set(names):
        exercises = [each.partition("\n") for each in names[table].strip()[2:].split("\n# ")]
        names[table] = _once((exercise, _answers(rows, constants)) for exercise, _, rows in exercises)
    return names


def _answers(rows, constants):
    return _once(_answer(text, constants) for text in re.split(r"\n(?![->@+] )", rows.rstrip("\n")))


def _once(items):
    """Return a dictionary; a name that stands there twice is a mistake."""
    items = list(items)
    if len(dict(items)) < len(items):
        raise ValueError(f"twice: {[name for name, _ in items]}")
    return dict(items)


def _answer(text, constants):
    """Return (what it is, (change, hint)), or for one without a hint (what it is, change)."""
    first, *changes = re.split(r"\n(?=[->@] )", text.replace("\n+ ", ""))
    first, _, hint = first.partition(" ? ")
    if not changes:
        first, _, change = first.partition(": ")
        changes = [change if change[:2] in ("> ", "@ ") else f"- {change}"]
    sign, said = changes[0][0], [_read(change[2:], constants) for change in changes]
    if sign == "-":
        said = [tuple(_read(part, constants) for part in re.split(" -> ?", change[2:])) for change in changes]
    change = said[0] if sign == "@" else said
    return first, (change, hint) if hint else change


def _read(text, constants):
    text = text.replace("\\n", "\n")
    for name, value in constants.items():
        text = text.replace(name, value)
    return text


def applied(change, solution, skeleton):
    """Return the solution's cell with some text replaced, or the skeleton with other fill-ins, or another cell."""
    if isinstance(change, str):
        return change
    if change and isinstance(change[0], str):
        return fill(skeleton, *change)
    for old, new in change:
        assert old in solution, f"{old!r} is not in the solution"
        solution = solution.replace(old, new)
    return solution


def fill(skeleton, *answers):
    """Put one answer in the place of each ``...``."""
    parts = DOTS.split(skeleton)
    assert len(parts) == len(answers) + 1
    return parts[0] + "".join(f"{answer.rstrip()}\n{rest}" for answer, rest in zip(answers, parts[1:], strict=True))
