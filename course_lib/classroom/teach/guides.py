"""Guides for teachers: a page a lesson, and plans. What lessons, notes and exercises hold is taken from them.

Only objectives and the choice of sections are written by hand, in ``docs/teach/*.toml``.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...exercises import LESSONS, OPTIONAL
from ...exercises.grading.exercise import Exercise
from ...exercises.grading.explain import Explanation
from ..pages.frame import write
from .cells import notebook, stored
from .slides import FOLDER, lecture, plans, timed

_NOTE = """For teachers: contains answers. `python -m course_lib.teach guides` writes this page from
{}: change those.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to (docs/teach)")


def run(options: argparse.Namespace) -> int:
    """Write the guides and the plans; return 0."""
    write(options.out, pages())
    print(f"{options.out}: guides to {len(LESSONS)} lessons, and plans.")
    return 0


def pages() -> dict[str, str]:
    """Return the text of every page by its name in docs/teach."""
    ours = tomllib.loads(stored(FOLDER / "lessons.toml"))
    made = {f"lessons/{name}.md": _linked("\n".join(_guide(name, ours[name[:2]]))) for name in LESSONS}
    return made | {"plans.md": "\n".join(_plans())}


def _linked(page: str) -> str:
    """Return a page of a lesson with its links relative to the folder of the guides."""
    return re.sub(r"\]\((?=(?:\d\d_|glossary|numba_and_cuda_c|sources))", "](../../../notebooks/", page)


def notes_of(lesson: str) -> dict[str, str]:
    """Return the notes to a lesson, such as "04", by heading; none where the course is installed without them."""
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob(f"notes/{lesson}_*.md"))
    return {heading: said.strip() for heading, said in re.findall(r"^## ([^\n]*)\n(.*?)(?=^#|\Z)", text, re.M | re.S)}


def minutes_of(lesson: str) -> dict[str, int]:
    """Return the minutes that the notes plan, by heading."""
    found = {heading: re.match(r"Time: (\d+) min", text) for heading, text in notes_of(lesson).items()}
    return {heading: int(time[1]) for heading, time in found.items() if time}


def _guide(name: str, ours: Mapping[str, Any]) -> Iterator[str]:
    lesson, cells = name[:2], notebook(name)["cells"]
    first, last = "".join(cells[0]["source"]), "".join(cells[-1]["source"])
    yield f"# {first.splitlines()[0].strip('# ')}: a guide for teachers\n"
    sources = f"[the lesson](../../../notebooks/{name}.ipynb), [its notes](../notes/{name}.md), its exercises and"
    yield _NOTE.format(f"{sources} [lessons.toml](../lessons.toml)")
    yield "\n\n".join(re.findall(r"^\*\*(?:Goal|Time).*$", first, re.MULTILINE)).split(" **Solutions:**")[0] + "\n"
    yield "## Objectives\n\nAfter the lesson a student can do this, and the exercise shows it:\n"
    yield from (f"- {what} (`{exercise}`)" for exercise, what in ours["objectives"].items())
    yield "\n## Sections\n\n| section | minutes | ask | common mistakes |\n|---|---:|---|---|"
    notes, minutes = notes_of(lesson), minutes_of(lesson)
    for heading, time in minutes.items():
        text = " ".join(notes[heading].split()).replace("|", "\\|")
        asks = re.findall(r"(?:Ask:? )(?!for\b)([^?.]*\?)", text)
        wrong = re.findall(r"Common (?:mistakes?|difficulty):? (.*?\.)(?= [A-Z(]|$)", text)
        yield f"| {heading} | {time} | {' '.join(map(_sentence, asks))} | {' '.join(map(_sentence, wrong))} |"
    yield f"| together | {sum(minutes.values())} | | |"
    yield "\n## Key points\n"
    yield from re.findall(r"^- .*$", last, re.MULTILINE)
    yield "\n## Exercises\n\n| exercise | kind | points | a point for |\n|---|---|---:|---|"
    yield from (f"| `{e.name}` | {e.kind} | {e.points} | {_rubric(e)} |" for e in LESSONS[name])
    yield from (f"| `{e.name}` (optional) | {e.kind} | – | {_rubric(e)} |" for e in OPTIONAL[name])
    yield "\n## Quiz\n\nFive questions with fresh numbers:"
    yield f"`python -m course_lib.teach quiz {lesson} --seed 7 --for moodle`"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rubric(exercise: Any) -> str:
    if isinstance(exercise, Explanation):
        return "; ".join(exercise.ideas)
    if isinstance(exercise, Exercise):
        budgets = (f"{budget.name}: at most {budget.formula}" for budget in exercise.budgets)
        return "; ".join(["no broken rule", "right values", *budgets])
    return "each call that returns the right value"


def _plans() -> Iterator[str]:
    yield "# Plans\n"
    yield _NOTE.format("[plans.toml](plans.toml), the minutes of [the notes](notes) and [the slides](lecture.ipynb)")
    for plan in plans():
        yield f"## {plan['title']}\n\n{plan['text'].strip()}\n"
        if deck := plan.get("deck"):
            yield f"The slides, with notes: `python -m course_lib.teach slides --plan {deck}`\n"
        for session in plan["session"]:
            yield from _session(session, deck)


def _session(session: Mapping[str, Any], deck: str | None) -> Iterator[str]:
    chosen, left = (dict(timed(lecture(), deck)), []) if deck else sections(session["sections"])
    if "title" in session:
        yield f"### {session['title']}\n"
    total = sum(chosen.values())
    spare = session["minutes"] - total - session.get("pause", 0)
    if spare < 0:
        raise ValueError(f"a session of {session['minutes']} minutes in plans.toml lasts {-spare} minutes too long.")
    yield f"| {'slide' if deck else 'section'} | minutes |\n|---|---:|"
    yield from (f"| {heading} | {time} |" for heading, time in chosen.items())
    yield f"| together | {total} |"
    pause = f"{session['pause']} minutes of pause; " if "pause" in session else ""
    yield f"\n{pause}{spare} of {session['minutes']} minutes left for questions."
    if left:
        yield f"\nSkip: {', '.join(left)}."
    if "homework" in session:
        yield f"\nHomework: {', '.join(f'`{name}`' for name in session['homework'])}."
    yield ""


def sections(names: list[str]) -> tuple[dict[str, int], list[str]]:
    """Return the minutes of sections by heading, and the numbers of the other sections of their lessons."""
    chosen: dict[str, int] = {}
    left: list[str] = []
    for name in names:
        minutes = minutes_of(name.partition(".")[0].zfill(2))
        wanted = {
            heading: time for heading, time in minutes.items() if "." not in name or heading.startswith(f"{name} ")
        }
        if not wanted:
            raise ValueError(f"plans.toml names section {name}, which the notes do not have.")
        chosen |= wanted
    for lesson in dict.fromkeys(name.partition(".")[0].zfill(2) for name in names):
        left += [heading.split()[0] for heading in minutes_of(lesson) if heading not in chosen]
    return chosen, left
