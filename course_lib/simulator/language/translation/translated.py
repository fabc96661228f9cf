"""An expression in Python's syntax tree that is translated already."""

from __future__ import annotations

import ast

from ..program.nodes import Expr


class Translated(ast.Name):
    """A value in a place of Python's syntax tree: an item of a tuple that a star unpacks."""

    def __init__(self, value: Expr, place: ast.expr) -> None:
        super().__init__(ast.unparse(place), ast.Load())
        ast.copy_location(self, place)
        self.value, self.place = value, place


Translated.__name__ = "Name"  # by which ast.unparse knows how to write it in a message
