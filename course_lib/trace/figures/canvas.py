"""The common parts of all figures: fresh Axes, descriptions and colours, and the picture that Jupyter shows."""

import functools
import io
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import NullLocator
from PIL import Image

from ..notebook_outputs import HTML, SLIDE
from ..palette import EDGE, GROUND, INK, WASH
from ..png import element, with_palette

#: A name or #rrggbb, or red, green, blue and optionally opacity, from 0 to 1.
Colour = str | tuple[float, ...]
_SHOWN_DPI = 96
_DRAWN_DPI = 120  # 1.25 pixels per shown pixel: sharp on a projector, and still a few tens of kilobytes
#: Points of an inch.
_INCH = 72
#: Sizes of text, in points: of a title, of the bold name of a matrix, of the label of an axis, of most text, and of
#: small numbers in elements or below them.
TITLE_SIZE, NAME_SIZE, LABEL_SIZE, TEXT_SIZE, NUMBER_SIZE, SMALLEST_SIZE = 14, 16, 12, 11, 10, 9
#: Widths of lines, in points: around a block, or what a whole picture is about; around a tile or a sector; around an
#: element; and fine ones, between elements and around the fills of a legend.
BLOCK_EDGE, TILE_EDGE, ELEMENT_EDGE, FINE_LINE = 3, 2.2, 0.8, 0.6
#: The width of a picture of rows that are as wide as a lesson, in inches.
PICTURE_WIDTH = 9.5
#: White space around a picture, in inches.
_PADDING = 0.15
#: Between the title and the picture where a legend is between them, in points.
_LEGEND_ROOM = 34
#: `name_ends`: in points, from a point to its name, and from line to line of names; and in pixels, how near points are
#: beside each other whose names would meet.
_NAME_GAP, _NAME_LINE, _NAME_WIDTH = 7, 15, 120
#: `name_strips`: the heights below the last strip and above the first, where its name is.
_BELOW_STRIPS, _ABOVE_STRIPS = 0.7, 1.7
#: On a slide, in CSS pixels: the size of its text, and the room for a picture below the words, and beside them.
_SLIDE_TEXT, _BELOW_WORDS, _BESIDE_WORDS = 24, (1240, 500), (680, 640)
#: For slides a figure is made smaller in at most so many steps, in each at most to this share of its size.
_STEPS, _SHARE_OF_STEP = 8, 0.93
#: The part of a picture's width that what it draws has at least, beside names and legends.
_LEAST_PART = 0.35
#: Two texts are at least so far from each other, on each side, in points.
_TEXT_MARGIN = 1.5
#: The number of texts that cover each other where even less than `_LEAST_PART` is left.
_NO_ROOM = 1_000
#: A picture at most this many times as wide as high stands beside the words of its slide.
TALL = 1.35


class Slides:
    """Whether pictures are shown for slides, too: drawn so small that, shown as large as there is room, their text is
    readable in the last row."""

    on = False


@dataclass(frozen=True, repr=False)
class Picture:
    """A figure as Jupyter shows it: a PNG, and a text that says the same.

    >>> isinstance(figures.show(figures.footprint(4, 4, 4, (1, 2))), figures.Picture)
    True
    """

    ax: Axes

    def __repr__(self) -> str:
        return str(self.ax.get_label())

    @functools.cached_property
    def png(self) -> bytes:
        """Return the file. It is drawn once: Axes that are drawn again may have moved by a pixel."""
        return _drawn(self._figure)

    @property
    def _figure(self) -> Figure:
        figure = self.ax.get_figure(root=True)
        assert isinstance(figure, Figure)
        return figure

    def _repr_html_(self) -> str:
        return self._element(self.png)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {HTML: self._repr_html_()} | ({SLIDE: self._element(self._for_slides())} if Slides.on else {})

    def _for_slides(self) -> bytes:
        """Return the file of the smaller figure; the figure itself stays as it is."""
        size = tuple(self._figure.get_size_inches())
        _shrink(self._figure)
        try:
            return self.png if size == tuple(self._figure.get_size_inches()) else _drawn(self._figure)
        finally:
            self._figure.set_size_inches(size)

    def _element(self, png: bytes) -> str:
        width = Image.open(io.BytesIO(png)).width
        return element(png, repr(self), round(width * _SHOWN_DPI / _DRAWN_DPI))


