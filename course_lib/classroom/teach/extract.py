"""Extraction of the function that is judged from the text of an exercise's cell, without executing the cell.

The definition of one function is compiled, without decorators, annotations and default values, and given the names of
`names.py`. What calls, assigns or draws beside it is passed over.
"""

import ast
import contextlib
import linecache
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

from numba import cuda

from ...exercises.grading.routines import Run
from ...exercises.grading.source import written
from ...simulator.bounded import bounded
from ...simulator.language.source import defined
from ...simulator.language.source import parsed as parsed_as
from .allowed import refusals
from .calls import Program
from .cells import calls, parsed
from .names import Unknown, available, constant, names_of

#: What ends a line for Python's parser, which numbers them.
_LINES = re.compile(r"\r\n?|\n")


class Refused(Exception):
    """The cell holds no function that is the student's own; the message is a sentence."""


class Missing(Exception):
    """The cell holds no function at all; the message is a sentence."""


@dataclass(frozen=True)
class Extracted:
    """The function to be judged, its tree, how it is called if it is no kernel, the student's functions that it calls,
    and remarks."""

    function: Any
    tree: ast.FunctionDef
    run: Run = bounded
    helpers: tuple[ast.FunctionDef, ...] = ()
    remarks: tuple[str, ...] = ()


def extract(
    exercise: str,
    wanted: str,
    parameters: Sequence[str],
    source: str,
    others: Sequence[str],
    course: Sequence[str],
    *,
    simulated: bool,
) -> Extracted:
    """Return the function of a cell that answers the exercise, called ``wanted`` in the lesson.

    ``others`` are the student's other cells, ``course`` those of the lesson: the answer may use their imports and
    constants. A later one replaces an earlier one, the student's the lesson's, and the cell's own all others.
    ``simulated``: it is a kernel; else a function that is executed, with a short list of what it may use.

    Raises SyntaxError for a cell that is no Python, Refused and Missing.
    """
    cell = parsed(source)
    called = _handed_in(exercise, cell)
    if called is not None and not isinstance(called, ast.Name):
        raise Refused(f"check is given `{_short(called)}`; only a function that the cell itself defines is judged.")
    name = called.id if called else wanted
    tree, remarks = _find(name, wanted, parameters, cell)
    if tree is None:
        for text in reversed(others):
            tree = next((f for f in _functions(trees_of([text])) if f.name == name), None)
            if tree is not None:
                source, remarks = text, [f"the function {name} is in another cell."]
                break
        else:
            raise Missing(f"the cell defines no function of ({', '.join(parameters)}).")
    if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs:
        raise Refused(f"{tree.name} must take ({', '.join(parameters)}), with no * among its parameters.")
    given, own = trees_of(course), [*trees_of(others), cell]
    helpers = [f for f in _functions([*given, *own]) if f.name != tree.name]
    function, run = _function(exercise, tree, source, names_of([*given, *own]), helpers, simulated)
    shown = definitions(given)
    mine = [f for f in _functions(own) if f.name != tree.name and _dumped(f) not in shown]
    return Extracted(function, tree, run, _called(tree, mine), tuple(remarks))


_dumped = cache(ast.dump)


def definitions(cells: Sequence[ast.Module]) -> set[str]:
    """The functions that cells define, each as a text."""
    return set(map(_dumped, _functions(cells)))


def _called(tree: ast.FunctionDef, functions: Sequence[ast.FunctionDef]) -> tuple[ast.FunctionDef, ...]:
    """Return the functions that ``tree`` names, directly or through another of them."""
    by_name, found = {f.name: f for f in functions}, dict[str, ast.FunctionDef]()
    waiting = [tree]
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Name) and node.id in by_name and node.id not in found:
                found[node.id] = by_name[node.id]
                waiting.append(by_name[node.id])
    return tuple(found.values())


def trees_of(texts: Sequence[str]) -> list[ast.Module]:
    """The trees of cells; those that are no Python are left out."""
    trees = []
    for text in texts:
        with contextlib.suppress(SyntaxError):
            trees.append(parsed(text))
    return trees


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:59] + "…"


def _handed_in(exercise: str, cell: ast.Module) -> ast.expr | None:
    """Return the argument after the name in the cell's last ``check("name", …)``."""
    found = [call.args[1] for name, call in calls(cell) if name == exercise and len(call.args) > 1]
    return found[-1] if found else None


