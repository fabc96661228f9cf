"""Repairs of a kernel that are proven: a likely change is made in a copy of it, and the copy is launched again.

A row of :data:`RULES` makes candidates for some kinds of findings, or for a cost. A candidate that was not launched, or
did not help, is never mentioned.
"""

import ast
import builtins
import contextlib
import copy
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from ...simulator.check_all import SCHEDULES
from ...simulator.edits import Change, edited, expression
from ...simulator.findings import Finding, SimulatorError
from ...simulator.hardware import BANKS
from ...simulator.language.names import cuda_module, is_cuda_module
from ...simulator.language.source import Source, read
from ...simulator.run import Run
from ...simulator.simulate import simulate
from ...simulator.testing import differs
from ...trace.replay import Timeline
from .costs import Cost
from .names import NUMBA, TYPES, is_float32, is_module, sure_names
from .uniform import Body, uniform_bodies

#: Seconds for all candidates of a launch, how many are tried, and how many repairs may be needed together.
SECONDS, MOST, TOGETHER = 5.0, 60, 3
#: A repair leaves at most this share of a cost.
LEFT = 0.75
#: Elements that are added to a row of a tile.
PADDINGS = (1, 2, 4, 8)
#: Where half a warp reads a row and half of it the next one, the two are in different banks if a row has as many
#: elements as half of the banks hold, or so many more than all hold. Where a quarter reads a row, half of that will do.
HALVES = (BANKS // 2, BANKS // 4)


@dataclass(frozen=True)
class Candidate:
    """A change that may be a repair.

    Attributes:
        id: that of the rule.
        line: where it is, for ``text``, the change in words.
        changes: nodes of the kernel's tree, and what replaces them.
        added: a line of source to put after ``line``, ``indent`` columns deep; "" if lines change.
        turned: x and y of grid and block are exchanged, too.
        fills: the arrays that must be filled: a guard that hides a wrong index leaves some elements out.
    """

    id: str
    line: int
    text: str
    changes: tuple[Change, ...]
    added: str = ""
    indent: int = 0
    turned: bool = False
    fills: tuple[str, ...] = ()


@dataclass(frozen=True)
class Repair:
    """Changes that were made in a copy of the kernel and launched; ``proof`` says what came of it.

    ``function`` is the changed kernel, and ``problem`` what was slow, if nothing was wrong.
    """

    changes: tuple[Candidate, ...]
    proof: str
    function: FunctionType = field(repr=False, compare=False)
    problem: Finding | Cost | None = None

    @property
    def text(self) -> str:
        """The changes in words."""
        return "; and ".join(change.text for change in self.changes)


@dataclass(frozen=True)
class Launched:
    """A kernel and its launch, to be launched again with changes; ``options`` are those of the decorator.

    ``wide`` are lines that compute in float64 by accident, and ``known`` the sure names of the kernel before changes.
    """

    source: Source
    options: Mapping[str, Any]
    grid: Any
    block: Any
    shared_bytes: int
    arguments: Sequence[Any]
    max_steps: int | None = None
    trace: bool = False
    wide: frozenset[int] = frozenset()
    known: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, kernel: Any, *rest: Any) -> "Launched":
        """Take the launch of a dispatcher or of a plain function."""
        names = ("targetoptions", "overloads", "_can_compile")
        return cls(read(kernel), {name: getattr(kernel, name) for name in names if hasattr(kernel, name)}, *rest)

    def __call__(self, schedule: str = SCHEDULES[0], arguments: Sequence[Any] | None = None) -> tuple[Run, list[Any]]:
        """Launch with a copy of the arguments; return the run, and the arguments after it."""
        own = copy.deepcopy(list(self.arguments if arguments is None else arguments))
        kernel = SimpleNamespace(py_func=self.source.function, __name__=self.source.name, **self.options)
        with contextlib.redirect_stdout(None):
            launch = simulate(kernel, strict=False, schedule=schedule, trace=self.trace, max_steps=self.max_steps)
            return launch[self.grid, self.block, 0, self.shared_bytes](*own), own

    def changed(self, candidate: Candidate) -> "Launched":
        """Return the launch of the kernel with a change."""
        source = self.source
        names = {"cuda": cuda_module(self.names), "float32": np.float32} | self.names  # where a repair imports them
        made = read(edited(source.function, source.tree, candidate.changes, source.lines, names))
        if not candidate.turned:
            return replace(self, source=made, known=self.sure)
        return replace(self, source=made, known=self.sure, grid=turned(self.grid), block=turned(self.block))

    # --- the kernel's text ----------------------------------------------------------------------------------------

    @property
    def tree(self) -> ast.FunctionDef:
        return self.source.tree

    @cached_property
    def names(self) -> dict[str, Any]:
        """The values of the kernel's free names."""
        function = self.source.function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        return vars(builtins) | function.__globals__ | {name: cell.cell_contents for name, cell in cells}

    @cached_property
    def sure(self) -> Mapping[str, Any]:
        """Those of the names whose value is sure in the kernel."""
        return sure_names(self.source, self.names) if self.known is None else self.known

    @cached_property
    def cuda(self) -> str:
        """How the kernel writes numba.cuda."""
        own = [name for name, value in self.sure.items() if is_cuda_module(value)]
        packages = [f"{name}.cuda" for name, value in self.sure.items() if is_module(value, NUMBA)]
        return [*own, *packages, "cuda"][0]

    @cached_property
    def float32(self) -> str:
        """How the kernel writes float32; empty if no name for it is sure."""
        own = sorted(
            (name for name, value in self.sure.items() if is_float32(value)), key=lambda name: name != "float32"
        )
        packages = [f"{name}.float32" for name, v in self.sure.items() if v is np]
        packages += [
            f"{name}.float32" for name, v in self.sure.items() if is_module(v, TYPES) and hasattr(v, "float32")
        ]
        taken = "float32" in self.names or "float32" in self.source.locals
        return [*own, *packages, "" if taken else "float32"][0]

    @property
    def imported(self) -> str:
        """What has to be imported for `float32`, in words."""
        known = "." in self.float32 or self.float32 in self.sure
        package = "numba_cuda_mlir.types" if "mlir" in cuda_module(self.names).__name__ else "numba"
        return "" if known else f", and from {package} import float32 above the kernel"

    def constant(self, name: str) -> Any:
        """The value of a name outside the kernel; None if there is none, or if a variable of the kernel hides it."""
        return None if name in self.source.locals else self.names.get(name)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def bodies(self) -> set[int]:
        """The bodies in which there may be a barrier."""
        return {id(body) for body in uniform_bodies(self.tree)}

    def statement(self, line: int) -> ast.stmt | None:
        """The innermost statement of the kernel on a line."""
        inside = [n for n in self.statements if n.lineno <= line <= (n.end_lineno or n.lineno)]
        return inside[-1] if inside else None

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """All statements in the order of the source, outer ones first."""
        found = [n for n in ast.walk(self.tree) if isinstance(n, ast.stmt) and n is not self.tree]
        return sorted(found, key=lambda n: (n.lineno, -(n.end_lineno or n.lineno)))

    def chain(self, node: ast.stmt) -> list[tuple[Body, int, ast.AST]]:
        """The bodies around a statement, innermost first, each with the place in it, and what it belongs to."""
        found = []
        at: Any = node
        while at is not self.tree:
            above = self.parents[at]
            bodies = (getattr(above, part, None) for part in ("body", "orelse"))
            found += [(body, body.index(at), above) for body in bodies if isinstance(body, list) and at in body]
            at = above
        return found

    @cached_property
    def of_the_grid(self) -> set[str]:
        """The variables that number a thread in the whole grid."""
        counts = Counter(name.id for name in _stores(self.tree))
        found = set()
        for node in self.tree.body:
            text = ast.unparse(node.value) if isinstance(node, ast.Assign) else ""
            if "grid(" in text or "blockIdx" in text and "threadIdx" in text:
                found |= {name.id for name in _stores(node) if counts[name.id] == 1}
        return found

    @cached_property
    def stored(self) -> tuple[str, ...]:
        """The arrays among the arguments into which the kernel's text stores elements."""
        places = (n for n in ast.walk(self.tree) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
        names = {n.value.id for n in places if isinstance(n.value, ast.Name)}
        return tuple(name for name in self.source.parameters if name in names)

    def barrier(self) -> ast.stmt:
        return ast.Expr(expression(f"{self.cuda}.syncthreads()"))


def turned(dims: Any) -> tuple[int, ...]:
    """Return (x, y, …) as (y, x, …)."""
    given = tuple(dims) if isinstance(dims, tuple | list) else (dims,)
    x, y, *rest = given if len(given) > 1 else (*given, 1)
    return y, x, *rest


# --- barriers -----------------------------------------------------------------------------------------------------

Made = Iterator[Candidate]


def barriers(at: Launched, finding: Finding) -> Made:
    """A barrier between the two accesses, or at the end of the body of a loop around both."""
    one, other = (at.statement(line) for line in (finding.other_line or finding.line, finding.line))
    if one is None or other is None or len({block for block, _ in finding.threads}) > 1:
        return
    others = {id(body): i for body, i, _ in at.chain(other)}
    barrier = f"{at.cuda}.syncthreads()"
    for body, i, owner in at.chain(one):
        if id(body) not in others or id(body) not in at.bodies:
            continue
        low, high = sorted((i, others[id(body)]))
        places = [high] if low != high else []
        if isinstance(owner, ast.For | ast.While):
            places.append(len(body))
        for place in places:
            last = body[place - 1]
            line = last.end_lineno or last.lineno
            where = f"after line {line}, at the end of the loop's body"
            if place < len(body):
                where = f"between lines {line} and {body[place].lineno}"
            changes = ((last, (last, at.barrier())),)
            yield Candidate("barrier", line, f"put {barrier} {where}", changes, barrier, last.col_offset)


def split(at: Launched, finding: Finding) -> Made:
    """All threads read, then all write: a barrier between, also where only some threads take part."""
    one, other = (at.statement(line) for line in (finding.other_line or finding.line, finding.line))
    if one is None or other is None or at.parents[one] is not at.parents[other]:
        return
    barrier = f"{at.cuda}.syncthreads()"
    (body, low, owner), (same, high, _) = at.chain(one)[0], at.chain(other)[0]
    if body is not same:
        return
    low, high = min(low, high), max(low, high)
    parts = None
    if one is other and isinstance(one, ast.Assign | ast.AugAssign):
        target = one.target if isinstance(one, ast.AugAssign) else one.targets[0]
        if not isinstance(target, ast.Subscript) or (isinstance(one, ast.Assign) and len(one.targets) > 1):
            return
        used = {node.id for node in ast.walk(at.tree) if isinstance(node, ast.Name)}
        name = next(n for n in ("value", "new_value", "value_before_the_barrier") if n not in used)
        value = one.value
        if isinstance(one, ast.AugAssign):
            value = ast.BinOp(ast.Subscript(target.value, target.slice, ast.Load()), one.op, one.value)
        parts = [ast.Assign([ast.Name(name, ast.Store())], value)], [ast.Assign([target], ast.Name(name, ast.Load()))]
        text = f"write line {one.lineno} in two: {name} = {ast.unparse(value)}, {barrier}, "
        text += f"{ast.unparse(target)} = {name}"
        first, second = [*body[:low], *parts[0]], [*parts[1], *body[low + 1 :]]
        old: ast.AST = one
    elif low < high:
        first, second, old = body[:high], body[high:], owner
        text = f"put {barrier} between lines {body[high - 1].lineno} and {body[high].lineno}"
    else:
        return
    if id(body) in at.bodies and parts:
        yield Candidate("read-barrier-write", one.lineno, text, ((old, (*parts[0], at.barrier(), *parts[1])),))
    elif isinstance(owner, ast.If) and body is owner.body and not owner.orelse:
        if id(at.chain(owner)[0][0]) in at.bodies and not _reads_memory(owner.test):
            new = ast.If(owner.test, first, []), at.barrier(), ast.If(copy.deepcopy(owner.test), second, [])
            text += f", with an if as in line {owner.lineno} around each part, and none around the barrier"
            yield Candidate("read-barrier-write", one.lineno, text, ((owner, new),))


def _reads_memory(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Subscript | ast.Call) for node in ast.walk(test))


