"""The parts of an answer that are its author's own, and the same parts elsewhere: in the course, or by another student.

A text is the bag of its statements, in which names are numbers in the order of their first use: another name, another
order, another layout or a comment makes no difference.
"""

import ast
import builtins
import copy
import keyword
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ... import kernels
from ...exercises import LESSONS
from ...exercises.grading.hints import base_of
from ...machine.gpu.capstone import recorded_texts
from .cells import NOTEBOOKS, calls, lesson_cells, parsed

#: Two answers are alike if they share this part of what their authors wrote.
ALIKE = 0.9
#: Fewer statements or words than this are no evidence.
_EVIDENCE = 5

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_KEPT = {*keyword.kwlist, *vars(builtins), "cuda", "np", "math"}
#: A name, but not an attribute's or an argument's.
_NAME = re.compile(r"(?<![.\w])[^\W\d]\w*+(?!=)")


@cache
def statements(function: ast.FunctionDef, unread: bool = True) -> tuple[str, ...]:
    """Return its statements, each without names; a loop or a condition without what is inside.

    ``unread``: also those whose values nobody reads, as some beside the gaps of a lesson's text are.
    """
    found = list(_inside(function))
    return tuple(map(_without_names, found if unread else _read(found)))


def _inside(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in another one, or in a module, without those that do nothing: ``pass``, a text, a type alone."""
    for part in (part for name in _BLOCKS for part in getattr(node, name, ())):
        idle = isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        idle |= isinstance(part, ast.AnnAssign) and part.value is None
        if isinstance(part, ast.stmt) and not idle:
            yield part
        yield from _inside(part)


def _header(statement: ast.stmt) -> ast.stmt:
    """The statement without what is inside, and without the type of a variable."""
    if isinstance(statement, ast.AnnAssign) and statement.value:
        return ast.copy_location(ast.Assign([statement.target], statement.value), statement)
    header = copy.copy(statement)
    vars(header).update(dict.fromkeys(vars(header).keys() & {*_BLOCKS}, []))
    return header


def _without_names(statement: ast.stmt) -> str:
    numbers: dict[str, str] = {}

    def number(name: re.Match[str]) -> str:
        return name[0] if name[0] in _KEPT else numbers.setdefault(name[0], f"v{len(numbers)}")

    return _NAME.sub(number, ast.unparse(_header(statement)))


#: Calls that do nothing but return a value.
_PURE = re.compile(
    r"(math|np)\.\w+|cuda\.(grid|gridsize|(shared|local)\.array)|u?int\d*|float\d+|min|max|abs|len|range"
)


def _read(found: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements whose values reach a store into an argument, a call or a return, and what is around them.

    All assignments to one name do, or none.
    """
    own = {node: list(ast.walk(_header(node))) for node in found}
    heads = (head for head in map(_header, found) if isinstance(head, ast.Assign))
    made = (head for head in heads if _called(head.value).endswith(".array"))
    arrays = {base_of(target) for node in made for target in node.targets}
    kept, needed = set[ast.stmt](), set[str]()

    def lives(node: ast.stmt) -> bool:
        if any(isinstance(each, ast.Call) and not _PURE.fullmatch(_called(each)) for each in own[node]):
            return True
        if inside := {*_inside(node)}:
            return not kept.isdisjoint(inside)
        stored = [each for each in own[node] if isinstance(getattr(each, "ctx", None), ast.Store)]
        elsewhere = {base_of(each) for each in stored if isinstance(each, ast.Subscript | ast.Attribute)} - arrays
        assigns = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr)
        return bool(elsewhere) or not assigns or not needed.isdisjoint(map(base_of, stored))

    while more := [node for node in found if node not in kept and lives(node)]:
        kept.update(more)
        needed |= {each.id for node in more for each in own[node] if isinstance(each, ast.Name)}
    return [node for node in found if node in kept]


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


@cache
def written(given: ast.FunctionDef, *functions: ast.FunctionDef) -> tuple[str, ...]:
    """Return the statements of the functions that ``given``, the lesson's text, does not have."""
    own = Counter(s for function in functions for s in statements(function, unread=False))
    return tuple(sorted((own - Counter(statements(given))).elements()))


