"""The parts of an answer that are its author's own, and the same parts elsewhere: in the course, or by another student.

Texts are compared as trees, in which names are numbers in the order of their first use: another name, another layout or
a comment makes no difference.
"""

import ast
import builtins
import contextlib
import copy
import io
import pickle
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ... import kernels
from ...exercises import LESSONS
from ...exercises.grading.repairs import base_of
from .cells import NOTEBOOKS, calls, lesson_cells, parsed

#: Two answers are alike if they share this part of what their authors wrote.
ALIKE = 0.9
#: Less than this many statements and comments are no evidence.
_EVIDENCE = 5

_KEPT = {*vars(builtins), "cuda", "np", "math"}


@cache
def statements(function: ast.FunctionDef, unread: bool = True) -> tuple[str, ...]:
    """Return its statements, each without names; a loop or a condition without what is inside.

    ``unread``: also those whose values nobody reads, as some beside the gaps of a lesson's text are.
    """
    plain = _plain(function) if unread else _Read(_plain(function)).kept
    inside = [node for part in plain.body for node in ast.walk(part)]
    return tuple(_dumped([_header(node)]) for node in inside if isinstance(node, ast.stmt))


def _plain(function: ast.FunctionDef) -> ast.FunctionDef:
    """A copy of the function without what does nothing; pickle takes a third of the time of copy.deepcopy."""
    plain: ast.FunctionDef = _Plain().visit(pickle.loads(pickle.dumps(function)))
    return plain


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


class _Read(ast.NodeTransformer):
    """Leaves out statements whose values reach no store into an argument, no call and no return; ``kept`` is the rest.

    All assignments to one name stay, or none. Loops and conditions go with the last statement inside.
    """

    def __init__(self, plain: ast.FunctionDef) -> None:
        made = [node for node in ast.walk(plain) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
        self.arrays = {name for m in made if _called(m.value).endswith(".array") for name in map(base_of, m.targets)}
        self.needed, before = set[str](), -1
        while len(self.needed) > before:
            before = len(self.needed)
            for node in plain.body:
                self._lives(node)
        self.kept: ast.FunctionDef = plain
        self.generic_visit(plain)

    def visit(self, node: ast.AST) -> ast.AST | None:
        return None if isinstance(node, ast.stmt) and not self._lives(node) else self.generic_visit(node)

    def _lives(self, node: ast.stmt) -> bool:
        """Whether a statement serves what is needed; then what it reads is needed as well."""
        parts = list(ast.iter_child_nodes(node))
        inside = [part for part in parts if isinstance(part, ast.stmt)]
        own = [each for part in parts if not isinstance(part, ast.stmt) for each in ast.walk(part)]
        named = {each.id for each in own if isinstance(each, ast.Name)}
        stored = [each for each in own if isinstance(getattr(each, "ctx", None), ast.Store)]
        lives = any([self._lives(part) for part in inside])
        lives |= not inside and not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr)
        lives |= any(not _PURE.fullmatch(_called(each)) for each in own if isinstance(each, ast.Call))
        if not inside:
            elsewhere = (each for each in stored if isinstance(each, ast.Subscript | ast.Attribute))
            lives |= any(base_of(each) in self.needed for each in stored)
            lives |= any(base_of(each) not in self.arrays for each in elsewhere)
        self.needed |= named if lives else set()
        return lives


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _header(statement: ast.stmt) -> ast.stmt:
    bare = copy.copy(statement)
    for part in ("body", "orelse", "finalbody", "handlers"):
        if hasattr(bare, part):
            setattr(bare, part, [])
    return bare


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


@cache
def comments(text: str) -> list[str]:
    """Return the comments of a text, each as "# " and its words."""
    found: list[str] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found += [f"# {each.string.strip('# ')}" for each in tokens if each.type == tokenize.COMMENT]
    return found


# ---- the course's own texts -----------------------------------------------------------------------------------


@cache
def course_texts() -> Sequence[tuple[str, ast.FunctionDef]]:
    """Return each kernel and each answer of the course's own, as ("the kernel tiled", its tree)."""
    found: dict[tuple[str, ...], tuple[str, ast.FunctionDef]] = {}
    for lesson in LESSONS:
        path = NOTEBOOKS / "solutions" / f"{lesson}.ipynb"
        for _, source in lesson_cells(lesson, path.parent) if path.exists() else ():
            found |= {statements(f): (f"the solution of {f.name}", f) for f in _functions(parsed(source))}
    for path in sorted(Path(kernels.__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {statements(f): (f"the kernel {f.name}", f) for f in _functions(tree)}
    return tuple(found.values())


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    answers = any(calls(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (answers or "jit" in "".join(map(ast.unparse, node.decorator_list))):
            yield node


def nearest(given: ast.FunctionDef, *functions: ast.FunctionDef) -> tuple[str, float]:
    """Return the kernel of the course that an answer is most like, and the part that they share.

    The functions of the answer are compared one by one, since one of them may be the copy, and all as one.
    """
    own = {written(given, *functions), *(written(given, part) for part in functions)}
    return max(
        ((where, shared(text, part)) for where, text in _beside(given) for part in own), key=lambda each: each[1]
    )


@cache
def _beside(given: ast.FunctionDef) -> Sequence[tuple[str, tuple[str, ...]]]:
    """What each text of the course says beside the lesson's own."""
    return [(where, written(given, tree)) for where, tree in course_texts()]


# ---- answers that are alike -----------------------------------------------------------------------------------


@cache
def _views(parts: tuple[str, ...]) -> tuple[Counter[str], Counter[str]]:
    """All parts of a text, and those that are no comments."""
    return Counter(parts), Counter(part for part in parts if not part.startswith("#"))


def shared(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return the part that two texts have in common of what both say; 0 where one of them says too little.

    Other comments do not make a copy an own answer: they count only where they make the part larger.
    """
    found = 0.0
    for its, others in zip(_views(one), _views(other), strict=True):
        if min(its.total(), others.total()) >= _EVIDENCE:
            found = max(found, 2 * (its & others).total() / (its.total() + others.total()))
    return found


def alike(units: Mapping[str, Sequence[str]]) -> list[tuple[tuple[str, ...], float]]:
    """Return the groups of authors who wrote nearly the same, and the least part that two neighbours in one share.

    ``units`` are the statements and comments, or the words, that each wrote.
    """
    same: dict[tuple[str, ...], list[str]] = {}
    for author, parts in sorted(units.items()):
        if len(parts) >= _EVIDENCE:
            same.setdefault(tuple(sorted(parts)), []).append(author)
    found = [({text}, 1.0) for text in same]
    for one, other in combinations(same, 2):
        if (both := shared(one, other)) >= ALIKE:
            joined = [group for group in found if group[0] & {one, other}]
            least = min(both, *(share for _, share in joined))
            found = [group for group in found if group not in joined]
            found.append((set().union(*(texts for texts, _ in joined)), least))
    by_author = [(tuple(sorted(a for text in texts for a in same[text])), least) for texts, least in found]
    return sorted((each for each in by_author if len(each[0]) > 1), key=lambda each: (-each[1], each))


class Group(NamedTuple):
    """Students who wrote nearly the same; with ``course``, nearly the same as this text of the course."""

    students: tuple[str, ...]
    share: float
    course: str = ""

    @property
    def authors(self) -> str:
        return ", ".join((self.course, *self.students) if self.course else self.students)


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
