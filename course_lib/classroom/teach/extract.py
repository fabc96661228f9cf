"""Extraction of the function that is judged from the text of an exercise's cell, without executing the cell.

The definition of one function is taken, and given the names of `names.py`: a kernel is compiled for the simulator,
without decorators, annotations and default values, and never called; another function is interpreted. What calls,
assigns or draws beside it is passed over.
"""

import ast
import contextlib
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

from numba import cuda

from ...exercises.grading.explain import Explanation
from ...exercises.grading.routines import CallRunner, Routine
from ...exercises.grading.source import statement_lines
from ...simulator.language.source.reading import defined
from ...simulator.language.source.reading import parsed as parsed_as
from ...simulator.line_limit import bounded
from .cells import GRADED, ExerciseCell, calls, lesson_cells, parsed
from .interpreter import Program, Unlisted, assigned_in, known, names_used, sentence, unlisted
from .interpreter.functions import BUILTINS
from .names import Unknown, constant, names_of, public
from .submission import Answer

_OWN = "only a function that the cell itself defines is judged."
#: What ends a line for Python's parser, which numbers them.
_LINES = re.compile(r"\r\n?|\n")
#: Decorators of numba and functools after which a function returns what it did.
_SAME_RESULTS = ("jit", "njit", "cache", "lru_cache")


class Refused(Exception):
    """What is checked is no function of the student's own; the message is a sentence."""


@dataclass(frozen=True)
class Extracted:
    """The function to be judged, how it is called if it is no kernel, its tree with those of the student's functions
    that it calls, and remarks."""

    function: Any
    run: CallRunner
    trees: tuple[ast.FunctionDef, ...]
    remarks: tuple[str, ...]


def extract(lesson: str, place: ExerciseCell, answer: Answer) -> Extracted | None:
    """Return the function that answers an exercise of a lesson; None if no cell defines one.

    It may use imports, constants and functions of the student's other cells and of the lesson's: a later one replaces
    an earlier one, the student's the lesson's, and those of the answer's cell all others. A kernel is simulated.
    Another function is interpreted. Raises SyntaxError for a cell that is no Python, Refused, and Unlisted for a
    function that the interpreter does not know all of.
    """
    exercise, cell = GRADED[place.exercise], parsed(str(answer.source))
    assert not isinstance(exercise, Explanation)
    definition = _definition(cell, place, answer, len(exercise.parameters))
    if definition is None:
        return None
    tree, source, remark = definition
    if tree.args.vararg or tree.args.kwarg or None in tree.args.kw_defaults:
        takes = ", ".join(exercise.parameters)
        raise Refused(f"{tree.name} must take ({takes}), with no * among its parameters.")
    given = trees_of([text for _, text in lesson_cells(lesson)])
    cells = [*given, *trees_of(answer.others), cell]
    names, last = names_of(cells), _last_bound(cells)
    helpers = [f for f in _functions(cells) if f.name != tree.name and last[f.name] is f]
    if "*" in last:
        used = set().union(*map(names_used, (tree, *helpers)))
        last |= dict.fromkeys(used - last.keys() - BUILTINS.keys(), last["*"])
    if isinstance(exercise, Routine):
        run: CallRunner = _interpreted(tree, names, helpers, set(last))
        function = _compiled(tree, place.exercise, source, {"__builtins__": {}})
    else:
        _refuse_unread(tree, names.keys(), last, _last_bound(given).keys() - names_of(given).keys())
        function, run = _simulated(place.exercise, tree, source, names, helpers), bounded
    shown = definitions(given)
    mine = [f for f in helpers if _dumped(f) not in shown]
    return Extracted(function, run, (tree, *_called(tree, mine)), (remark,) if remark else ())


def _definition(
    cell: ast.Module, place: ExerciseCell, answer: Answer, parameters: int
) -> tuple[ast.FunctionDef, str, str] | None:
    """Return the function that answers an exercise, the text of its cell, and a remark; None where there is none."""
    name = _checked_name(cell, place)
    tree = _defined_in(cell, name, parameters)
    if tree is not None:
        remark = (
            "" if tree.name == place.function else f"the function is called {tree.name} here, not {place.function}."
        )
        return tree, str(answer.source), remark
    for text in reversed(answer.others):
        for function in _functions(trees_of([text])):
            if function.name == name:
                return function, text, f"the function {name} is in another cell."
    return None


def _last_bound(cells: Sequence[ast.Module]) -> dict[str, ast.stmt]:
    """Return the last statement that binds each name at the top level; "*" is any name of a module that is not read."""
    found = dict[str, ast.stmt]()
    for statement in (statement for cell in cells for statement in cell.body):
        is_read = isinstance(statement, ast.ImportFrom) and public(str(statement.module))
        found |= dict.fromkeys(assigned_in([statement]) - ({"*"} if is_read else set()), statement)
    return found