def out_of_an_if(at: Launched, finding: Finding) -> Made:
    """A barrier inside an if: before and after it the if goes on, without it."""
    node = at.statement(finding.line)
    if node is None or not ast.unparse(node).endswith("syncthreads()"):
        return
    (body, i, owner), *around = at.chain(node)
    if not isinstance(owner, ast.If) or body is not owner.body or owner.orelse or _reads_memory(owner.test):
        return
    if id(around[0][0]) not in at.bodies:
        return
    before, after = (
        [ast.If(copy.deepcopy(owner.test), part, [])] if part else [] for part in (body[:i], body[i + 1 :])
    )
    where = f"{'out of' if after else 'after'} the if in line {owner.lineno}"
    text = f"move {ast.unparse(node)} of line {node.lineno} {where}"
    yield Candidate("barrier-out-of-an-if", node.lineno, text, ((owner, (*before, node, *after)),))


# --- other findings -----------------------------------------------------------------------------------------------


def atomics(at: Launched, finding: Finding) -> Made:
    """A sum to which many threads add at once."""
    for line in dict.fromkeys((finding.line, finding.other_line)):
        node = at.statement(line) if line is not None else None
        match node:
            case ast.AugAssign(ast.Subscript() as target, ast.Add(), value):
                pass
            case ast.Assign([ast.Subscript() as target], ast.BinOp(left, ast.Add(), right)):
                text = ast.unparse(target)
                if text not in (ast.unparse(left), ast.unparse(right)):
                    continue
                value = right if ast.unparse(left) == text else left
            case _:
                continue
        added = any(ast.unparse(part) == ast.unparse(target) for part in ast.walk(value) if isinstance(part, ast.expr))
        if not added:
            call = ast.Call(expression(f"{at.cuda}.atomic.add"), [target.value, target.slice, value], [])
            text = f"write {ast.unparse(call)} in line {node.lineno}"
            yield Candidate("atomic", node.lineno, text, ((node, ast.Expr(call)),))


