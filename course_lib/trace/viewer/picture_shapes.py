"""The shapes of a static picture, with positions in units of a shown pixel, and their colours."""

from dataclasses import dataclass
from typing import Any

from ..palette import COLOURS, GROUND, INK, OTHER

WIDTH = 1000
HUES = {
    **{role: COLOURS[role] for role in "ABC"},
    "shared": COLOURS["shared"],
    "local": COLOURS["register"],
    "register": COLOURS["register"],
    "global": OTHER,
}
#: Colours of text on the page's own background, which may be light or dark; on a card it is INK or SOFT.
HEADING, SOFT, CARD, CARD_EDGE, PLAIN_CELL = GROUND, "#59636e", "#f6f8fa", "#d0d7de", "#eceff2"
CURRENT, WRONG = "#1976d2", "#b3261e"


@dataclass(frozen=True)
class Box:
    """A rectangle; ``round`` is the radius of its corners. Without ``fill`` only its edge is drawn."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    edge: str | None = None
    thick: float = 1.0
    round: float = 0.0


@dataclass(frozen=True)
class Polygon:
    """The area inside corners (x, y); without ``fill`` only its edge is drawn."""

    points: tuple[tuple[float, float], ...]
    fill: str | None = None
    edge: str | None = None
    thick: float = 1.0


@dataclass(frozen=True)
class Text:
    """A line of text; (x, y) is at half its height, at its ``anchor``: left, middle or right."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    anchor: str = "left"
    mono: bool = False
    bold: bool = False


@dataclass(frozen=True)
class Pixels:
    """A grid too large for shapes: a colour an element, (rows, columns, 4) bytes."""

    x: float
    y: float
    width: float
    height: float
    colours: Any


Shape = Box | Text | Pixels | Polygon


def tint(hue: str, strength: float) -> str:
    """Mix a colour with white: ``strength`` 1 is the colour itself."""
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02x}" for part in rgb(hue))


def rgb(hue: str) -> tuple[int, ...]:
    """The three bytes of a colour."""
    return tuple(int(hue[i : i + 2], 16) for i in (1, 3, 5))
