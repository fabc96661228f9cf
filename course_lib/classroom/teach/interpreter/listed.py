"""The check of a tree before it is evaluated: what of it no table lists."""

import ast
import builtins
import types
from collections.abc import Iterable, Iterator, Set
from typing import Any

import numpy as np
from numba import types as numba_types

from . import attributes
from .budget import MOST_BITS, sentence
from .evaluate import EXPRESSIONS, STATEMENTS
from .functions import BUILTINS, BY_NAME, FUNCTIONS, MODULES, TYPES, imported
from .operators import BINARY, COMPARISONS, UNARY
from .scopes import assigned_in, names_in

#: Parts of these nodes, which they read themselves.
_PARTS = (ast.arguments, ast.arg, ast.keyword, ast.comprehension, ast.ExceptHandler, ast.alias, ast.Starred)
_OPERATORS = (*BINARY, *UNARY, *COMPARISONS, ast.And, ast.Or, ast.Load, ast.Store, ast.Del)
#: The names of attributes and of what modules have.
_ATTRIBUTES = attributes.NAMES.union(*MODULES.values())


def unlisted(statements: Iterable[ast.stmt], elsewhere: Set[str] = frozenset()) -> Iterator[str]:
    """Yield what no table lists in statements, in sentences.

    ``elsewhere`` are names that the notebook defines in a way that is not read. Another name that nothing defines is
    an error of the answer, and raises NameError where it is evaluated.

    >>> list(unlisted(ast.parse("x = eval('2 * 3')").body))
    ['line 1: the grader does not evaluate the name eval, so a person reads this answer.']
    """
    statements = list(statements)
    nodes = [node for statement in statements for node in _evaluated(statement)]
    bound = {name for node in nodes if isinstance(node, ast.FunctionDef) for name in assigned_in([node])}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)} | assigned_in(statements)
    for node in nodes:
        bound |= assigned_in(node.body) if isinstance(node, ast.FunctionDef) else set()
        bound |= names_in(node) if isinstance(node, ast.comprehension) else set()
    for node in nodes:
        if said := _unlisted(node, bound, elsewhere):
            yield sentence(getattr(node, "lineno", 0), said)


def _evaluated(root: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all inside it that are evaluated: no annotation is."""
    yield root
    for name, value in ast.iter_fields(root):
        if name not in ("annotation", "returns", "type_params"):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    yield from _evaluated(each)


def _unlisted(node: ast.AST, bound: Set[str], elsewhere: Set[str]) -> str:
    """Say what of a node no table lists; nothing if all of it is listed."""
    kind = type(node)
    if kind not in EXPRESSIONS and kind not in STATEMENTS and not isinstance(node, (*_PARTS, *_OPERATORS)):
        return f"`{kind.__name__.lower()}`"
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return "a decorator"
    if isinstance(node, ast.Attribute) and (node.attr not in _ATTRIBUTES or not isinstance(node.ctx, ast.Load)):
        return f"`.{node.attr}`" if isinstance(node.ctx, ast.Load) else f"an assignment to `.{node.attr}`"
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound:
        is_unread = node.id in elsewhere or (hasattr(builtins, node.id) and node.id not in BUILTINS)
        return f"the name {node.id}" if is_unread else ""
    if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | complex | str | None | type(...)):
        return f"a constant of type {type(node.value).__name__}"
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > MOST_BITS:
        return f"a number of more than {MOST_BITS:,} bits"
    if isinstance(node, ast.Import | ast.ImportFrom):
        try:
            list(imported(node))
        except KeyError:
            return f"`{ast.unparse(node)[:40]}`"
    return ""


def known(thing: Any) -> Any:
    """Return what the notebook imports or defines beside a function, as an answer may use it; raise KeyError if it may
    not. A type of numba is NumPy's of the same name.

    >>> known((float32, 16))
    (<class 'numpy.float32'>, 16)
    """
    if isinstance(thing, numba_types.Number | numba_types.Boolean) and getattr(np, str(thing), None) in TYPES:
        return getattr(np, str(thing))
    if isinstance(thing, tuple):
        return tuple(map(known, thing))
    if isinstance(thing, bool | int | float | complex | str | np.number):
        return thing
    if isinstance(thing, types.ModuleType):
        return BY_NAME[thing.__name__]
    if isinstance(thing, type) or callable(thing):
        if thing in FUNCTIONS:
            return thing
    raise KeyError(thing)