def _less(at: Launched, node: ast.stmt) -> Made:
    """`<` instead of `<=` in the conditions above a statement."""
    tests = [owner.test for _, _, owner in at.chain(node) if isinstance(owner, ast.If)]
    for compared in (part for test in tests for part in ast.walk(test)):
        if isinstance(compared, ast.Compare) and any(isinstance(op, ast.LtE) for op in compared.ops):
            less = [ast.Lt() if isinstance(op, ast.LtE) else op for op in compared.ops]
            new = ast.Compare(compared.left, less, compared.comparators)
            text = f"write `{ast.unparse(new)}` instead of `<=` in line {compared.lineno}"
            yield Candidate("guard", compared.lineno, text, ((compared, new),))


def guards(at: Launched, finding: Finding) -> Made:
    """An if around the statement, or around the rest of the kernel: a grid has more threads than there are elements."""
    node = at.statement(finding.line)
    if node is None:
        return
    yield from _less(at, node)
    arrays = {name for name, value in zip(at.source.parameters, at.arguments, strict=False) if np.ndim(value)}
    places = [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) and part.value.id in arrays
    ]
    limits: dict[str, tuple[str, int]] = {}
    for place in sorted(places, key=lambda part: not isinstance(part.ctx, ast.Store)):
        indices = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
        for dimension, index in enumerate(indices):
            if isinstance(index, ast.Name) and index.id in at.of_the_grid:
                limits.setdefault(index.id, (ast.unparse(place.value), dimension))
    if not limits:
        return
    shapes = (f"{name} < {array}.shape[{dimension}]" for name, (array, dimension) in limits.items())
    test = expression(" and ".join(shapes))
    writes = any(isinstance(place.ctx, ast.Store) for place in places) or "atomic" in ast.unparse(node)
    guard = f"if {ast.unparse(test)}:"
    if writes:  # a value that is only read here is used elsewhere
        text = f"put `{guard}` around line {node.lineno}"
        yield Candidate("guard", node.lineno, text, ((node, ast.If(test, [node], [])),), fills=at.stored)
    for body, _, owner in at.chain(node):
        if owner is at.tree:
            known = [i for i, one in enumerate(body) if set(limits) & {n.id for n in _stores(one)}]
            rest = body[known[-1] + 1 :] if known else []
            if len(rest) > 1 and not any("sync" in ast.unparse(one) for one in rest):
                first, *others = rest
                changes: tuple[Change, ...] = ((first, ast.If(test, rest, [])), *((one, ()) for one in others))
                lines = f"lines {first.lineno} to {rest[-1].end_lineno}"
                yield Candidate("guard", first.lineno, f"put `{guard}` around {lines}", changes, fills=at.stored)