def _drawn(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    quick = {"compress_level": 1}  # compressed again by with_palette
    figure.savefig(drawn, dpi=_DRAWN_DPI, format="png", bbox_inches="tight", pad_inches=_PADDING, pil_kwargs=quick)
    return with_palette(Image.open(drawn).convert("RGBA"))


def _shrink(figure: Figure) -> None:
    """Make a figure smaller, with texts of the same size, until they have the size of a slide's text where it is shown.

    It stays as large as it must be, so that no text covers another.
    """
    covered = _covered(figure)
    if covered == _NO_ROOM:
        return
    for _ in range(_STEPS):  # the texts do not shrink, so once is not enough
        (wide, high), room = _place_on_slide(figure)
        shown = TEXT_SIZE / _INCH * _SHOWN_DPI * min(room[0] / wide, room[1] / high)
        if shown >= _SLIDE_TEXT:
            return
        share = max(shown / _SLIDE_TEXT, _SHARE_OF_STEP)
        too_high = room is _BELOW_WORDS and room[1] / high < room[0] / wide
        if not _make_smaller(figure, share, too_high, covered):
            return


def _place_on_slide(figure: Figure) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return the size of a figure in CSS pixels, and the room that a slide has for it: (width, height) each."""
    box = figure.get_tightbbox()
    wide, high = _SHOWN_DPI * (box.width + 2 * _PADDING), _SHOWN_DPI * (box.height + 2 * _PADDING)
    return (wide, high), _BESIDE_WORDS if wide < TALL * high else _BELOW_WORDS


def _make_smaller(figure: Figure, share: float, too_high: bool, covered: int) -> bool:
    """Make a figure smaller by a share, and return True; where more texts than ``covered`` would meet, leave it.

    One that is ``too_high`` for its room is made lower, and narrower only if that is not enough.
    """
    width, height = figure.get_size_inches()
    sizes = [(width * share, height * share)]
    # a text of several lines needs the height of its box
    if too_high and not any("\n" in text.get_text() for text in figure.findobj(Text)):
        sizes.insert(0, (width, height * share))
    for size in sizes:
        figure.set_size_inches(*size)
        if _covered(figure) <= covered:
            return True
    figure.set_size_inches(width, height)
    _covered(figure)  # lays it out again
    return False


def _covered(figure: Figure) -> int:
    """Return how many pairs of texts cover or touch each other; many where what is drawn has no room left."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        figure.draw_without_rendering()
    if warned:
        return _NO_ROOM
    if any(ax.bbox.width < _LEAST_PART * figure.get_tightbbox().width * figure.dpi for ax in figure.axes):
        return _NO_ROOM
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [text.get_window_extent().padded(_TEXT_MARGIN * figure.dpi / _INCH) for text in texts]
    return sum(box.overlaps(before) for place, box in enumerate(boxes) for before in boxes[:place])


def show(ax: Axes) -> Picture:
    """Return the figure of ``ax`` for display: ``figures.show(figures.tile_pairs(...))``.

    >>> figures.show(figures.thread_map(2, 4, block=(2, 2)))
    Figure: 2 blocks of 2×2 threads cover C (2×4): threadIdx x,y in each element.
      8 threads, 8 elements, 0 threads outside C.
    """
    return Picture(ax)


def new_axes(width: float, height: float) -> Axes:
    """Return fresh Axes of ``width`` × ``height`` inches without a background; no pyplot, so nothing is shown twice."""
    ax = Figure(figsize=(width, height), facecolor="none", layout="constrained").add_subplot(facecolor="none")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def describe(ax: Axes, *sentences: str) -> Axes:
    """Set the font sizes that a projector needs, and the text that describes the picture."""
    ax.title.set(fontsize=TITLE_SIZE, color=GROUND, weight="bold")
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(fontsize=LABEL_SIZE, color=GROUND)
    ax.tick_params(which="both", labelsize=TEXT_SIZE, colors=GROUND)
    ax.spines[:].set_color(GROUND)
    ax.set_label("\n".join([f"Figure: {ax.get_title()}.", *(f"  {sentence}." for sentence in sentences)]))
    return ax


def legend(ax: Axes, fills: Mapping[str, Colour], *lines: Line2D) -> None:
    """Explain the colours of fills, and labelled lines, in one row between the title and the picture."""
    marks = [Rectangle((0, 0), 1, 1, fc=fill, ec=GROUND, lw=FINE_LINE, label=what) for what, fill in fills.items()]
    style: dict[str, Any] = {"frameon": False, "fontsize": TEXT_SIZE, "labelcolor": GROUND, "handlelength": 1.2}
    handles = [*marks, *lines]
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(handles), **style)
    ax.set_title(ax.get_title(), pad=_LEGEND_ROOM)