# ---- the course's own texts -----------------------------------------------------------------------------------


@cache
def course_texts() -> Sequence[tuple[str, ast.FunctionDef]]:
    """Return each kernel and each answer of the course's own, as ("the course's kernel tiled", its tree)."""
    texts: list[tuple[str, ast.Module]] = []
    for lesson in LESSONS:
        path = NOTEBOOKS / "solutions" / f"{lesson}.ipynb"
        for _, source in lesson_cells(lesson, path.parent) if path.exists() else ():
            answered = next((name for name, _ in calls(parsed(source))), f"lesson {lesson[:2]}")
            texts.append((f"solution of {answered}", parsed(source)))
    texts += [(f"recorded kernel {name}", ast.parse(text)) for name, text in recorded_texts().items()]
    paths = sorted(Path(kernels.__file__).parent.glob("*.py"))
    texts += [("kernel {}", ast.parse(path.read_text(encoding="utf-8"))) for path in paths]
    found: dict[tuple[str, ...], tuple[str, ast.FunctionDef]] = {}
    for where, tree in texts:
        found |= {statements(f): (f"the course's {where.format(f.name)}", f) for f in _answers(tree)}
    return tuple(found.values())


def _answers(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    answers = any(calls(tree))
    for node in _inside(tree):
        if isinstance(node, ast.FunctionDef) and (answers or "jit" in "".join(map(ast.unparse, node.decorator_list))):
            yield node


def nearest(given: ast.FunctionDef, *functions: ast.FunctionDef) -> tuple[str, float]:
    """Return the text of the course that an answer is most like, and the part that they share.

    The functions of the answer are compared one by one, since one of them may be the copy, and all as one.
    """
    own = [*map(Counter, {written(given, *functions), *(written(given, part) for part in functions)})]
    shares = ((where, shared(text, part)) for where, text in _beside(given) for part in own)
    return max(shares, key=lambda each: each[1])


@cache
def _beside(given: ast.FunctionDef) -> Sequence[tuple[str, Counter[str]]]:
    """What each text of the course says beside the lesson's own."""
    return [(where, Counter(written(given, tree))) for where, tree in course_texts()]


# ---- answers that are alike -----------------------------------------------------------------------------------


def shared(one: Counter[str], other: Counter[str]) -> float:
    """Return the part that two texts have in common of what both say; 0 where one of them says too little."""
    total = one.total(), other.total()
    return 2 * (one & other).total() / sum(total) if min(total) >= _EVIDENCE else 0.0


class Group(NamedTuple):
    """Authors who wrote nearly the same, and the least part that two neighbours in the group share; with ``course``,
    nearly the same as this text of the course."""

    authors: tuple[str, ...]
    share: float
    course: str = ""


def alike(units: Mapping[str, Sequence[str]]) -> list[Group]:
    """Return the groups of authors who wrote nearly the same statements, or words; the most alike first."""
    said = {author: Counter(text) for author, text in units.items()}
    found = [Group((author,), 1.0) for author in units]
    for one, other in combinations(units, 2):
        if (both := shared(said[one], said[other])) >= ALIKE:
            joined = [group for group in found if {one, other} & {*group.authors}]
            authors = tuple(sorted({author for group in joined for author in group.authors}))
            found = [group for group in found if group not in joined]
            found.append(Group(authors, min(both, *(group.share for group in joined))))
    return sorted((group for group in found if len(group.authors) > 1), key=lambda group: (-group.share, group))


def like_course(course: Mapping[str, tuple[str, float]]) -> list[Group]:
    """Return, for each text of the course, those who wrote nearly the same.

    ``course`` is the text that each author's answer is most like, and the part that they share.
    """
    found: dict[str, dict[str, float]] = {}
    for author, (where, share) in course.items():
        if share >= ALIKE:
            found.setdefault(where, {})[author] = share
    return [Group(tuple(who), min(who.values()), where) for where, who in found.items()]
