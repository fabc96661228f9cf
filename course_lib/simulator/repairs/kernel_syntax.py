"""The text of a kernel, as rules of repairs ask for it."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

from ..edits import Change, edited, expression
from .uniform_control_flow import Body, has_one_value, uniform_bodies, varying_names

_CAST = re.compile(r"(\w+\.)*(u?int|float)\d*")
Node = TypeVar("Node", bound=ast.AST)


class Fill(NamedTuple):
    """A statement that stores elements of one array into another one, which is in shared memory."""

    statement: ast.stmt
    target: ast.Subscript
    source: ast.Subscript


class Kernel:
    """A kernel's tree, the values of its free names, and what the rules need of both.

    ``arrays`` are the parameters that are arrays, ``grid`` and ``block`` the shape of a launch, where one is known;
    ``cuda`` and ``float32`` say how the kernel writes these, and ``imported`` what float32 needs.
    """

    def __init__(
        self,
        function: FunctionType,
        tree: ast.FunctionDef,
        lines: Iterable[tuple[int, str]],
        names: Mapping[str, Any],
        *,
        arrays: Iterable[str] | None = None,
        grid: Any = None,
        block: Any = None,
        cuda: str = "cuda",
        float32: str = "float32",
        imported: str = "",
        wide: frozenset[int] = frozenset(),
    ) -> None:
        self.function, self.tree, self.lines, self.names = function, tree, tuple(lines), names
        self.grid, self.block, self.cuda, self.float32, self.imported = grid, block, cuda, float32, imported
        self.wide = wide
        self.nodes = list(ast.walk(tree))
        self.arguments = [argument.arg for argument in tree.args.args]
        self.arrays = set(self.arguments if arrays is None else arrays)

    def changed(self, changes: Iterable[Change], names: Mapping[str, Any] | None = None) -> FunctionType:
        """Return the kernel's function with changes."""
        return edited(self.function, self.tree, changes, self.lines, names or self.names)

    def constant(self, name: str) -> Any:
        """The value of a name outside the kernel; None if there is none, or if a variable of the kernel hides it."""
        return None if name in self.locals else self.names.get(name)

    @cached_property
    def locals(self) -> set[str]:
        """The names that the kernel binds: parameters and variables."""
        return {*self.arguments, *(node.id for node in bound_names(self.tree))}

    def nodes_of(self, *kinds: type[Node]) -> list[Node]:
        """The nodes of these kinds, outer ones first."""
        return [node for node in self.nodes if isinstance(node, kinds)]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def bodies(self) -> set[int]:
        """The bodies in which there may be a barrier."""
        return {id(body) for body in uniform_bodies(self.tree)}

    def is_uniform(self, value: ast.AST) -> bool:
        """Whether an expression has one value in all threads of a block."""
        return has_one_value(value, varying_names(self.tree))

    @cached_property
    def all_bodies(self) -> list[Body]:
        """The kernel's body, and those of its loops and ifs."""
        return [self.tree.body, *(node.body for node in self.nodes if isinstance(node, ast.For | ast.While | ast.If))]

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """All statements in the order of the source, outer ones first."""
        found = [each for each in self.nodes if isinstance(each, ast.stmt) and each is not self.tree]
        return sorted(found, key=lambda n: (n.lineno, -(n.end_lineno or n.lineno)))

    def statement(self, line: int | None) -> ast.stmt | None:
        """The innermost statement of the kernel on a line."""
        inside = [
            each
            for each in self.statements
            if line is not None and each.lineno <= line <= (each.end_lineno or each.lineno)
        ]
        return inside[-1] if inside else None

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def enclosing_bodies(self, node: ast.stmt) -> list[tuple[Body, int, ast.AST]]:
        """The bodies around a statement, innermost first, each with the place in it, and what it belongs to."""
        found = []
        at: Any = node
        while at is not self.tree:
            above = self.parents[at]
            bodies = (getattr(above, part, None) for part in ("body", "orelse"))
            found += [(body, body.index(at), above) for body in bodies if isinstance(body, list) and at in body]
            at = above
        return found

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        while node is not self.tree:
            node = self.parents[node]
            yield node

    def loops_around(self, node: ast.AST) -> list[ast.For | ast.While]:
        """The loops around a node, innermost first."""
        return [each for each in self.ancestors(node) if isinstance(each, ast.For | ast.While)]

    def counters(self, node: ast.AST) -> set[str]:
        """The variables that the for loops around a node count."""
        return {
            name.id
            for loop in self.loops_around(node)
            if isinstance(loop, ast.For)
            for name in bound_names(loop.target)
        }

    @cached_property
    def loops(self) -> list[ast.For | ast.While]:
        return [node for node in self.nodes if isinstance(node, ast.For | ast.While)]

    @cached_property
    def thread_numbers(self) -> set[str]:
        """The variables that number a thread in the whole grid."""
        counts = Counter(name.id for name in bound_names(self.tree))
        found = set()
        for node in self.tree.body:
            text = ast.unparse(node.value) if isinstance(node, ast.Assign) else ""
            if "grid(" in text or "blockIdx" in text and "threadIdx" in text:
                found |= {name.id for name in bound_names(node) if counts[name.id] == 1}
        return found

    @cached_property
    def stored(self) -> tuple[str, ...]:
        """The arrays among the arguments into which the kernel's text stores elements."""
        places = (each for each in self.nodes_of(ast.Subscript) if isinstance(each.ctx, ast.Store))
        names = {each.value.id for each in places if isinstance(each.value, ast.Name)}
        return tuple(name for name in self.arguments if name in names)

    # --- arrays in shared memory ----------------------------------------------------------------------------------

    @cached_property
    def width(self) -> str | None:
        """The name that is the size of the kernel's shared arrays."""
        for call in self._allocations.values():
            if call.args and (found := names_in(call.args[0])):
                return found[0].id
        return None

    @cached_property
    def _allocations(self) -> dict[str, ast.Call]:
        """The calls that make arrays in shared memory, by the arrays' names."""
        return {
            node.targets[0].id: node.value
            for node in self.nodes_of(ast.Assign)
            if isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func).endswith("shared.array")
        }

    @cached_property
    def shapes(self) -> dict[str, list[ast.expr]]:
        """The shapes of the arrays in shared memory, as they are written."""
        return {
            name: call.args[0].elts if isinstance(call.args[0], ast.Tuple) else [call.args[0]]
            for name, call in self._allocations.items()
            if call.args
        }

    @cached_property
    def shared(self) -> set[str]:
        """The names of the kernel's arrays in shared memory, also those that are given to one later."""
        found = set(self._allocations)
        for node in self.nodes_of(ast.Assign):
            if isinstance(node.targets[0], ast.Name) and ast.unparse(node.value) in found:
                found.add(node.targets[0].id)
        return found

    @cached_property
    def fills(self) -> list[Fill]:
        """The statements that fill arrays in shared memory, directly or by a variable, in their order."""
        pairs = [pair for node in self.statements if isinstance(node, ast.Assign) for pair in _assigned(node)]
        copied: dict[str, list[ast.Subscript]] = {}
        for _, target, value in pairs:
            if isinstance(target, ast.Name):
                copied.setdefault(target.id, []).extend(self._loads(value))
        found = []
        for node, target, value in pairs:
            if isinstance(target, ast.Subscript) and array_of(target) in self.shared:
                held = copied.get(value.id, []) if isinstance(value, ast.Name) else []
                found += [Fill(node, target, source) for source in (*self._loads(value), *held)]
        return found

    def _loads(self, part: ast.AST) -> list[ast.Subscript]:
        """The elements of the kernel's arguments in a part of a tree."""
        return [place for place in subscripts(part) if array_of(place) in self.arrays]

    @cached_property
    def sizes(self) -> list[str]:
        """The variables that hold sizes of the matrices, and the shapes of the arguments, as expressions."""
        shaped = [node for node in self.nodes_of(ast.Assign) if ".shape" in ast.unparse(node.value)]
        named = {name.id for node in shaped for target in node.targets for name in names_in(target)}
        return [*sorted(named), *(f"{array}.shape[{i}]" for array in self.arguments for i in (0, 1))]

    @cached_property
    def undefined(self) -> list[ast.Name]:
        """The names that nothing defines, in the order of the text."""
        found = [node for node in self.nodes_of(ast.Name) if node.id not in {*self.locals, *self.names}]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    @property
    def barrier(self) -> str:
        """The call of a barrier, as this kernel writes it."""
        return f"{self.cuda}.syncthreads()"

    def barriers(self) -> list[ast.Expr]:
        """The statements that are a barrier."""
        return [each for each in self.nodes_of(ast.Expr) if ast.unparse(each.value).endswith("syncthreads()")]

    def new_barrier(self) -> ast.stmt:
        return ast.Expr(expression(self.barrier))


