"""The structure of a traced kernel, read from its source and its accesses: statements, loops and roles."""

import ast
import textwrap
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from itertools import chain, groupby
from typing import Any

from ..simulator.language.source.tree import nodes
from .columns import OPS
from .trace import Trace

#: Numbered lines.
Source = tuple[tuple[int, str], ...]


class Listing:
    """Facts from the syntax trees about the traced lines.

    ``first``: line -> first line of its statement; ``prefix``: line -> the prefix of its variables' names, empty in the
    kernel, ``function.`` in a device function.
    """

    def __init__(self, sources: Iterable[Any]):
        self.first: dict[int, int] = {}
        self.prefix: dict[int, str] = {}
        for number, source in enumerate(sources):
            self.prefix |= {line: f"{source.name}." if number else "" for line, _ in source.lines}
            for node in nodes(source.tree):
                if isinstance(node, ast.stmt):
                    self._add(node)

    def _add(self, node: ast.stmt) -> None:
        first, last = node.lineno, node.end_lineno or node.lineno
        body = getattr(node, "body", None)
        if body:  # of a compound statement only the head
            last = max(first, body[0].lineno - 1)
        for line in range(first, last + 1):
            self.first[line] = max(first, self.first.get(line, 0))


def functions(trace: Trace) -> tuple[tuple[ast.FunctionDef, int], ...]:
    """Return the functions of the traced source, each with the offset of its line numbers.

    The lines of one function are consecutive; between functions lines may be missing.
    """
    return _functions(trace.source)


@lru_cache(8)
def _functions(source: Source) -> tuple[tuple[ast.FunctionDef, int], ...]:
    found: list[tuple[ast.FunctionDef, int]] = []
    for _, group in groupby(enumerate(source), lambda item: item[1][0] - item[0]):
        lines = [line for _, line in group]
        with suppress(SyntaxError):
            defined = ast.parse(textwrap.dedent("\n".join(text for _, text in lines))).body
            found += [(node, lines[0][0] - 1) for node in defined if isinstance(node, ast.FunctionDef)]
    return tuple(found)


def shown_source(trace: Trace) -> Source:
    """Return the numbered lines, dedented, without decorators and docstrings, which no step runs."""
    return _shown(trace.source)


@lru_cache(8)
def _shown(source: Source) -> Source:
    hidden: set[int] = set()
    for function, shift in _functions(source):
        first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        hidden.update(range(shift + first, shift + function.lineno))
        if ast.get_docstring(function) is not None:
            hidden.update(range(shift + function.body[0].lineno, shift + (function.body[0].end_lineno or 0) + 1))
    lines = textwrap.dedent("\n".join(text for _, text in source)).split("\n")
    numbered = [(line, text) for (line, _), text in zip(source, lines, strict=True) if line not in hidden]
    while numbered and not numbered[-1][1].strip():
        numbered.pop()
    return tuple(numbered)


def loops(trace: Trace) -> dict[int, tuple[int, int]]:
    """Return for each line in a loop the line of the head of the innermost loop, and of the one around that (0: none).

    A head belongs to its own loop.
    """
    return _loops(trace.source)


def loops_around(trace: Trace) -> dict[int, tuple[int, ...]]:
    """Return for each shown line in a loop the heads of all loops around it, from the inside out."""
    return _loops_around(trace.source)


@lru_cache(8)
def _loops_around(source: Source) -> dict[int, tuple[int, ...]]:
    inner, found = _loops(source), dict[int, tuple[int, ...]]()
    for line in {line for line, _ in _shown(source)} & inner.keys():
        heads = [inner[line][0]]
        while parent := inner[heads[-1]][1]:
            heads.append(parent)
        found[line] = tuple(heads)
    return found


@lru_cache(8)
def _loops(source: Source) -> dict[int, tuple[int, int]]:
    """Return for each line in a loop the line of the loop's head, and of the one around it."""
    around: dict[int, tuple[int, int]] = {}

    def visit(body: Iterable[ast.stmt], header: int, shift: int) -> None:
        for node in body:
            inner = header
            if isinstance(node, ast.For | ast.While):
                inner = node.lineno + shift
                for line in range(inner, shift + (node.end_lineno or node.lineno) + 1):
                    around[line] = inner, header
            for part in ("body", "orelse"):
                visit(getattr(node, part, ()), inner if part == "body" else header, shift)

    for function, shift in _functions(source):
        visit(function.body, 0, shift)
    return around


def roles(trace: Trace) -> dict[str, str]:
    """Return which of the launch's global matrices are A, B and C in C = A·B; the names decide if they can.

    Otherwise C is the first two-dimensional array stored to, and A and B are the first two others loaded from; their
    shapes must be those of a product. Other arrays have no entry.
    """
    matrices = [a.name for a in trace.arrays.values() if a.space == "global" and len(a.shape) == 2]
    by_name = {name.upper(): name for name in matrices}
    if {"A", "B", "C"} <= by_name.keys():
        found = {by_name[role]: role for role in "ABC"}
    else:
        columns = trace.columns
        touched: dict[bool, dict[str, None]] = {True: {}, False: {}}
        for op, array in zip(columns.access["op"].tolist(), columns.access["array"].tolist(), strict=True):
            touched[op != OPS.index("load")].setdefault(columns.arrays[array])
        stored = [name for name in touched[True] if name in matrices]
        loaded = [name for name in touched[False] if name in matrices and name not in stored[:1]]
        if not stored or len(loaded) < 2:
            return {}
        found = {loaded[0]: "A", loaded[1]: "B", stored[0]: "C"}
    shapes = {role: trace.arrays[name].shape for name, role in found.items()}
    (M, K), (rows_of_b, N) = shapes["A"], shapes["B"]
    return found if rows_of_b == K and shapes["C"] == (M, N) else {}


def accumulators(trace: Trace) -> tuple[str, ...]:
    """Return the variables that accumulate a result: each is updated from itself and flows into a global array."""
    feeds: dict[str, set[str]] = {}
    for node in chain.from_iterable(nodes(function) for function, _ in functions(trace)):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = set[str]().union(*map(_names, node.targets if isinstance(node, ast.Assign) else [node.target]))
            sources = _names(node.value) | (targets if isinstance(node, ast.AugAssign) else set())
            for name in targets:
                feeds.setdefault(name, set()).update(sources)
    reaches = {name for name, array in trace.arrays.items() if array.space == "global"}
    while more := set[str]().union(*(feeds.get(name, set()) for name in reaches)) - reaches:
        reaches |= more
    local = [name for name, array in trace.arrays.items() if array.space == "local"]
    candidates = (*trace.columns.names, *local)
    return tuple(name for name in candidates if name in reaches and name in feeds.get(name, ()))


def _names(node: ast.AST) -> set[str]:
    """Return the variable names of an expression, without those that only compute an index."""
    if isinstance(node, ast.Name):
        return {node.id}
    children = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    return set[str]().union(*(_names(child) for child in children))
