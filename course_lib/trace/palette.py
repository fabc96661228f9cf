"""The palette: a colour means the same thing in every picture of the course.

The colours are from the palette of Okabe and Ito, which colour-blind readers can tell apart. They are defined here
alone: ``tools/build_viewer.py`` writes those of the widgets, `tokens`, into ``viewer/web/style/tokens.css``.
"""

#: The meaning of each colour.
COLOURS = {"A": "#0072B2", "B": "#D55E00", "C": "#009E73", "shared": "#E69F00", "register": "#CC79A7"}
#: The one colour of that palette that no array has: a barrier, the best kernel, the second-level cache.
SKY = "#56B4E9"
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
KERNELS = {"host": GROUND, "naive": GROUND, "tiled": COLOURS["shared"], "best": SKY, "cublas": GROUND}
#: Dashes of the lines that have the colour of naive's.
STYLES = {"host": ":", "cublas": "--"}
#: An access of memory that is no matrix of the product.
OTHER = "#7f7f7f"


def tokens() -> dict[str, str]:
    """Return the colours of the widgets, by the names of their custom properties in CSS."""
    arrays = {name: COLOURS[name] for name in ("A", "B", "C")}
    named = {**arrays, "other": OTHER, **COLOURS, "issuing": ISSUING, "global": FAINT, "barrier": SKY}
    return {f"--tt-{name.lower()}": colour.lower() for name, colour in named.items()}
