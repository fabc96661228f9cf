"""Lessons as pages and as slides: one HTML file each, with interactive steppers that need no kernel and no network."""

from importlib.util import find_spec

if find_spec("nbconvert") is None:
    raise ModuleNotFoundError('pages need nbconvert: pip install "tile-by-tile[teach]"', name="nbconvert")

from .convert import executed, html_page, slides

__all__ = ["executed", "html_page", "slides"]
