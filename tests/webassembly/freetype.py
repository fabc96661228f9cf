"""Text in Pillow's pictures by matplotlib's FreeType: Pillow is built without it in this Python, and with it elsewhere.

Importing this module puts it in the place of Pillow's part in C. It does what `ImageFont.truetype` and
`ImageDraw.text` ask for, for lines of text from left to right in shades of one colour.
"""

import math
import sys

import numpy as np
from matplotlib.ft2font import FT2Font, Kerning, LoadFlags
from PIL import Image

HAVE_RAQM = HAVE_FRIBIDI = HAVE_HARFBUZZ = False
FLAGS = LoadFlags.DEFAULT | LoadFlags.NO_BITMAP


class Font:
    """A font of one size; the lengths of its face are in 1/64 pixels."""

    def __init__(self, path, size):
        self._face = FT2Font(path)
        self._face.set_size(size, 72)
        self.family, self.style = self._face.family_name, self._face.style_name
        scale = size / self._face.units_per_EM
        self.ascent, self.descent = math.ceil(self._face.ascender * scale), -math.floor(self._face.descender * scale)

    def getlength(self, text, *options):
        """Return where the next letter would begin, in 1/64 pixels."""
        return self._laid_out(text)[1]

    def getsize(self, text, mode, direction=None, features=None, language=None, anchor=None):
        """Return the size, and the place of the upper left corner, in pixels."""
        (left, top, right, bottom), x, y, _ = self._placed(text, anchor)
        return (right - left, bottom - top), (left - x, top + y)

    def render(self, text, fill, mode, *options):
        """Return the text as an image, and the place of its upper left corner, in pixels."""
        anchor, _, start = options[-3:]
        (left, top, right, bottom), x, y, glyphs = self._placed(text, anchor, start)
        image = np.zeros((max(bottom - top, 0), max(right - left, 0)), np.uint8)
        for at, glyph in glyphs:
            # It adds the distance of the bitmap from the letter's place, but to x alone.
            self._face.draw_glyph_to_bitmap(
                image, at - left, -glyph.horiBearingY // 64 - top, glyph, antialiased=mode != "1"
            )
        return Image.fromarray(image).im, (left - x, top + y + math.ceil(start[1] - 0.5))

    def _laid_out(self, text):
        """Return the glyphs, each with its place, and the place of the next one; places are no whole pixels."""
        self._face.clear()
        place, last, glyphs = 0, None, []
        for letter in text:
            index = self._face.get_char_index(ord(letter))
            if last is not None:
                place += self._face.get_kerning(last, index, Kerning.UNFITTED)
            glyph = self._face.load_glyph(index, FLAGS)
            glyphs.append((place, glyph))
            place, last = place + round(glyph.linearHoriAdvance / 1024), index
        return glyphs, place

    def _placed(self, text, anchor, start=(0, 0)):
        """Return the box of a text whose baseline begins at (0, 0), the place of its anchor, and its glyphs."""
        laid_out, length = self._laid_out(text)
        glyphs = [(math.floor(at / 64 + start[0] + 0.5), glyph) for at, glyph in laid_out]
        corners = [(at + g.horiBearingX // 64, -g.horiBearingY // 64) for at, g in glyphs]
        ends = [(x + g.width // 64, y + g.height // 64) for (x, y), (_, g) in zip(corners, glyphs, strict=True)]
        box = (*map(min, *corners, (0, 0)), *map(max, *ends, (0, 0)))
        x, y = anchor or "la"
        along = {"l": 0, "m": math.floor(length / 128 + 0.5), "r": math.floor(length / 64 + 0.5)}[x]
        above = {"a": self.ascent, "m": (self.ascent - self.descent + 1) // 2, "s": 0, "d": -self.descent}[y]
        return box, along, above, glyphs


def getfont(font, size, index=0, encoding="", font_bytes=b"", layout_engine=0):
    return Font(font, size)


sys.modules["PIL._imagingft"] = sys.modules[__name__]