def _stores(node: ast.AST) -> Iterator[ast.Name]:
    yield from (n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def constants(at: Launched, finding: Finding) -> Made:
    """float32(...) around constants, or around one operand of the line.

    The constants are those of the line; or all that are float, as the 0.0 with which a sum begins; or these and the
    whole numbers with which such lines compute, or that divide.
    """
    numbers = [n for n in ast.walk(at.tree) if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
    inside = {n for s in ast.walk(at.tree) if isinstance(s, ast.Subscript) for n in ast.walk(s.slice)}
    numbers = [n for n in numbers if n not in inside and _is_operand(at, n)]
    floats = [n for n in numbers if type(n.value) is float]
    divisors = [n.right for n in ast.walk(at.tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    wholes = [n for n in numbers if type(n.value) is int and (n.lineno in at.wide or n in divisors)]
    node = at.statement(finding.line)
    head = [n for n in ast.walk(node) if getattr(n, "lineno", 0) == finding.line] if node is not None else []
    names = [n for n in head if isinstance(n, ast.Name | ast.Attribute | ast.Subscript) and _is_operand(at, n)]
    names = [n for n in names if not _is_stored(at, n)]  # a conversion there comes after the arithmetic
    groups: list[list[ast.expr]] = [[n for n in floats if n.lineno == finding.line], [*floats], [*floats, *wholes]]
    groups += [[n] for n in (*wholes, *names) if n.lineno == finding.line]
    for chosen in [group for place, group in enumerate(groups) if group and group not in groups[:place] and at.float32]:
        chosen = sorted(chosen, key=lambda n: (n.lineno, n.col_offset))
        changes = [(n, ast.Call(expression(at.float32), [n], [])) for n in chosen]
        words = " and ".join(dict.fromkeys(ast.unparse(new) for _, new in changes))
        if len(chosen) > 3:
            words = f"{at.float32}(...) around the constants"
        yield Candidate("float32", chosen[0].lineno, f"write {words} in {_lines(chosen)}{at.imported}", tuple(changes))


def _is_operand(at: Launched, part: ast.AST) -> bool:
    """Whether a value is computed with, assigned or passed on."""
    above = at.parents.get(part)
    if isinstance(above, ast.Call):
        return part in above.args and not ast.unparse(above.func).endswith(("array", "range", "grid", at.float32))
    return isinstance(above, ast.BinOp | ast.UnaryOp | ast.Assign | ast.AugAssign | ast.IfExp) and isinstance(
        getattr(part, "ctx", ast.Load()), ast.Load
    )


def _is_stored(at: Launched, part: ast.AST) -> bool:
    """Whether a value is all that an assignment stores to an element."""
    above = at.parents.get(part)
    return isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Subscript)


# --- costs --------------------------------------------------------------------------------------------------------


def padded(at: Launched, cost: Cost) -> Made:
    """A longer row for a tile whose columns are read."""
    for node in at.statements:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as call) if name == cost.array:
                shape = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "shape"), None)
                if not isinstance(shape, ast.Tuple):
                    continue
                most: list[Any] = [
                    part.value if isinstance(part, ast.Constant) else at.constant(ast.unparse(part))
                    for part in shape.elts
                ]
                if not all(isinstance(size, int) for size in most):
                    continue
                last = most.pop()
                halves = [last + (half - last) % (2 * half) for half in HALVES]
                for longer in dict.fromkeys([*(last + more for more in PADDINGS), *halves]):
                    new = ast.Tuple([*shape.elts[:-1], ast.Constant(longer)], ast.Load())
                    text = f"give {name} the shape {(*most, longer)} in line {node.lineno}"
                    yield Candidate("padded-tile", node.lineno, text, ((shape, new),))


