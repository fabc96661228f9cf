"""The palette: a colour means the same thing in every picture of the course.

The colours are from the palette of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

#: What each colour stands for.
COLOURS = {"A": "#0072B2", "B": "#D55E00", "C": "#009E73", "shared": "#E69F00", "register": "#CC79A7"}
INK = "#1a1a1a"
FAINT = "#b8b8b8"
#: A kernel's own line or bar: naive and tiled as the lessons draw them, the others in colours that no array has.
KERNELS = {"host": "#767676", "naive": INK, "tiled": COLOURS["shared"], "best": "#56B4E9", "cublas": INK}
