"""Pictures of steps as files for slides and handouts: PNG, SVG, and GIF for several steps."""

import base64
import html
import io
import os
import pathlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

from .picture_shapes import WIDTH, Box, Pixels, Polygon, Shape, Text
from .static_picture import StaticPicture

#: Limit for the frames of a GIF: drawing one takes a tenth of a second, and nobody watches more.
MAX_FRAMES = 300
#: Pixels of a PNG for each unit of the layout.
SHARP = 2.0
_ANCHORS = {"left": "start", "middle": "middle", "right": "end"}
_FONTS = {False: "DejaVu Sans, Verdana, sans-serif", True: "DejaVu Sans Mono, Consolas, monospace"}


def kind_of(path: str | os.PathLike[str], frames: int) -> str:
    """Return the kind of file, "png", "svg" or "gif"; raise ValueError for another one, or for too many frames."""
    kind = pathlib.Path(path).suffix.lower().removeprefix(".")
    if kind not in ("png", "svg", "gif"):
        raise ValueError(
            f"{os.fspath(path)!r} is no picture that can be written: its name must end in .png, .svg or .gif."
        )
    if not frames:
        raise ValueError("The range of steps is empty: give at least one step.")
    if frames > 1 and kind != "gif":
        raise ValueError(
            f"A .{kind} file shows one step, and several are given: choose one of them, or write a .gif file."
        )
    if frames > MAX_FRAMES:
        raise ValueError(f"Such a GIF is too long: give at most {MAX_FRAMES} steps, as in range(0, 3000, 10).")
    return kind


def write(pictures: Sequence[StaticPicture], path: str | os.PathLike[str], seconds: float) -> pathlib.Path:
    """Write the pictures into one file of the kind that its name ends in; ``seconds`` is the time for each in a GIF."""
    file, kind = pathlib.Path(path), kind_of(path, len(pictures))
    if kind == "svg":
        file.write_text(svg(pictures[0]), encoding="utf-8")
    elif kind == "png":
        pictures[0].image(SHARP).save(file)
    else:
        images = [picture.image() for picture in pictures]
        white = Image.new("RGBA", (images[0].width, max(image.height for image in images)), "white")
        pages = [white.copy() for _ in images]
        for page, image in zip(pages, images, strict=True):
            page.alpha_composite(image)
        first, *rest = [page.convert("RGB").quantize(128) for page in pages]
        first.save(file, save_all=True, append_images=rest, duration=round(1000 * seconds), loop=0, optimize=False)
    return file


def svg(picture: StaticPicture) -> str:
    """The picture as SVG, in units of a shown pixel; texts stay texts."""
    top, groups = 0.0, []
    for layout in picture.layouts:
        groups.append(f'<g transform="translate(0 {top:g})">' + "".join(map(_element, layout.shapes)) + "</g>")
        top += layout.height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top:g}" width="{WIDTH}" height="{top:g}">'
    return f"{head}<title>{html.escape(repr(picture))}</title>{''.join(groups)}</svg>\n"


def _element(shape: Shape) -> str:
    """Return a shape as an element of SVG."""
    if isinstance(shape, Text):
        weight = ' font-weight="bold"' if shape.bold else ""
        place = f'x="{shape.x:g}" y="{shape.y:g}" text-anchor="{_ANCHORS[shape.anchor]}" dominant-baseline="central"'
        look = f'font-family="{_FONTS[shape.mono]}" font-size="{shape.size:g}" fill="{shape.colour}"{weight}'
        lines = shape.text.split("\n")
        more = "".join(f'<tspan x="{shape.x:g}" dy="1.15em">{html.escape(line)}</tspan>' for line in lines[1:])
        shift = f' dy="{-0.575 * (len(lines) - 1):g}em"' if more else ""
        return f'<text {place}{shift} {look} style="white-space: pre">{html.escape(lines[0])}{more}</text>'
    if isinstance(shape, Polygon):
        corners = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
        return f'<polygon points="{corners}" {_edge(shape)}/>'
    place = f'x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}"'
    if isinstance(shape, Pixels):
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(shape.colours)).save(buffer, format="png")
        packed = base64.b64encode(buffer.getvalue()).decode("ascii")
        look = 'preserveAspectRatio="none" style="image-rendering: pixelated"'
        return f'<image {place} {look} href="data:image/png;base64,{packed}"/>'
    return f"<rect {place} {_edge(shape)}/>"


def _edge(shape: Box | Polygon) -> str:
    round_ = f' rx="{shape.round:g}"' if isinstance(shape, Box) and shape.round else ""
    stroke = f' stroke="{shape.edge}" stroke-width="{shape.thick:g}"' if shape.edge else ""
    return f'fill="{shape.fill or "none"}"{stroke}{round_}'