def exchanged(at: Launched, cost: Cost | Finding) -> Made:
    """x and y exchanged: neighbouring threads access neighbouring elements, or each array has its own shape."""
    turn = isinstance(cost, Cost) and any(turned(dims) != turned(turned(dims)) for dims in (at.grid, at.block))
    fills = () if isinstance(cost, Cost) else at.stored
    also = ", and exchange x and y of grid and block" if turn else ""
    for node in at.statements:
        match node:
            case ast.Assign([ast.Tuple([first, second]) as names], ast.Call() as call):
                if ast.unparse(call.func).endswith("grid"):
                    new = ast.Tuple([second, first], ast.Store())
                    text = f"write `{ast.unparse(new)} = {ast.unparse(call)}` in line {node.lineno}{also}"
                    yield Candidate("exchanged-x-and-y", node.lineno, text, ((names, new),), turned=turn, fills=fills)
    own = ("threadIdx", "blockIdx", "blockDim", "gridDim")
    parts = [
        part
        for part in ast.walk(at.tree)
        if isinstance(part, ast.Attribute) and part.attr in "xy" and ast.unparse(part.value).rpartition(".")[2] in own
    ]
    if {part.attr for part in parts} == {"x", "y"}:
        other = {"x": "y", "y": "x"}
        changes = tuple((part, ast.Attribute(part.value, other[part.attr], ast.Load())) for part in parts)
        text = f"exchange x and y in {_lines(parts)}{also}"
        yield Candidate("exchanged-x-and-y", parts[0].lineno, text, changes, turned=turn, fills=fills)


