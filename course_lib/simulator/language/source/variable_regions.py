"""The region of each variable: the innermost statement list that has everything that reads its values.

A masked assignment must keep the old value in the inactive lanes, but only if one of them can become active
again and read it. Most variables of a guarded kernel are used only inside the guard, and need no blending there.
"""

import ast
from collections.abc import Iterator
from os.path import commonprefix

from .tree import names_in, nodes, occurs


def regions(function: ast.FunctionDef) -> dict[str, int]:
    """The region of each local name of a function, as the id of a statement list.

    It is the innermost statement list that contains all occurrences of the name and in which it is always assigned
    before it is read. If there is none, and for parameters, it is the function's own list.
    """
    paths: dict[str, list[tuple[int, ...]]] = {}
    lists: dict[int, list[ast.stmt]] = {}
    targets: dict[int, list[str]] = {}  # names that a for loop assigns before its body runs
    for name, path in _occurrences(function.body, (), lists, targets):
        paths.setdefault(name, []).append(path)
    shared = {a.arg for a in function.args.args}  # with callers, or with functions inside, which are called later
    for node in nodes(function):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not function:
            shared.update(names_in(node))
    home = {}
    for name, found in paths.items():
        common = commonprefix(found)
        while len(common) > 1 and _is_exposed(common[-1], name, lists, targets):
            common = common[:-1]
        home[name] = id(function.body) if name in shared else common[-1]
    return home


def _occurrences(
    body: list[ast.stmt], path: tuple[int, ...], lists: dict[int, list[ast.stmt]], targets: dict[int, list[str]]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The names in ``body``, each with the ids of the statement lists around it; fills ``lists`` and ``targets``."""
    path = (*path, id(body))
    lists[id(body)] = body
    for statement in body:
        for child, value in ast.iter_fields(statement):
            if child in ("body", "orelse") and isinstance(statement, (ast.If, ast.For, ast.While)):
                if value:
                    yield from _occurrences(value, path, lists, targets)
            elif child == "target" and isinstance(statement, ast.For):
                targets[id(statement.body)] = names_in(value)
                yield from ((name, (*path, id(statement.body))) for name in names_in(value))
            else:
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.AST):
                        yield from ((name, path) for name in names_in(part))


def _is_exposed(body: int, name: str, lists: dict[int, list[ast.stmt]], targets: dict[int, list[str]]) -> bool:
    """Whether ``name`` can be read before it is assigned, in the list of this id."""
    assigned_before = name in targets.get(body, ())
    return not assigned_before and exposed(lists[body], name)


def exposed(body: list[ast.stmt], name: str, after: bool = False) -> bool:
    """Whether ``name`` can be read before it is assigned, in ``body`` or, if it is read ``after`` that, there."""
    for s in reversed(body):
        match s:
            case ast.If():
                after = occurs(s.test, name) or exposed(s.body, name, after) or exposed(s.orelse, name, after)
            case ast.While():  # it may not run at all
                after = after or any((occurs(s.test, name), exposed(s.body, name), exposed(s.orelse, name)))
            case ast.For():  # nor may a for loop, which assigns its variable first
                in_body = not occurs(s.target, name, ast.Store) and exposed(s.body, name)
                after = after or any((occurs(s.iter, name), in_body, exposed(s.orelse, name)))
            case ast.AugAssign() if occurs(s.target, name, ast.Store):
                after = True
            case _ if occurs(s, name):
                after = True
            case ast.Assign() | ast.AnnAssign() if occurs(s, name, ast.Store):
                after = False
    return after
