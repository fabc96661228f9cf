"""How a kernel is refused."""

import ast
from typing import NoReturn

from ...findings import UnsupportedKernelError


class UnknownShape(UnsupportedKernelError):
    """The shape of an array is unknown; in a device function it may be an argument that is a literal in the call."""


class SmallerItems(Exception):
    """Dynamic shared memory is an array of smaller elements, too: all of it consists of these."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        super().__init__(dtype)


def refuse(node: ast.AST, text: str) -> NoReturn:
    """Raise UnsupportedKernelError at the line of ``node``."""
    raise UnsupportedKernelError(text, getattr(node, "lineno", None))
