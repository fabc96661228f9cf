"""The palette: a colour means the same thing in every picture of the course.

The colours are from the palette of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

#: The meaning of each colour.
COLOURS = {"A": "#0072B2", "B": "#D55E00", "C": "#009E73", "shared": "#E69F00", "register": "#CC79A7"}
#: Text and lines on a light fill.
INK = "#1a1a1a"
#: Text and lines on the page's background, white or as dark as JupyterLab's #111111. Its contrast with either is 4.3,
#: the most that one colour has with both: their own contrast is 18.9, the square of that.
GROUND = "#7a7a7a"
FAINT = "#b8b8b8"
#: Thin lines between elements, and a translucent fill, on either background: red, green, blue and opacity.
EDGE, WASH = (0.5, 0.5, 0.5, 0.55), (0.5, 0.5, 0.5, 0.15)
#: A warp that issues: the colour of no array, with the same contrast to both backgrounds as GROUND.
ISSUING = "#8a63d2"
#: A kernel's own line or bar: naive and tiled as the lessons draw them, the others in colours that no array has.
KERNELS = {"host": GROUND, "naive": GROUND, "tiled": COLOURS["shared"], "best": "#56B4E9", "cublas": GROUND}
#: Dashes of the lines that have the colour of naive's.
STYLES = {"host": ":", "cublas": "--"}
