"""An expression in Python's syntax tree that is translated already."""

from __future__ import annotations

import ast

from ..program.nodes import Expr


class Translated(ast.Name):
    """A value in Python's syntax tree, such as an item of a tuple that a star unpacks; ``original`` is its own tree."""

    def __init__(self, value: Expr, original: ast.expr) -> None:
        super().__init__(ast.unparse(original), ast.Load())
        ast.copy_location(self, original)
        self.value, self.original = value, original


Translated.__name__ = "Name"  # by which ast.unparse knows how to write it in a message
