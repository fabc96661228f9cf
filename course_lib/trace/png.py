"""Pictures for Jupyter: small PNGs, and the HTML that shows one with its text.

An output of type image/png has no place for the text: neither JupyterLab nor a page of nbconvert would show one.
"""

import base64
import html
import re

import numpy as np
from PIL import Image

#: The key of a notebook's metadata, or of an output's, that says: this is the course's.
KEY = "tile_by_tile"
_ELEMENT = re.compile(r'<img src="data:image/png;base64,([^"]+)" alt="[^"]*" width="(\d+)">')


def quantized(image: Image.Image, most: int, method: Image.Quantize) -> Image.Image:
    """Return the picture in at most ``most`` colours, in the order of their values.

    Pillow's order is not defined, and the same picture must give the same file.
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
    """Return a picture in HTML, at most ``width`` CSS pixels wide; ``alt`` is for those who do not see it."""
    packed = base64.b64encode(png).decode("ascii")
    return f'<img src="data:image/png;base64,{packed}" alt="{html.escape(alt)}" width="{width}">'


def packed_in(text: str) -> str | None:
    """Return the first PNG in an HTML text, in base64; None if there is none."""
    found = _ELEMENT.search(text)
    return found[1] if found else None