def _functions(cells: Sequence[ast.Module]) -> Iterator[ast.FunctionDef]:
    return (node for cell in cells for node in cell.body if isinstance(node, ast.FunctionDef))


def _find(
    name: str, wanted: str, parameters: Sequence[str], cell: ast.Module
) -> tuple[ast.FunctionDef | None, list[str]]:
    """The definition of the answer in the cell, and remarks. The last statement that binds the name counts; where there
    is none, the last function with as many parameters does."""
    bound = [statement for statement in cell.body if _binds(statement, name)]
    if bound and not isinstance(bound[-1], ast.FunctionDef):
        raise Refused(
            f"{name} is made in line {bound[-1].lineno} by `{_short(bound[-1])}`; only a function that the cell itself "
            "defines is judged."
        )
    fitting = [f for f in _functions([cell]) if len(f.args.args) == len(parameters)]
    found = [*fitting, *(f for f in bound if isinstance(f, ast.FunctionDef))][-1:]
    remarks = [f"the function is called {f.name} here, not {wanted}." for f in found if f.name != wanted]
    return (found[0] if found else None), remarks


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.FunctionDef):
        return statement.name == name
    nodes = list(ast.walk(statement))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return name in stored | {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}


def _function(
    exercise: str,
    tree: ast.FunctionDef,
    source: str,
    names: dict[str, Any],
    helpers: Sequence[ast.FunctionDef],
    simulated: bool,
) -> tuple[Any, Run]:
    """The function object, with those that it may call in its names; and how it is called."""
    if simulated:
        for number, helper in enumerate(helpers):
            if any("device=True" in ast.unparse(d) for d in helper.decorator_list):
                names[helper.name] = cuda.jit(device=True)(_compiled(helper, f"{exercise}, part {number}", "", names))
        function = _compiled(tree, exercise, source, names)
        return cuda.jit(function) if tree.decorator_list else function, bounded
    usable = {name: thing for name, thing in names.items() if name.startswith("__") or available(thing)}
    functions = (*_called(tree, helpers), tree)
    known = frozenset(name for name in usable if not name.startswith("__")) | {f.name for f in functions}
    bare = tuple(map(_bare, functions))
    for said in (said for each in bare for said in refusals(each, known)):
        raise Refused(said)
    used = {node.id for each in bare for node in ast.walk(each) if isinstance(node, ast.Name)}
    program = Program(bare, {name: thing for name, thing in usable.items() if name in used})
    return _compiled(tree, exercise, source, usable), program


def _bare(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The definition without what Python would execute to define it, in the same lines."""
    arguments = [ast.copy_location(ast.arg(a.arg), a) for a in (*tree.args.posonlyargs, *tree.args.args)]
    literal: list[ast.expr] = [d for d in tree.args.defaults if isinstance(d, ast.Constant)]
    parameters = ast.arguments([], arguments, None, [], [], None, literal)
    bare = ast.copy_location(ast.FunctionDef(tree.name, parameters, tree.body, [], None, None), tree)
    return ast.fix_missing_locations(bare)


def _compiled(tree: ast.FunctionDef, title: str, source: str, names: dict[str, Any]) -> FunctionType:
    """Define a function by its bare tree, and tell the simulator and the repairs this tree, and its lines to quote.

    What they read is the tree that was checked, never a text made from it: `ast.unparse` writes the text of an f-string
    so that it can become an expression.
    """
    bare = _bare(tree)
    literal = tuple(each.value for each in bare.args.defaults if isinstance(each, ast.Constant))
    function = names[tree.name] = defined(bare, f"<answer to {title}>", names, literal)
    text = ["\n"] * (bare.lineno - 1) + ast.unparse(bare).splitlines(True)  # by which the compiler knows the kernel
    linecache.cache[function.__code__.co_filename] = len(text), None, text, function.__code__.co_filename
    lines = tuple(enumerate(_LINES.split(source), 1))[tree.lineno - 1 : tree.end_lineno]
    parsed_as(function, bare, lines or written(bare))
    return function


def text_of(exercise: str, source: str, others: Sequence[str]) -> str | None:
    """Return the text that ``explain("name", …)`` is given in a cell; None where it is no text that can be read."""
    cell = parsed(source)
    names = names_of([*trees_of(others), cell])
    for name, call in calls(cell):
        given = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "answer")]
        with contextlib.suppress(Unknown):
            if name == exercise and given and isinstance(text := constant(given[0], names), str):
                return text
    return None