def name_strips(ax: Axes, names: Mapping[float, str]) -> None:
    """Name the rows of strips at these heights, with space above for the name of the first strip."""
    ax.set_yticks(list(names), list(names.values()))
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(min(names) - _BELOW_STRIPS, _ABOVE_STRIPS)
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)


def name_ends(ax: Axes, ends: Sequence[tuple[float, float, str]]) -> None:
    """Write each name of ``ends`` (x, y, name) at the right of its point, higher than its place if another is there.

    Call it when the limits and scales of ``ax`` are final.
    """
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]  # for the places of things in pixels
    taken: list[tuple[float, float]] = []
    line = _NAME_LINE * ax.figure.dpi / _INCH
    for x, y, name in sorted(ends, key=lambda end: end[1]):
        left, low = map(float, ax.transData.transform((x, y)))
        above = [height + line for place, height in taken if abs(place - left) < _NAME_WIDTH]
        height = max([low, *above])
        taken.append((left, height))
        up = (height - low) * _INCH / ax.figure.dpi
        offset = _NAME_GAP, up
        ax.annotate(name, (x, y), offset, textcoords="offset points", va="center", color=GROUND, fontsize=TEXT_SIZE)


def log2_axis(axis: XAxis | YAxis, values: Iterable[float]) -> None:
    """Make an axis logarithmic, with ticks only at ``values``."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_ticks(list(values), labels=[f"{value:g}" for value in values])
    axis.set_minor_locator(NullLocator())


def cell(
    ax: Axes,
    x: float,
    y: float,
    side: float,
    text: str,
    colour: Colour | None,
    *,
    size: int = TEXT_SIZE,
    height: float | None = None,
    light: float = 1.0,
) -> None:
    """Draw an element filled with ``colour`` (``light`` < 1 mixes it with white), its text dark or white on it."""
    fill: Colour = "none"
    if isinstance(colour, str):
        fill = mixed(colour, light)
    elif colour is not None:
        fill = colour
    height = side if height is None else height
    ax.add_patch(Rectangle((x, y), side, height, fc=fill, ec=EDGE, lw=ELEMENT_EDGE, zorder=2))
    if text:
        ink = INK
        if colour in (None, WASH):
            ink = GROUND
        elif light == 1.0:
            ink = "white"
        ax.text(x + side / 2, y + height / 2, text, ha="center", va="center", fontsize=size, color=ink, zorder=3)


def mixed(colour: str, light: float) -> tuple[float, ...]:
    """Return a colour ``#rrggbb`` mixed with white: ``light`` is the share of the colour, from 1 to 0 (white)."""
    red_green_blue = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(light * part + 1 - light for part in red_green_blue)


def bare(ax: Axes, equal: bool = False) -> None:
    """Remove the axes' lines and numbers; ``equal``: use the same scale in both directions."""
    ax.set_axis_off()
    if equal:
        ax.set_aspect("equal")
