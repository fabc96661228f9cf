"""Pictures for Jupyter: small PNGs, and the HTML that shows one with its text.

An output of type image/png has no place for the text: neither JupyterLab nor a page of nbconvert would show one.
"""

from __future__ import annotations

import base64
import html
import io
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

#: Colours of a picture that are compared with one another.
MANY_COLOURS = 1 << 14
_ELEMENT = re.compile(r'<img src="data:image/png;base64,([^"]+)" alt="[^"]*" width="(\d+)">')


def with_palette(image: Image.Image, apart: int = 8) -> bytes:
    """Return a picture in RGBA as a PNG of at most 256 colours, which is a third of the size: notebooks carry many.

    The most frequent colours are exact, and so is each of a 200th of the picture: areas of different colours stay
    different. Any other gives way to the nearest of them if they differ by at most ``apart`` of 255 in each channel, on
    a white page and on a black one.
    """
    from PIL import Image  # of the extra `course`; a server and commands that draw nothing do without

    if image.getcolors(MANY_COLOURS) is None:  # as of a photograph: comparing each with each would take minutes
        image = image.quantize().convert("RGBA")
    pixels = np.ascontiguousarray(image).view(np.uint32).ravel()
    starts = np.flatnonzero(np.diff(pixels, prepend=~pixels[:1]))  # of runs of one colour
    lengths = np.diff(starts, append=len(pixels))
    values, which = np.unique(pixels[starts], return_inverse=True)
    colours = values.view(np.uint8).reshape(-1, 4)
    on_black = colours[:, :3].astype(int) * colours[:, 3:] // 255
    seen = np.hstack([on_black, on_black + 255 - colours[:, 3:]])
    kept, nearest, distance = list[int](), np.zeros(len(colours), int), np.full(len(colours), 256)
    area = np.bincount(which, lengths)
    for i in np.argsort(-area, kind="stable").tolist():
        if distance[i] > (0 if 200 * area[i] > len(pixels) else apart):
            other = np.abs(seen - seen[i]).max(axis=1)
            nearest[other < distance] = len(kept)
            distance = np.minimum(distance, other)
            kept.append(i)
        if len(kept) > 256:
            return with_palette(image, 2 * apart)
    packed = Image.fromarray(np.repeat(nearest[which], lengths).astype(np.uint8).reshape(image.height, image.width))
    packed.putpalette(colours[kept].tobytes(), "RGBA")
    file = io.BytesIO()
    packed.save(file, format="png", compress_level=8)  # 9 takes twice the time for 2 % fewer bytes
    return file.getvalue()


def element(png: bytes, alt: str, width: int) -> str:
    """Return a picture in HTML, at most ``width`` CSS pixels wide; ``alt`` is for those who do not see it."""
    packed = base64.b64encode(png).decode("ascii")
    return f'<img src="data:image/png;base64,{packed}" alt="{html.escape(alt)}" width="{width}">'


def packed_in(text: str) -> str | None:
    """Return the first PNG in an HTML text, in base64; None if there is none."""
    found = _ELEMENT.search(text)
    return found[1] if found else None


def size_of(text: str) -> tuple[int, int] | None:
    """Return width and height in CSS pixels of the first picture in an HTML text; None if there is none."""
    found = _ELEMENT.search(text)
    if found is None:
        return None
    wide, high = (int.from_bytes(base64.b64decode(found[1][:32])[at : at + 4]) for at in (16, 20))
    return int(found[2]), round(int(found[2]) * high / wide)
