"""Variants of the exercises for the students of a class: other names, sizes and numbers, and tiles of another width.

A variant has a code of eight digits. Its tasks are as difficult as those of the course: a matrix is as many tiles long,
is ragged where theirs is, and the same budgets hold. Functions of plain numbers and answers in words are the same in
all variants.
"""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .grading.exercise import Array, Exercise, Shape
from .grading.grades import grade
from .grading.handed_in import look_at
from .grading.source import Submission
from .grading.tiles import TILE, tiles_of
from .grading.verdict import FAILED, Check, Verdict

#: Exercises in which any width of the tiles is as difficult, since no sector and no bank is counted.
TILED = frozenset(
    """
    tiles-of-transpose too-deep barriers one-buffer last-iteration unseen-add too-far
    """.split()
)
#: From two warps on a missing barrier has an effect.
_WIDTHS = (8, 10, 12, 14)
#: For A, B and C, and for a fourth matrix: letters that no lesson uses for anything else.
_LETTERS = ("EFG", "FGH", "QRS", "UVW", "XYZ")
_FOURTH = {"P": "J", "D": "L"}
#: Names of matrices, also in those of their tiles: A, At, As, A_tile.
_MATRIX = re.compile(r"(?<![A-Za-z0-9_-])(?<!language )([ABCDP])(?=(?:[tsv]|_tiles?|_shared)?(?![A-Za-z0-9_]))")
#: The article, not the matrix.
_ARTICLE = re.compile(r"(?:^|(?<=[.:?!\n] )|(?<=[>(*\n]))A(?= (?!is |and |has |arrives )[a-z])")
#: The width of the tiles where a text of the lessons has the number.
_WIDTH = re.compile(
    r"\b8(?=×8)|(?<=\b8×)8\b|(?<=K/)8\b|(?<=multiples of )8\b|(?<=`TILE` is )8\b|^8(?= iterations along)"
)


def code_of(key: str, student: str, lesson: str) -> str:
    """Return the code of a student's variant of a lesson; without the key nobody can compute another's."""
    return hashlib.sha256("\n".join((key, student, lesson)).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Variant:
    """The variant with a code; ValueError if the code is not eight digits from 0 to f."""

    code: str

    def __post_init__(self) -> None:
        if not re.fullmatch("[0-9a-f]{8}", self.code):
            raise ValueError(
                f"the code of a variant is eight digits from 0 to f, as your assignment has it, not {self.code!r}"
            )

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The letters for the matrices of the lessons."""
        first, second, third = self._random("names").choice(_LETTERS)
        return {"A": first, "B": second, "C": third, **_FOURTH}

    @cached_property
    def tile(self) -> int:
        """The width of the tiles, for exercises of `TILED`."""
        return int(self._random("tile").choice(_WIDTHS))

    def _random(self, *what: str) -> np.random.Generator:
        return np.random.default_rng([int(self.code, 16), *(zlib.crc32(word.encode()) for word in what)])

    def width(self, name: str) -> int:
        """The width of the tiles of an exercise."""
        return self.tile if name in TILED else TILE

    def constants(self, names: Iterable[str]) -> str:
        """Return what a notebook with these exercises defines for all of them; "" if nothing differs."""
        return f"TILE = {self.tile}" if TILED & set(names) else ""

    def parameters(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the parameters that a kernel must have, for those of the course."""
        return tuple(self.renamed(name) for name in names)

    def renamed(self, text: str) -> str:
        """Return a text, or a program, with the variant's names of the matrices."""
        parts = _ARTICLE.split(text)
        return "A".join(_MATRIX.sub(lambda name: self.names[name[1]], part) for part in parts)

    def told(self, text: str, name: str) -> str:
        """Return what the course says about an exercise, with the names and the width of the variant."""
        width = self.width(name)
        if width != TILE:
            text = _WIDTH.sub(str(width), text).replace("·9", f"·{width + 1}")
        return self.renamed(text)

    def shapes(self, exercise: Exercise) -> tuple[Shape, ...]:
        """Return the sizes of the launches: as many whole tiles as in the course's, and other remainders.

        Sizes that are equal in the course are equal, and what a power of two divides there, it divides here.
        """
        width, rng, new = self.width(exercise.name), self._random("sizes", exercise.name), {1: 1}
        for size in sorted({size for shape in exercise.task.shapes for size in shape}):
            tiles, left = divmod(size, TILE)
            alike = [r for r in range(2 if tiles == 0 else 1, width) if math.gcd(r, TILE) == math.gcd(left, TILE)]
            free = [width * tiles + r for r in alike if width * tiles + r not in new.values()]
            new.setdefault(size, int(rng.choice(free)) if left and free else width * tiles + left)
        return tuple(tuple(new[size] for size in shape) for shape in exercise.task.shapes)

    def exercise(self, exercise: Exercise) -> Exercise:
        """Return the exercise on other sizes and numbers."""
        inputs, seed = exercise.task.inputs, int(self.code, 16)

        def others(rng: np.random.Generator, *shape: int) -> tuple[Array, ...]:
            return inputs(np.random.default_rng([seed, int(rng.integers(2**32))]), *shape)

        task = exercise.task.but(inputs=others, shapes=self.shapes(exercise), max_steps=2 * exercise.task.max_steps)
        return replace(exercise, task=task)

    def grade(self, exercise: Exercise, kernel: Any) -> Verdict:
        """Return the Verdict on a kernel for this variant, in its names."""
        source, wanted = look_at(exercise, kernel, "kernel"), self.parameters(exercise.parameters)
        if isinstance(source, Submission) and source.parameters != wanted:
            names, own = (", ".join(names) for names in (source.parameters, wanted))
            said = f"your variant has the parameters ({own}), and this kernel ({names})"
            hint = "keep the names of your own assignment: another student's kernel has others."
            return Verdict(exercise.name, FAILED, (Check(False, said),), hint, of=exercise.points)
        width = self.width(exercise.name)
        with tiles_of(width):
            verdict = grade(self.exercise(exercise), kernel)

        def opened() -> Any:
            assert verdict.opens is not None
            with tiles_of(width):
                return verdict.opens()

        return replace(
            verdict,
            checks=tuple(replace(check, text=self.told(check.text, exercise.name)) for check in verdict.checks),
            hint=verdict.hint and self.told(verdict.hint, exercise.name),
            opens=verdict.opens and opened,
        )
