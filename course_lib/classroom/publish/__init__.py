"""Lessons as pages and as slides: one HTML file each, with interactive steppers that need no kernel and no network."""

from ...lazy import is_missing, lacking

if is_missing("nbconvert"):
    raise lacking("a page", "nbconvert")

from .convert import executed, html_page
from .deck import slides

__all__ = ["executed", "html_page", "slides"]
