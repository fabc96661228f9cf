"""The parts of an answer that are its author's own, and the same parts elsewhere: in the course, or by another student.

Texts are compared as trees, in which names are numbers in the order of their first use: another name, another layout or
a comment makes no difference.
"""

import ast
import builtins
import pickle
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ... import kernels
from ...exercises import LESSONS
from ...exercises.grading.repairs import base_of
from ...machine.gpu.capstone import recorded_texts
from .cells import NOTEBOOKS, calls, lesson_cells, parsed

#: Two answers are alike if they share this part of what their authors wrote.
ALIKE = 0.9
#: Fewer statements or words than this are no evidence.
_EVIDENCE = 5

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_KEPT = {*vars(builtins), "cuda", "np", "math"}


@cache
def statements(function: ast.FunctionDef, unread: bool = True) -> tuple[str, ...]:
    """Return its statements, each without names; a loop or a condition without what is inside.

    ``unread``: also those whose values nobody reads, as some beside the gaps of a lesson's text are.
    """
    plain: ast.FunctionDef = _Plain().visit(pickle.loads(pickle.dumps(function)))  # in a third of deepcopy's time
    return tuple(_dumped([_header(node)]) for node in (_inside(plain) if unread else _read(plain)))


class _Plain(ast.NodeTransformer):
    """Leaves out what does nothing: a docstring, the dots of a gap, ``pass``, the type of a variable."""

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign | None:
        return ast.Assign([node.target], node.value) if node.value else None


#: Calls that do nothing but return a value.
_PURE = re.compile(
    r"(math|np)\.\w+|cuda\.(grid|gridsize|(shared|local)\.array)|u?int\d*|float\d+|min|max|abs|len|range"
)