def in_lines(lines: Iterable[int]) -> str:
    """Return lines in words: line 3; lines 3 and 5; lines 3, 5 and 7."""
    *before, last = map(str, sorted(set(lines)))
    return f"lines {', '.join(before)} and {last}" if before else f"line {last}"


def first_line(node: ast.AST) -> str:
    """The first line of a part of a kernel; the tuples of an assignment have no parentheses."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
        sides = (part.elts if isinstance(part, ast.Tuple) else [part] for part in (*node.targets, node.value))
        return " = ".join(", ".join(map(ast.unparse, side)) for side in sides)
    return ast.unparse(node).splitlines()[0].rstrip(":")


def if_or_loop(node: ast.AST) -> str:
    """What a statement that holds others is, in words."""
    return "if" if isinstance(node, ast.If) else "loop"


def bound_names(part: ast.AST) -> Iterator[ast.Name]:
    """The names that a part of a tree binds."""
    yield from (each for each in ast.walk(part) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))


def names_in(part: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(part) if isinstance(node, ast.Name)]


def load_name(id: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(id, ast.Load())


def is_number(value: ast.expr) -> bool:
    """Whether this is a number such as 0, 0.0 or float32(0)."""
    if isinstance(value, ast.Call) and _CAST.fullmatch(ast.unparse(value.func)) and value.args:
        value = value.args[0]
    return isinstance(value, ast.Constant)


def is_shape(node: ast.AST) -> bool:
    """Whether this is a size: ``A.shape[0]``."""
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def subscripts(part: ast.AST) -> list[ast.Subscript]:
    """The elements of arrays in a part of a tree."""
    return [node for node in ast.walk(part) if isinstance(node, ast.Subscript) and not is_shape(node)]


def array_of(place: ast.AST) -> str:
    """The name of the variable or of the array that a place belongs to."""
    while isinstance(place, ast.Subscript):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def indices(place: ast.Subscript) -> list[ast.expr]:
    """The indices of an element, one for each dimension."""
    return list(place.slice.elts) if isinstance(place.slice, ast.Tuple) else [place.slice]


def same_text(one: ast.AST, other: ast.AST) -> bool:
    """Whether two parts of a tree are the same text."""
    return ast.unparse(one) == ast.unparse(other)


def _assigned(node: ast.Assign) -> list[tuple[ast.Assign, ast.expr, ast.expr]]:
    """Each target of an assignment with its value, also those of tuples."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return [(node, one, other) for one, other in zip(target.elts, value.elts, strict=False)]
    return [(node, target, value)]
