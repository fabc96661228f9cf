"""What a speaker sees beside each slide: the minutes, what to say and to ask, and what the lesson says in full."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat

from ..notes import minutes_of, notes_at, notes_of
from .convert import executed
from .deck import LARGE, Slide, slides_of

_TIME = re.compile(r"^Time: \d+ min[^.]*\. ")
#: Words that are said in a minute; further minutes that a question, an answer and a stepper take.
_WORDS, _EXTRA = 100, {"question": 1.5, "answer": 0.5, "live": 1.0}


def deck_of(lesson: Path) -> list[Slide]:
    """Execute a lesson, and return its slides with the speaker's notes."""
    written = nbformat.read(lesson, as_version=4)  # type: ignore[no-untyped-call]
    return annotated(executed(written, lesson.parent, LARGE), lesson.stem)


def annotated(notebook: Any, lesson: str) -> list[Slide]:
    """Return the slides of an executed lesson with the speaker's notes."""
    slides = slides_of(notebook)
    annotate(slides, lesson)
    return slides


def annotate(slides: Sequence[Slide], lesson: str) -> None:
    """Write the notes of a lesson's slides.

    A section's minutes, those of the notes, are divided among its slides by what there is to say and to do.
    """
    sections = {heading.split()[0]: text for heading, text in notes_of(lesson).items()}
    at_cells = notes_at(lesson)
    starts = _starts(slides, {heading.split()[0]: time for heading, time in minutes_of(lesson).items()})
    for slide, start, end in zip(slides, starts[:-1], starts[1:], strict=True):
        texts = [_clock(round(start), round(end), round(starts[-1]))]
        if text := sections.pop(slide.section, ""):
            texts.append(_TIME.sub("", text))
        texts += [at_cells.pop(cell) for cell in slide.cells if cell in at_cells]
        if slide.said:
            texts.append("*From the lesson:* " + "\n\n".join(slide.said))
        slide.minutes, slide.notes = end - start, "\n\n".join(texts)


def _clock(start: int, end: int, whole: int) -> str:
    return f"**Minute {start} of {whole}.**" if start == end else f"**Minutes {start}–{end} of {whole}.**"


def _starts(slides: Sequence[Slide], times: dict[str, int]) -> list[float]:
    """Return when each slide begins, in minutes, and when the last one ends."""
    weights = [_weight(slide) for slide in slides]
    starts = [0.0]
    for slide, weight in zip(slides, weights, strict=True):
        beside = sum(other for other, at in zip(weights, slides, strict=True) if at.section == slide.section)
        starts.append(starts[-1] + times.get(slide.section, 0) * weight / beside)
    return starts


def _weight(slide: Slide) -> float:
    words = len(re.sub(r"<[^>]*>", " ", " ".join(part for part in slide.parts if "words" in part[:40])).split())
    said = sum(len(text.split()) for text in slide.said)
    return 0.3 + (words + said) / _WORDS + _EXTRA.get(slide.kind, 0) + _EXTRA["live"] * slide.live
