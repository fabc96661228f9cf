"""Shapes as a picture: the static pictures of steppers and of sliders.

The background is transparent, and text is readable on light and on dark pages. A picture is drawn without matplotlib,
in a few tens of milliseconds, and only when it is needed.
"""

import functools
import pathlib
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ..png import element, with_palette
from .picture_shapes import WIDTH, Box, Pixels, Polygon, Shape, Text

#: Pixels of the file for each shown pixel: sharp on a projector.
SCALE = 1.5
_ANCHORS = {"left": "lm", "middle": "mm", "right": "rm"}


@dataclass
class Layout:
    """The shapes of a picture in drawing order, and its height; it is `WIDTH` wide."""

    shapes: list[Shape]
    height: float


@dataclass(frozen=True)
class StaticPicture:
    """A picture for Jupyter: its layouts below each other, and ``says``, the same in words."""

    layouts: tuple[Layout, ...]
    says: str

    def image(self, scale: float = SCALE) -> Image.Image:
        """The picture in RGBA, ``scale`` pixels for each unit of the layout."""
        parts = [draw(layout, scale) for layout in self.layouts]
        whole = Image.new("RGBA", (parts[0].width, sum(part.height for part in parts)), (255, 255, 255, 0))
        for i, part in enumerate(parts):
            whole.paste(part, (0, sum(each.height for each in parts[:i])))
        return whole

    @functools.cached_property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return with_palette(self.image())

    def _repr_html_(self) -> str:
        return element(self.png, repr(self), WIDTH)

    def __repr__(self) -> str:
        return self.says


@functools.lru_cache(maxsize=256)
def font(size: float, mono: bool, bold: bool) -> ImageFont.FreeTypeFont:
    """The font DejaVu, which comes with matplotlib; ``size`` in pixels."""
    import matplotlib

    name = "DejaVuSans" + ("Mono" if mono else "") + ("-Bold" if bold else "")
    return ImageFont.truetype(str(pathlib.Path(matplotlib.get_data_path(), "fonts/ttf", f"{name}.ttf")), size)


def draw(layout: Layout, scale: float) -> Image.Image:
    """Draw the shapes of a layout on a transparent background."""
    image = Image.new("RGBA", (round(WIDTH * scale), round(layout.height * scale)), (255, 255, 255, 0))
    pen = ImageDraw.Draw(image)
    for shape in layout.shapes:
        if isinstance(shape, Text):
            at = shape.x * scale, shape.y * scale
            face = font(shape.size * scale, shape.mono, shape.bold)
            pen.text(at, shape.text, font=face, fill=shape.colour, anchor=_ANCHORS[shape.anchor], align="center")
        elif isinstance(shape, Polygon):
            corners = [(x * scale, y * scale) for x, y in shape.points]
            if shape.fill:
                pen.polygon(corners, fill=shape.fill)
            if shape.edge:
                pen.line([*corners, corners[0]], fill=shape.edge, width=max(1, round(shape.thick * scale)))
        elif isinstance(shape, Pixels):
            size = max(1, round(shape.width * scale)), max(1, round(shape.height * scale))
            cells = Image.fromarray(np.ascontiguousarray(shape.colours)).resize(size, Image.Resampling.NEAREST)
            image.alpha_composite(cells, (max(0, round(shape.x * scale)), max(0, round(shape.y * scale))))
        else:
            _box(pen, shape, scale)
    return image


def _box(pen: ImageDraw.ImageDraw, shape: Box, scale: float) -> None:
    x0, y0 = round(shape.x * scale), round(shape.y * scale)
    x1 = max(x0, round((shape.x + shape.width) * scale) - 1)
    y1 = max(y0, round((shape.y + shape.height) * scale) - 1)
    thick = max(1, round(shape.thick * scale)) if shape.edge else 0
    if shape.round:
        pen.rounded_rectangle((x0, y0, x1, y1), shape.round * scale, fill=shape.fill, outline=shape.edge, width=thick)
    else:
        pen.rectangle((x0, y0, x1, y1), fill=shape.fill, outline=shape.edge, width=thick)
