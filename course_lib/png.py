"""Pictures as Jupyter is given them: small PNGs, and the HTML that shows one with its text.

An output of type image/png has no place for the text: neither JupyterLab nor a page of nbconvert would show one.
"""

from __future__ import annotations

import base64
import html
import re
import struct

import numpy as np
from PIL import Image

_ELEMENT = re.compile(r'<img src="data:image/png;base64,([^"]+)" alt="[^"]*" width="(\d+)">')
#: Where a PNG says its width and its height, in pixels.
_SIZE = slice(16, 24)


def quantized(image: Image.Image, most: int, method: Image.Quantize) -> Image.Image:
    """The picture in at most ``most`` colours, which stand in the order of their values: Pillow promises none, and the
    same picture is to be the same file.
    """
    found = image.quantize(most, method=method)
    assert found.palette is not None
    mode = found.palette.mode
    colours = np.array(found.getpalette(mode), np.uint8).reshape(-1, len(mode))
    order = np.lexsort(colours.T[::-1])
    ordered = Image.fromarray(np.argsort(order).astype(np.uint8)[np.asarray(found)])
    ordered.putpalette(colours[order].tobytes(), mode)
    return ordered


def element(png: bytes, alt: str, width: int) -> str:
    """A picture in HTML, ``width`` CSS pixels wide where there is room; ``alt`` is for those who do not see it."""
    packed = base64.b64encode(png).decode("ascii")
    return f'<img src="data:image/png;base64,{packed}" alt="{html.escape(alt)}" width="{width}">'


def packed_in(text: str) -> str | None:
    """The first PNG in a text of HTML, in base64; None where there is none."""
    found = _ELEMENT.search(text)
    return found[1] if found else None


def height_of(text: str) -> float:
    """How many CSS pixels the first picture in a text of HTML is high; 0 where there is none."""
    found = _ELEMENT.search(text)
    if not found:
        return 0
    width, height = struct.unpack(">II", base64.b64decode(found[1][:32])[_SIZE])
    return int(found[2]) * float(height / width)
