"""The region of each variable: the part of a function outside which its values are not read.

A masked assignment must keep the old value in the inactive lanes, but only if one of them can become active
again and read it. Most variables of a guarded kernel are used only inside the guard, and need no blending there.
"""

import ast
from os.path import commonprefix


class Regions:
    """The region of each local name of a function, as the id of a statement list.

    ``home[name]`` is the id of the innermost statement list that contains all occurrences of the name and in which
    it is always assigned before it is read. If there is none, and for parameters, it is the function's own list.
    """

    def __init__(self, function: ast.FunctionDef):
        self._paths: dict[str, list[tuple[int, ...]]] = {}
        self._lists: dict[int, list[ast.stmt]] = {}
        self._targets: dict[int, set[str]] = {}  # names that a for loop assigns before its body runs
        self._visit(function.body, ())
        self.names = set(self._paths)
        root = id(function.body)
        shared = {a.arg for a in function.args.args}  # with callers, or with functions inside, which are called later
        for node in nodes(function):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not function:
                shared |= {n.id for n in nodes(node) if isinstance(n, ast.Name)}
        self.home = {}
        for name, paths in self._paths.items():
            common = commonprefix(paths)
            while (
                len(common) > 1
                and name not in self._targets.get(common[-1], ())
                and exposed(self._lists[common[-1]], name)
            ):
                common = common[:-1]
            self.home[name] = root if name in shared else common[-1]

    def _visit(self, body: list[ast.stmt], path: tuple[int, ...]) -> None:
        path = (*path, id(body))
        self._lists[id(body)] = body
        for statement in body:
            for child, value in ast.iter_fields(statement):
                if child in ("body", "orelse") and isinstance(statement, (ast.If, ast.For, ast.While)):
                    if value:
                        self._visit(value, path)
                elif child == "target" and isinstance(statement, ast.For):
                    self._targets[id(statement.body)] = {n.id for n in nodes(value) if isinstance(n, ast.Name)}
                    self._occurrences(value, (*path, id(statement.body)))
                else:
                    for node in value if isinstance(value, list) else [value]:
                        if isinstance(node, ast.AST):
                            self._occurrences(node, path)

    def _occurrences(self, tree: ast.AST, path: tuple[int, ...]) -> None:
        for node in nodes(tree):
            if isinstance(node, ast.Name):
                self._paths.setdefault(node.id, []).append(path)


def reads(tree: ast.AST | None, name: str) -> bool:
    return tree is not None and any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in nodes(tree)
    )


def writes(tree: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes(tree))


def exposed(body: list[ast.stmt], name: str, after: bool = False) -> bool:
    """Whether ``name`` can be read before it is assigned, in ``body`` or, if it is read ``after`` that, there."""
    for s in reversed(body):
        if isinstance(s, ast.If):
            after = reads(s.test, name) or exposed(s.body, name, after) or exposed(s.orelse, name, after)
        elif isinstance(s, (ast.For, ast.While)):  # a for loop assigns its variable first, but it may not run at all
            head, own = (s.iter, writes(s.target, name)) if isinstance(s, ast.For) else (s.test, False)
            after = after or reads(head, name) or not own and exposed(s.body, name) or exposed(s.orelse, name)
        elif reads(s, name) or isinstance(s, ast.AugAssign) and writes(s.target, name):
            after = True
        elif isinstance(s, (ast.Assign, ast.AnnAssign)) and writes(s, name):
            after = False
    return after


def nodes(tree: ast.AST, inside: bool = True) -> list[ast.AST]:
    """All nodes of a tree, as ast.walk gives them, in a seventh of its time; unless ``inside``, without those of the
    functions that it defines."""
    found = [tree]
    for node in found:  # grows by the children of each
        if not inside and isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found += node.args.defaults
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
    return found


def assigned_names(body: list[ast.stmt]) -> set[str]:
    own = [node for statement in body for node in nodes(statement, inside=False)]
    return {n.id for n in own if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {
        n.name for n in own if isinstance(n, ast.FunctionDef)
    }
