"""What a speaker sees beside each slide: the minutes, what to say and to ask, and what the lesson says in full."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from ..lessons import home
from ..notes import minutes_of, notes_at, notes_of
from .convert import executed
from .deck import SHOW_FOR_SLIDES, Slide, slides_of

_TIME = re.compile(r"^Time: (\d+) min[^.]*\. ?")
#: With these words the notes of a slide begin that a shorter lecture leaves out.
SKIP = "Skip in 45 minutes."
#: Words that are said in a minute; further minutes that a question, an answer and something to look at take.
_WORDS, _EXTRA = 100, {"question": 1.5, "answer": 0.5, "full": 0.7, "live": 1.0}
#: Minutes of a title, and of a section without notes, such as the last one.
_UNPLANNED = 2
#: Minutes for questions after a section of so many minutes.
_QUESTIONS, _LONG = 1, 5


def deck_of(lesson: Path) -> list[Slide]:
    """Execute a lesson, and return its slides with the speaker's notes."""
    written = nbformat.read(lesson, as_version=4)  # type: ignore[no-untyped-call]
    return annotated(executed(written, lesson.parent, SHOW_FOR_SLIDES), lesson.stem)


def annotated(notebook: Any, lesson: str) -> list[Slide]:
    """Return the slides of an executed lesson with the speaker's notes."""
    slides = slides_of(notebook, _solutions(lesson))
    annotate(slides, lesson)
    return slides


def _solutions(lesson: str) -> dict[str, str]:
    """Return the sources of a lesson's cells with the exercises solved, by their ids; none where no solutions are."""
    path = home() / "solutions" / f"{lesson}.ipynb"
    if not path.is_file():
        return {}
    solved = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return {cell.id: cell.source for cell in solved.cells}


def annotate(slides: Sequence[Slide], lesson: str) -> None:
    """Write the notes of a lesson's slides.

    A section's minutes, those of the notes, are divided among its slides by what there is to say and to do, unless the
    notes of a slide have minutes of their own. Near its end there is another minute, for questions.
    """
    times = {heading.split()[0]: time for heading, time in minutes_of(lesson).items()}
    sections = {heading.split()[0]: text for heading, text in notes_of(lesson).items()}
    at_slides = _at_slides(slides, notes_at(lesson))
    asking = _before_questions(slides, at_slides, times)
    starts = _starts(slides, at_slides, times, asking)
    for number, (slide, said, start, end) in enumerate(zip(slides, at_slides, starts[:-1], starts[1:], strict=True)):
        asked = ", the last one for questions" * (number in asking)
        texts = [f"**{_clock(round(start), round(end))} of {round(starts[-1])}{asked}.**"]
        if text := _TIME.sub("", sections.pop(slide.section, "")):
            texts.append(text)
        texts += [_TIME.sub("", text) for text in said]
        if slide.said:
            texts.append("*From the lesson:* " + "\n\n".join(slide.said))
        slide.minutes, slide.notes = end - start, "\n\n".join(texts)
    kept = [number for number, said in enumerate(at_slides) if SKIP not in " ".join(said)]
    if len(kept) < len(slides):
        minutes, questions = sum(slides[number].minutes for number in kept), _QUESTIONS * len(asking.intersection(kept))
        left = f"{round(minutes)} minutes, {questions} of them for questions"
        slides[0].notes += f"\n\nWithout the slides marked “{SKIP}”: {left}."


def _before_questions(slides: Sequence[Slide], said: Sequence[Sequence[str]], times: Mapping[str, int]) -> set[int]:
    """Return the slides after which the class asks: the last of each long section, of those that all lectures show."""
    found = set()
    for section in (section for section, time in times.items() if time >= _LONG):
        places = [place for place, slide in enumerate(slides) if slide.section == section]
        kept = [place for place in places if SKIP not in " ".join(said[place])]
        found.update((kept or places)[-1:])
    return found


def _at_slides(slides: Sequence[Slide], said: Mapping[str, str]) -> list[list[str]]:
    """Return what is said at each slide: at the first one of the cell ``idea``, at the second one, ``idea 2``."""
    times: Counter[str] = Counter()
    found = []
    for slide in slides:
        cells = list(dict.fromkeys(slide.cells))
        times.update(cells)
        names = [cell if times[cell] == 1 else f"{cell} {times[cell]}" for cell in cells]
        found.append([said[name] for name in names if name in said])
    return found


def _clock(start: int, end: int) -> str:
    return f"Minute {start}" if start == end else f"Minutes {start}–{end}"


def _starts(
    slides: Sequence[Slide], said: Sequence[Sequence[str]], times: Mapping[str, int], asking: Collection[int]
) -> list[float]:
    """Return when each slide begins, in minutes, and when the last one ends."""
    planned = [sum(int(time[1]) for text in texts if (time := _TIME.match(text))) for texts in said]
    weights = [0 if own else _weight(slide) for slide, own in zip(slides, planned, strict=True)]
    starts = [0.0]
    for number, (slide, weight, own) in enumerate(zip(slides, weights, planned, strict=True)):
        beside = [at for at, other in enumerate(slides) if other.section == slide.section]
        left = times.get(slide.section, _UNPLANNED) - sum(planned[at] for at in beside)
        shared = max(left, 0) * weight / (sum(weights[at] for at in beside) or 1)
        starts.append(starts[-1] + (own or shared) + _QUESTIONS * (number in asking))
    return starts


def _weight(slide: Slide) -> float:
    words = len(re.sub(r"<[^>]*>", " ", " ".join(part for part in slide.parts if "words" in part[:40])).split())
    said = sum(len(text.split()) for text in slide.said)
    extra = _EXTRA.get(slide.kind, 0) + _EXTRA["full"] * slide.full + _EXTRA["live"] * slide.live
    return 0.3 + (words + said) / _WORDS + extra