def _lines(nodes: Sequence[ast.expr]) -> str:
    """Return the lines of nodes in words: line 3, or lines 3, 5."""
    lines = sorted({node.lineno for node in nodes})
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"


#: Which candidates answer which kind of finding, or count of a cost.
RULES: tuple[tuple[str, Callable[[Launched, Any], Made]], ...] = (
    ("race", barriers),
    ("race", split),
    ("race", atomics),
    ("barrier-divergence", out_of_an_if),
    ("out-of-bounds", exchanged),
    ("out-of-bounds", guards),
    ("float64", constants),
    ("wavefronts", padded),
    ("sectors", exchanged),
)


# --- proofs -------------------------------------------------------------------------------------------------------


class Tries:
    """What is left of the time and the number of launches for repairs."""

    def __init__(self, seconds: float) -> None:
        self._left, self._end = MOST, time.process_time() + seconds

    def of(
        self, launched: Launched, problems: Sequence[Finding | Cost]
    ) -> Iterator[tuple[Candidate, Launched, Run, list[Any]]]:
        """Launch the candidates for the problems, in order; yield those that can be launched."""
        for problem in problems:
            kind = problem.kind if isinstance(problem, Finding) else problem.count
            for candidate in itertools.chain.from_iterable(make(launched, problem) for of, make in RULES if of == kind):
                if self._left <= 0 or time.process_time() > self._end:
                    return
                self._left -= 1
                try:
                    changed = launched.changed(candidate)
                    yield candidate, changed, *changed()
                except Exception:  # a change that makes no kernel is no repair
                    continue


def proven(
    launched: Launched, run: Run, after: Sequence[Any], slow: Sequence[Cost], seconds: float = SECONDS
) -> Repair | None:
    """Return a repair of a launch, or None: of its findings of severity error, or else of what makes it slow.

    ``run`` is the launch, ``after`` its arguments after it, and ``slow`` its costs. No try begins after ``seconds``
    of the processor; a busy machine changes no verdict.
    """
    tries = Tries(seconds)
    if run.errors:
        return _without_errors(launched, run, after, tries)
    wide = [finding for finding in run.findings if finding.kind == "float64"]
    launched = replace(launched, wide=frozenset(finding.line for finding in wide))
    was = _traffic(run)
    problems: list[Finding | Cost] = [*wide[:1], *slow]
    for problem in problems:
        found: list[tuple[int, Repair]] = []  # with what is left of the cost
        for candidate, changed, again, values in tries.of(launched, [problem]):
            now, left = _traffic(again), 0
            if isinstance(problem, Cost):
                left, before = now[problem.count], was[problem.count]
                proof = f"{left:,} {problem.count} instead of {before:,}, and equal values"
                helps = left <= LEFT * before and all(now[name] <= was[name] for name in was) and _same(values, after)
            else:
                proof = "no arithmetic in float64, and values equal up to rounding"
                helps = all(finding.kind != "float64" for finding in again.findings) and _alike(values, after)
            if helps and _keys(again) <= _keys(run):
                found.append((left, Repair((candidate,), proof, changed.source.function, problem)))
        if found:
            return min(found, key=lambda each: each[0])[1]
    return None


