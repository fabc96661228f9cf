"""Lessons as pages and as slides: one HTML file each, with interactive steppers that need no kernel and no network."""

from importlib.util import find_spec

from ...lazy import install

if find_spec("nbconvert") is None:
    raise ModuleNotFoundError(f"pages need nbconvert: {install('teach')}", name="nbconvert")

from .convert import executed, html_page, slides

__all__ = ["executed", "html_page", "slides"]
