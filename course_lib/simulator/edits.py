"""A kernel with a change: nodes of its syntax tree are replaced, and the tree is compiled, never a text of it."""

import ast
import copy
import operator
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

from .language.source.reading import defined, parsed

#: A node and what replaces it; a statement may become several.
Change = tuple[ast.AST, ast.AST | Sequence[ast.stmt]]

#: The file of changed kernels.
FILE = "<a changed kernel>"


def edited(
    function: FunctionType,
    tree: ast.FunctionDef,
    changes: Iterable[Change],
    lines: Iterable[tuple[int, str]],
    names: Mapping[str, object],
) -> FunctionType:
    """Return a function with these changes of its tree; the simulator takes the changed tree as its source.

    Args:
        function: the function that the tree defines; its defaults stay.
        tree: nodes that do not change are shared with it.
        changes: nodes of the tree, each with its replacement, which gets the node's place in the file.
        lines: the numbered lines that are shown as the source.
        names: the values of the free names.

    Nothing of it is executed.
    """
    replacements = dict(changes)
    for old, new in replacements.items():
        for node in new if isinstance(new, Sequence) else (new,):
            ast.fix_missing_locations(ast.copy_location(node, old) if not hasattr(node, "lineno") else node)
    unannotated = copy.copy(tree)
    unannotated.returns = None
    changed = _replaced(unannotated, replacements)
    undecorated = copy.copy(changed)
    undecorated.decorator_list = []
    result = defined(undecorated, FILE, dict(names), function.__defaults__)
    parsed(result, changed, tuple(lines))
    return result


def expression(text: str) -> ast.expr:
    """Return an expression of our own text, without a place in a file."""
    node = ast.parse(text, mode="eval").body
    for part in ast.walk(node):
        for attribute in part._attributes:
            delattr(part, attribute)
    return node


def _replaced(part: Any, replacements: Mapping[ast.AST, Any]) -> Any:
    """Return a part of the tree with these nodes replaced; only the nodes above them are copied."""
    if isinstance(part, list):
        found: list[Any] = []
        for item in part:
            new = _replaced(item, replacements)
            found += new if isinstance(new, (list, tuple)) else [new]
        return part if len(found) == len(part) and all(map(operator.is_, found, part)) else found
    if not isinstance(part, ast.AST):
        return part
    if part in replacements:
        return replacements[part]
    fields = {name: _replaced(value, replacements) for name, value in ast.iter_fields(part)}
    if all(fields[name] is value for name, value in ast.iter_fields(part)):
        return part
    return ast.copy_location(type(part)(**fields), part)
