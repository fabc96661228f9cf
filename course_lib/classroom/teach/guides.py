"""Guides for teachers: a page a lesson, and plans. What lessons, notes and exercises hold is taken from them.

Only objectives and the choice of sections are written by hand, in ``docs/teach/*.toml``.
"""

import argparse
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...exercises import LESSONS, OPTIONAL
from ...exercises.grading.exercise import Exercise
from ...exercises.grading.explain import Explanation
from ..notes import home, minutes_of, plans, whole_notes_of
from ..pages.frame import write
from .cells import lesson_named, notebook, stored
from .templates import rendered


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--out", type=Path, default=home(), help="folder to write to (docs/teach)")


def run(options: argparse.Namespace) -> int:
    """Write the guides and the plans; return 0."""
    write(options.out, pages())
    print(f"{options.out}: guides to {len(LESSONS)} lessons, and plans.")
    return 0


def pages() -> dict[str, str]:
    """Return the text of every page by its name in docs/teach."""
    ours = tomllib.loads(stored(home() / "lessons.toml"))
    relative = partial(re.sub, r"\]\((?=(?:\d\d_|glossary|numba_and_cuda_c|sources))", "](../../../notebooks/")
    made = {f"lessons/{name}.md": relative(_guide(name, ours[name[:2]]["objectives"])) for name in LESSONS}
    planned = [(plan, [_planned(plan, session) for session in plan["session"]]) for plan in plans()]
    return made | {"plans.md": rendered("plans.md", plans=planned).removesuffix("\n")}


def _guide(name: str, objectives: Mapping[str, str]) -> str:
    """Return the guide to a lesson, made of its first and last cells, the notes and the exercises."""
    lesson, cells = name[:2], notebook(name)["cells"]
    first, last = "".join(cells[0]["source"]), "".join(cells[-1]["source"])
    notes, sections = whole_notes_of(lesson), []
    for heading, time in minutes_of(lesson).items():
        text = "\n".join(" ".join(said.split()) for said in notes[heading].split("\n\n")).replace("|", "\\|")
        asks = re.findall(r"(?:Ask:? )(?!for\b)([^?.\n]*\?)", text)
        wrong = re.findall(r"Common (?:mistakes?|difficulty):? (.*?\.)(?= [A-Z0-9(]|$)", text, re.M)
        sections.append((heading, time, " ".join(map(_sentence, asks)), " ".join(map(_sentence, wrong))))
    return rendered(
        "guide.md",
        name=name,
        first=first,
        about="\n\n".join(re.findall(r"^\*\*(?:Goal|Time).*$", first, re.MULTILINE)).split(" **Solutions:**")[0],
        objectives=objectives,
        sections=sections,
        points=re.findall(r"^- .*$", last, re.MULTILINE),
        exercises=[(each, _rubric(each)) for each in LESSONS[name]],
        optional=[(each, _rubric(each)) for each in OPTIONAL[name]],
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rubric(exercise: Any) -> str:
    if isinstance(exercise, Explanation):
        return "; ".join(exercise.ideas)
    if isinstance(exercise, Exercise):
        budgets = (f"{budget.name}: at most {budget.formula}" for budget in exercise.budgets)
        return "; ".join(["no broken rule", "right values", *budgets])
    return "each call that returns the right value"


def _planned(plan: Mapping[str, Any], session: Mapping[str, Any]) -> tuple[Any, dict[str, int], list[str], int]:
    """Return a session, its minutes by section, the sections that it skips, and the minutes that are left."""
    chosen, left = (_shown(plan["slides"]), []) if "slides" in plan else sections(session["sections"])
    spare = session["minutes"] - sum(chosen.values()) - session.get("pause", 0)
    if spare < 0:
        raise ValueError(f"a session of {session['minutes']} minutes in plans.toml lasts {-spare} minutes too long.")
    return session, chosen, left, spare


def _shown(slides: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the minutes of a deck by the sections from which its slides are."""
    minutes: dict[str, int] = {}
    for slide in slides:
        lesson, wanted = slide["at"].split()
        heading = ""
        for cell in notebook(lesson_named(lesson))["cells"]:
            found = re.match(r"## (.*)", "".join(cell["source"])) if cell["cell_type"] == "markdown" else None
            heading = found[1] if found else heading
            if cell["id"] == wanted:
                break
        else:
            raise ValueError(f"plans.toml names the slide {slide['at']}, but lesson {lesson} has no such cell.")
        minutes[f"slides of {heading}"] = minutes.get(f"slides of {heading}", 0) + slide["minutes"]
    return minutes


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
