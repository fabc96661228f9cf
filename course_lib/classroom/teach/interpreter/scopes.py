"""The scopes of names: which names a function binds, which it uses, and what a name means."""

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from .functions import BUILTINS

#: Nodes that bind their ``name``.
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


@dataclass(eq=False)
class Scope:
    """The variables of a module, a call or a comprehension; ``own`` are the names that it assigns."""

    own: Set[str]
    outer: "Scope | None" = None
    values: dict[str, Any] = field(default_factory=dict)

    def find(self, name: str) -> Any:
        """Return what a name means here; raise NameError as Python does."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            if name in scope.own and scope.outer is not None:
                raise UnboundLocalError(
                    f"cannot access local variable {name!r} where it is not associated with a value"
                )
            scope = scope.outer
        if name in BUILTINS:
            return BUILTINS[name]
        raise NameError(f"name {name!r} is not defined")

    def holder(self, name: str) -> "Scope":
        """Return the scope in which an assignment to a name takes effect."""
        scope = self
        while scope.outer is not None and name not in scope.own:
            scope = scope.outer
        return scope


def names_in(target: ast.AST) -> set[str]:
    """The names that an assignment to this target binds."""
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def assigned_in(body: Sequence[ast.AST]) -> set[str]:
    """The names that statements bind in their own scope: not those of functions and comprehensions inside.

    >>> sorted(assigned_in(ast.parse("a, b = [i for i in range(2)]; import math as m").body))
    ['a', 'b', 'm']
    """
    found, outer, waiting = set[str](), set[str](), list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif isinstance(node, _NAMED) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Nonlocal):
            outer.update(node.names)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            found |= {inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)}
            waiting.append(node.generators[0].iter)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found - outer


def names_used(node: ast.AST, own: Set[str] = frozenset()) -> Iterator[str]:
    """Yield the names that a function uses and does not bind; ``own`` are those that are bound around it.

    >>> list(names_used(ast.parse("lambda x: x + y", mode="eval")))
    ['y']
    """
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in own:
            yield node.id
        return
    inner = own
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        inner = own | {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        inner |= assigned_in(node.body if isinstance(node.body, list) else [node.body])
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        inner = own | {name for part in node.generators for name in names_in(part.target)}
    for child in ast.iter_child_nodes(node):
        yield from names_used(child, inner)