def _without_errors(launched: Launched, run: Run, after: Sequence[Any], tries: Tries) -> Repair | None:
    """Return the changes after which nothing is found and the values are equal in every order of the warps."""
    made: tuple[Candidate, ...] = ()
    for _ in range(TOGETHER):
        best = None
        keys = _keys(run)
        for candidate, changed, again, values in tries.of(launched, run.errors):
            left = _keys(again)
            if not left < keys:
                continue
            if not again.errors and _holds(changed, candidate, run, values, after):
                found = "errors" if again.findings else "findings"
                proof = f"no {found}, and equal values in three orders of the warps"
                return Repair((*made, candidate), proof, changed.source.function)
            if again.errors and (best is None or len(left) < len(_keys(best[2]))):
                best = candidate, changed, again, values
        if best is None:
            return None
        candidate, launched, run, after = best
        made = *made, candidate
    return None


def _holds(changed: Launched, candidate: Candidate, run: Run, values: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether a kernel without findings gives the same values in every order, and fills what it must."""
    for schedule in SCHEDULES[1:]:
        again, others = changed(schedule)
        if again.errors or not _alike(others, values):
            return False
    if candidate.id == "guard" and not _same(values, after):
        return False  # an access outside an array was skipped: a guard changes no value
    if candidate.id in ("barrier", "read-barrier-write") and not _all_read(changed):
        return False
    return not candidate.fills or _filled(changed, candidate.fills)


def _filled(changed: Launched, names: Sequence[str]) -> bool:
    """Whether every element of these arrays is stored: it is none of two values that were there before."""
    places = [changed.source.parameters.index(name) for name in names]
    untouched = []
    for mark in (1, 2):
        arguments = copy.deepcopy(list(changed.arguments))
        for place in places:
            np.asarray(arguments[place])[...] = mark
        _, values = changed(arguments=arguments)
        untouched.append([np.asarray(values[place]) == mark for place in places])
    return not any((one & other).any() for one, other in zip(*untouched, strict=True))


def _all_read(changed: Launched) -> bool:
    """Whether some of what each line stores in shared memory is read.

    A barrier orders any two accesses, also where a tile must not be overwritten at all: then it hides the mistake.
    """
    one = replace(changed, grid=1, trace=True)
    try:
        trace = one()[0].trace
    except SimulatorError:  # too large to be traced
        return True
    assert trace is not None
    timeline = Timeline(trace, (0, 0, 0))
    read: dict[int, bool] = {}
    for name, array in trace.arrays.items():
        if array.space == "shared":
            touched = timeline.touches(name)
            order = np.lexsort((touched.store, touched.position, touched.element))
            element, atomic = touched.element[order], touched.atomic[order]
            store = touched.store[order] & ~atomic
            used = np.append((element[1:] == element[:-1]) & ~store[1:], False)
            lines = timeline.lines[touched.position[order] - 1]
            for line in np.unique(lines[store]).tolist():
                read[line] = read.get(line, False) or bool(used[store & (lines == line)].any())
    return all(read.values())


def _keys(run: Run) -> set[Any]:
    return {finding.key for finding in run.findings}


def _traffic(run: Run) -> dict[str, int]:
    return {"wavefronts": run.traffic.wavefronts, "sectors": run.traffic.sectors}


def _alike(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether arrays are equal up to rounding."""
    return not any(np.any(differs(one, other)) for one, other in _arrays(values, others))


def _same(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether arrays are equal, bit by bit."""
    return all(one.tobytes() == other.tobytes() for one, other in _arrays(values, others))


def _arrays(values: Sequence[Any], others: Sequence[Any]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield from ((np.asarray(a), np.asarray(b)) for a, b in zip(values, others, strict=True) if np.ndim(a))
