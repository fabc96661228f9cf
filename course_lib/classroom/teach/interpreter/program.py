"""A program of an answer: the definitions that its function needs, and its calls."""

import ast
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .budget import DEEPEST
from .evaluate import Evaluation

#: Python's frames for a call inside a call of an answer, in a few nodes inside each other.
_FRAMES = 20
#: The characters of what an exception says that are kept.
_SAID = 500


@dataclass(frozen=True)
class Program:
    """A function to be called, by its ``name``: the definitions of a notebook that it needs, in order, and other names.

    The statements have passed `unlisted`.

    >>> statements = ast.parse("double = lambda x: 2 * x").body
    >>> program = Program("double", tuple(statements), {})
    >>> program(None, (21,))
    42
    """

    name: str
    statements: tuple[ast.stmt, ...]
    names: Mapping[str, Any]

    def __call__(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Evaluate a call in place of ``function``; raise what it raises, Endless or Unlisted.

        Each call begins anew with the definitions: no call sees what another one changed.
        """
        evaluation = Evaluation()
        evaluation.scope.values.update(self.names)
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, DEEPEST * _FRAMES))
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                evaluation.run(self.statements)
                return evaluation.called(evaluation.scope.find(self.name), arguments, {})
        except Exception as error:
            evaluation.budget.read(error)  # its text may have more than is left
            if len(str(error)) > _SAID:
                raise type(type(error).__name__, (Exception,), {})(str(error)[:_SAID]) from None
            raise
        finally:
            sys.setrecursionlimit(before)
