"""Outputs in notebooks: the types of those that the course shows, and how its own are known."""

from collections.abc import Mapping
from typing import Any

#: The key of a notebook's metadata, or of an output's, that says: this is the course's.
KEY = "tile_by_tile"
VIEW = "application/vnd.jupyter.widget-view+json"
HTML = "text/html"
#: Of a picture, as HTML as well: the same with text that is large enough for slides.
SLIDE = "application/vnd.tile-by-tile.slide"


def is_view(output: Mapping[str, Any]) -> bool:
    """Return whether an output is the view of one of the course's widgets: such a view is alone, and is marked."""
    return set(output.get("data", {})) == {VIEW} and KEY in output.get("metadata", {})