def _refuse_unread(tree: ast.FunctionDef, names: Set[str], bound: Mapping[str, ast.stmt], of_lesson: Set[str]) -> None:
    """Raise Unlisted if a kernel uses a name to which the student gives a value that is not read.

    ``bound`` has the last statement that binds each name. A value ``of_lesson``, such as a matrix, is not for kernels.
    """
    for name in sorted(set(names_used(tree)) & bound.keys() - names - of_lesson):
        if not isinstance(bound[name], ast.FunctionDef):
            line = next(node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
            raise Unlisted(sentence(line, f"the name {name}"))


_dumped = cache(ast.dump)


def definitions(cells: Sequence[ast.Module]) -> set[str]:
    """The functions that cells define, each as a text."""
    return set(map(_dumped, _functions(cells)))


def _called(tree: ast.FunctionDef, functions: Sequence[ast.FunctionDef]) -> tuple[ast.FunctionDef, ...]:
    """Return the functions that ``tree`` names, directly or through another of them."""
    by_name, found = {f.name: f for f in functions}, dict[str, ast.FunctionDef]()
    waiting = [tree]
    while waiting:
        for name in names_used(waiting.pop()):
            if name in by_name and name not in found:
                found[name] = by_name[name]
                waiting.append(by_name[name])
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


def _checked_name(cell: ast.Module, place: ExerciseCell) -> str:
    """Return the name that the cell's last ``check("name", …)`` is given, or that of the function in the lesson."""
    found = [call.args[1] for name, call in calls(cell) if name == place.exercise and len(call.args) > 1]
    match found[-1:]:
        case [ast.Name(name)]:
            return name
        case [other]:
            raise Refused(f"check is given `{_short(other)}`; {_OWN}")
    return place.function


def _functions(cells: Sequence[ast.Module]) -> Iterator[ast.FunctionDef]:
    return (node for cell in cells for node in cell.body if isinstance(node, ast.FunctionDef))


def _defined_in(cell: ast.Module, name: str, parameters: int) -> ast.FunctionDef | None:
    """The last statement of the cell that binds the name; where none does, the last function of so many parameters."""
    bound = [statement for statement in cell.body if name in assigned_in([statement])]
    if bound and not isinstance(bound[-1], ast.FunctionDef):
        raise Refused(f"{name} is made in line {bound[-1].lineno} by `{_short(bound[-1])}`; {_OWN}")
    fitting = (f for f in cell.body if isinstance(f, ast.FunctionDef) and len(f.args.args) == parameters)
    found = [*fitting, *(f for f in bound if isinstance(f, ast.FunctionDef))]
    return found[-1] if found else None


def _simulated(
    exercise: str, tree: ast.FunctionDef, source: str, names: dict[str, Any], helpers: Sequence[ast.FunctionDef]
) -> Any:
    """The kernel, with the device functions that it may call among its names."""
    for number, helper in enumerate(helpers):
        if any("device=True" in ast.unparse(d) for d in helper.decorator_list):
            names[helper.name] = cuda.jit(device=True)(_compiled(helper, f"{exercise}, part {number}", "", names))
    function = _compiled(tree, exercise, source, names)
    return cuda.jit(function) if tree.decorator_list else function


def _interpreted(
    tree: ast.FunctionDef, names: dict[str, Any], helpers: Sequence[ast.FunctionDef], bound: Set[str]
) -> Program:
    """The function and those that it calls, to be interpreted; ``bound`` are all names that the cells define."""
    functions = tuple(_undecorated(each, names) for each in (*_called(tree, helpers), tree))
    readable = {}
    for name, thing in names.items():
        with contextlib.suppress(KeyError):
            readable[name] = known(thing)
    # Not to be executed: it raises SyntaxError for a tree that Python does not take, as for a lone `break`.
    compile(ast.Module([*functions], []), "<answer>", "exec", dont_inherit=True)
    for said in unlisted(functions, bound - readable.keys()):
        raise Unlisted(said)
    return Program(tree.name, functions, readable)


def _undecorated(tree: ast.FunctionDef, names: Mapping[str, Any]) -> ast.FunctionDef:
    """The definition without decorators; raise Unlisted for one that may change what the function returns."""
    for decorator in tree.decorator_list:
        name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator).split(".")
        if name[0] not in names or name[-1] not in _SAME_RESULTS:
            raise Unlisted(sentence(decorator.lineno, f"the decorator `{_short(decorator)}`"))
    fields = dict(ast.iter_fields(tree)) | {"decorator_list": []}
    return ast.copy_location(ast.FunctionDef(**fields), tree)


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
    parsed_as(function, bare, lines or statement_lines(bare))
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
