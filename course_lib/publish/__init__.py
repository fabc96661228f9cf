"""Lessons as pages and as slides: one HTML file each, with interactive steppers that need no kernel and no network."""

from .convert import executed, html_page, slides

__all__ = ["executed", "html_page", "slides"]