def _read(plain: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements whose values reach a store into an argument, a call or a return, and what is around them.

    All assignments to one name do, or none.
    """
    made = [node for node in ast.walk(plain) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    arrays = {name for m in made if _called(m.value).endswith(".array") for name in map(base_of, m.targets)}
    parts = [(node, list(ast.walk(_header(node))), set(_inside(node))) for node in _inside(plain)]
    kept, needed, growing = set[ast.stmt](), set[str](), True

    def lives(node: ast.stmt, own: Sequence[ast.AST], inside: set[ast.stmt]) -> bool:
        if inside:
            found = not kept.isdisjoint(inside)
        else:
            stored = [each for each in own if isinstance(getattr(each, "ctx", None), ast.Store)]
            elsewhere = {base_of(each) for each in stored if isinstance(each, ast.Subscript | ast.Attribute)} - arrays
            found = bool(elsewhere) or not needed.isdisjoint(map(base_of, stored))
            found |= not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr)
        return found or any(isinstance(each, ast.Call) and not _PURE.fullmatch(_called(each)) for each in own)

    while growing:
        growing = False
        for node, own, inside in parts:
            if node not in kept and lives(node, own, inside):
                kept.add(node)
                needed |= {each.id for each in own if isinstance(each, ast.Name)}
                growing = True
    return [node for node, *_ in parts if node in kept]


def _inside(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in another one, or in a module."""
    for name in _BLOCKS:
        for part in getattr(node, name, ()):
            if isinstance(part, ast.stmt):
                yield part
            yield from _inside(part)


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _header(statement: ast.stmt) -> ast.stmt:
    inside = dict.fromkeys(_BLOCKS, list[ast.AST]())
    return type(statement)(**{name: inside.get(name, part) for name, part in ast.iter_fields(statement)})


def _dumped(nodes: Sequence[ast.AST]) -> str:
    """The text of the trees, after each name but the built-in ones is replaced in them by a number, in the order of
    their first use."""
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return name if name in _KEPT else numbers.setdefault(name, f"v{len(numbers)}")

    for node in (part for one in nodes for part in ast.walk(one)):
        if isinstance(node, ast.Name):
            node.id = number(node.id)
        elif isinstance(node, ast.arg):
            node.arg, node.annotation = number(node.arg), None
    return " ".join(ast.dump(node) for node in nodes)


@cache
def written(given: ast.FunctionDef, *functions: ast.FunctionDef) -> tuple[str, ...]:
    """Return the statements of the functions that ``given``, the lesson's text, does not have."""
    own = Counter(s for function in functions for s in statements(function, unread=False))
    return tuple(sorted((own - _known(given)).elements()))


@cache
def _known(given: ast.FunctionDef) -> Counter[str]:
    return Counter(statements(given))


# ---- the course's own texts -----------------------------------------------------------------------------------


@cache
def course_texts() -> Sequence[tuple[str, ast.FunctionDef]]:
    """Return each kernel and each answer of the course's own, as ("the kernel tiled", its tree)."""
    found: dict[tuple[str, ...], tuple[str, ast.FunctionDef]] = {}
    for lesson in LESSONS:
        path = NOTEBOOKS / "solutions" / f"{lesson}.ipynb"
        for _, source in lesson_cells(lesson, path.parent) if path.exists() else ():
            found |= {statements(f): (f"the solution of {f.name}", f) for f in _functions(parsed(source))}
    for name, text in recorded_texts().items():
        found |= {statements(f): (f"the recorded kernel {name}", f) for f in _functions(ast.parse(text))}
    for path in sorted(Path(kernels.__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {statements(f): (f"the kernel {f.name}", f) for f in _functions(tree)}
    return tuple(found.values())


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    answers = any(calls(tree))
    for node in _inside(tree):
        if isinstance(node, ast.FunctionDef) and (answers or "jit" in "".join(map(ast.unparse, node.decorator_list))):
            yield node


def nearest(given: ast.FunctionDef, *functions: ast.FunctionDef) -> tuple[str, float]:
    """Return the kernel of the course that an answer is most like, and the part that they share.

    The functions of the answer are compared one by one, since one of them may be the copy, and all as one.
    """
    own = [*map(Counter, {written(given, *functions), *(written(given, part) for part in functions)})]
    return max(
        ((where, shared(text, part)) for where, text in _beside(given) for part in own), key=lambda each: each[1]
    )


@cache
def _beside(given: ast.FunctionDef) -> Sequence[tuple[str, Counter[str]]]:
    """What each text of the course says beside the lesson's own."""
    return [(where, Counter(written(given, tree))) for where, tree in course_texts()]


# ---- answers that are alike -----------------------------------------------------------------------------------


def shared(one: Counter[str], other: Counter[str]) -> float:
    """Return the part that two texts have in common of what both say; 0 where one of them says too little."""
    total = one.total(), other.total()
    return 2 * (one & other).total() / sum(total) if min(total) >= _EVIDENCE else 0.0


def alike(units: Mapping[str, Sequence[str]]) -> list[tuple[tuple[str, ...], float]]:
    """Return the groups of authors who wrote nearly the same, and the least part that two neighbours in one share.

    ``units`` are the statements, or the words, that each wrote.
    """
    found, said = [({author}, 1.0) for author in units], {author: Counter(text) for author, text in units.items()}
    for one, other in combinations(units, 2):
        if (both := shared(said[one], said[other])) >= ALIKE:
            joined = [group for group in found if group[0] & {one, other}]
            least = min(both, *(share for _, share in joined))
            found = [group for group in found if group not in joined]
            found.append((set().union(*(authors for authors, _ in joined)), least))
    several = [(tuple(sorted(authors)), least) for authors, least in found if len(authors) > 1]
    return sorted(several, key=lambda each: (-each[1], each))


class Group(NamedTuple):
    """Students who wrote nearly the same; with ``course``, nearly the same as this text of the course."""

    students: tuple[str, ...]
    share: float
    course: str = ""


def groups(units: Mapping[str, Sequence[str]], course: Mapping[str, tuple[str, float]]) -> list[Group]:
    """Return the groups of `alike`, and then, for each text of the course, those who wrote nearly the same as it.

    ``course`` is the text that each answer is most like, and the part that they share.
    """
    found: dict[str, dict[str, float]] = {}
    for author, (where, share) in course.items():
        if share >= ALIKE:
            found.setdefault(where, {})[author] = share
    beside = (Group(tuple(who), min(who.values()), f"{where} of the course") for where, who in found.items())
    return [*(Group(*each) for each in alike(units)), *beside]
