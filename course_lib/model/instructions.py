"""From a traced run to what its warps issue: the statements' loads, stores, multiply-adds and index arithmetic.

What a compiler makes of the source is a model, too, with the rules that the machine code of the course's small
kernels shows (`course_lib.gpu.probes`):
- a loop of constant length is written out, unless it holds more than WRITTEN_OUT multiply-adds; other loops are
  written out TURNS turns at a time, where no barrier stands in them;
- an index that stays the same in a loop is computed before it, one that moves once a turn;
- four loads of shared memory from neighbouring words, in a loop that is written out, become one of 16 bytes;
- loads are moved up, at most AHEAD of them ahead of what needs them, but never across a barrier.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES
from ..trace.columns import BARRIER, OPS
from ..trace.trace import Trace
from .requests import _passes, _wide_passes

NONE = np.zeros(0, np.int64)
WRITTEN_OUT = 256
TURNS = 4
AHEAD = 6


class Instruction(NamedTuple):
    """What a warp issues: `kind`, and the positions in its program of the instructions whose results it needs.

    kind: "multiply-add", "index", "load", "store", "shared load", "shared store", "copy", "wait" or "barrier".
    cycles: of the integer units, for an index; wavefronts: passes through shared memory or the first-level cache;
    sectors: the 32-byte sectors of global memory; arithmetic: the kind of index arithmetic ("signed", …, "").
    bytes: what a lane moves; turn: how many turns of the outermost loop have begun.
    Machine code (`machine_code`) has other kinds beside them, a `pace`: cycles until the warp's next instruction, and
    `reads`: how many operands it takes from the even and from the odd registers.
    """

    kind: str
    line: int
    needs: tuple[int, ...] = ()
    arithmetic: str = ""
    amount: float = 0
    wavefronts: int = 0
    sectors: tuple[tuple[str, int], ...] = ()
    turn: int = 0
    bytes: int = 4
    pace: int = 1
    reads: tuple[int, int] = (0, 0)


@dataclass
class _Function:
    """One function of the kernel's file: its statements by line, its loops, and the functions that it calls."""

    name: str
    tree: ast.FunctionDef
    constants: dict[str, Any]
    parameters: list[str]
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)


@dataclass(frozen=True)
class _Facts:
    """What the syntax tree says of one statement: see the fields of the same names in :class:`_Lowering`."""

    function: _Function
    node: ast.AST
    moving: frozenset[str]
    reads: tuple[str, ...]
    calls: tuple[str, ...]
    arguments: tuple[tuple[str, str, tuple[str, ...]], ...]  # (function, parameter, names that its argument reads)
    multiplies: bool
    guards: int
    adds_up: bool
    written_out: bool = False
    ends_region: bool = False
    condition: int = 0  # the line of the innermost `if` around the statement, if any


class Dataflow:
    """The kernel and the device functions of its file, by line: what a statement reads, and what moves in its loop."""

    def __init__(self, kernel: Any) -> None:
        self.functions: dict[str, _Function] = {}
        self.statements: dict[int, tuple[_Function, ast.stmt]] = {}
        self.hidden: set[str] = set()  # functions of other files that multiply: a trace has no line of theirs
        plain = getattr(kernel, "py_func", kernel)
        self._read(plain, inspect.getsourcefile(plain))
        self.kernel = plain.__name__
        self.moving_parameters: dict[str, set[str]] = {name: set() for name in self.functions}
        self.constant_parameters: dict[str, set[str]] = {n: set(f.parameters) for n, f in self.functions.items()}
        self._facts: dict[int, _Facts] = {}
        for _ in self.functions:  # as deep as calls can nest
            self._pass_on()

    def _read(self, plain: Callable[..., Any], file: str | None) -> None:
        lines, first = inspect.getsourcelines(plain)
        module = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(module, first - 1)
        tree = next(node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))
        closure = inspect.getclosurevars(plain)
        constants = {**closure.globals, **closure.nonlocals}
        function = _Function(plain.__name__, tree, constants, [a.arg for a in tree.args.args])
        self.functions[plain.__name__] = function
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                function.parents[child] = node
            if isinstance(node, ast.stmt) and node is not tree:
                self.statements[node.lineno] = function, node
        for name, value in constants.items():
            inner = getattr(value, "py_func", None)
            if inner is None or inner.__name__ in self.functions:
                continue
            if inspect.getsourcefile(inner) == file:
                self._read(inner, file)
            elif _multiplies_within(inner):
                self.hidden.add(name)

    def facts(self, line: int) -> _Facts:
        """What there is to know of the statement at a line; of a line outside the functions, nothing."""
        if line not in self._facts:
            function, node = self.statements.get(line, (self.functions[self.kernel], ast.Pass()))
            self._facts[line] = self._facts_of(function, node)
        return self._facts[line]

    def _facts_of(self, function: _Function, node: ast.AST) -> _Facts:
        moving = frozenset(self.moving(function, node))
        compound = isinstance(node, (ast.If, ast.For, ast.While))
        reads = set() if compound else names_of(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        calls = [] if compound else [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        named = [(getattr(call.func, "id", ""), call) for call in calls]
        arguments = tuple(
            (name, parameter, tuple(names_of(argument)))
            for name, call in named
            if name in self.functions
            for parameter, argument in zip(self.functions[name].parameters, call.args, strict=False)
        )
        constant = isinstance(node, ast.For) and all(
            self.is_constant(function, bound) for bound in getattr(node.iter, "args", [])
        )
        test = node.test if isinstance(node, ast.If) else ast.Pass()
        return _Facts(
            function,
            node,
            moving,
            tuple(reads),
            tuple(name for name, _ in named),
            arguments,
            _multiplies(node),
            sum(bool(names_of(c) & moving) for c in ast.walk(test) if isinstance(c, ast.Compare)),
            isinstance(getattr(node, "value", None), ast.BinOp) and not _multiplies(node),
            isinstance(node, ast.For) and self.written_out(function, node),
            constant or "syncthreads" in ast.dump(node),
            self._condition(function, node),
        )

    def _condition(self, function: _Function, node: ast.AST) -> int:
        """The line of the innermost `if` around a statement, 0 if there is none."""
        parent = function.parents.get(node)
        while parent is not None and not isinstance(parent, ast.If):
            parent = function.parents.get(parent)
        return parent.lineno if isinstance(parent, ast.If) else 0

    def _pass_on(self) -> None:
        """Let parameters move, or be constant, as the arguments of their calls do."""
        for function in self.functions.values():
            for call in (node for node in ast.walk(function.tree) if isinstance(node, ast.Call)):
                called = self.functions.get(getattr(call.func, "id", ""))
                if called is None:
                    continue
                moving = self.moving(function, call)
                for name, argument in zip(called.parameters, call.args, strict=False):
                    if names_of(argument) & moving:
                        self.moving_parameters[called.name].add(name)
                    if not self.is_constant(function, argument):
                        self.constant_parameters[called.name].discard(name)

    def is_constant(self, function: _Function, node: ast.AST) -> bool:
        """Whether the compiler knows the value: numbers, constants of the module, loops that are written out."""
        known = {name for name, value in function.constants.items() if isinstance(value, int)}
        known |= {loop.target.id for loop in self.loops(function, node) if self.written_out(function, loop)}
        if function.name != getattr(self, "kernel", function.name):
            known |= self.constant_parameters.get(function.name, set())
        return not any(isinstance(n, (ast.Call, ast.Attribute, ast.Subscript)) for n in ast.walk(node)) and (
            names_of(node) <= known
        )

    def loops(self, function: _Function, node: ast.AST) -> Iterator[Any]:
        """The for-loops around a statement, innermost first; a loop's header is not in it."""
        child = node
        while (parent := function.parents.get(child)) is not None:
            if isinstance(parent, ast.For) and child in parent.body and isinstance(parent.target, ast.Name):
                yield parent
            child = parent

    def written_out(self, function: _Function, loop: ast.For) -> bool:
        """Whether a loop is of constant length and short."""
        arguments = getattr(loop.iter, "args", [])
        if not all(self.is_constant(function, argument) for argument in arguments):
            return False
        return self._weight(function, loop) <= WRITTEN_OUT

    def _weight(self, function: _Function, loop: ast.For) -> int:
        """Multiply-adds in all turns of a loop of constant length."""
        return self._turns(function, loop) * sum(self._weight_of(function, statement) for statement in loop.body)

    def _weight_of(self, function: _Function, node: ast.stmt) -> int:
        if isinstance(node, ast.For):
            return self._weight(function, node)
        if isinstance(node, (ast.If, ast.While)):
            return sum(self._weight_of(function, inner) for inner in node.body)
        total = int(isinstance(node, ast.AugAssign) and isinstance(node.value, ast.BinOp))
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            called = self.functions.get(getattr(call.func, "id", ""))
            if called is not None and called is not function:
                total += sum(self._weight_of(called, inner) for inner in called.tree.body)
        return total

    def value(self, function: _Function, node: ast.expr) -> int:
        """The value of a constant expression; ValueError if the compiler does not know it."""
        known = {name: value for name, value in function.constants.items() if isinstance(value, int)}
        try:
            return int(eval(compile(ast.Expression(node), "", "eval"), {}, known))
        except Exception:
            raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is no constant") from None

    def _turns(self, function: _Function, loop: ast.For) -> int:
        try:
            bounds = [self.value(function, argument) for argument in getattr(loop.iter, "args", [])]
        except ValueError:
            return 1
        return len(range(*bounds))

    def moving(self, function: _Function, node: ast.AST) -> set[str]:
        """The names whose values change from turn to turn of the innermost loop that is not written out."""
        changing: set[str] = set(self.moving_parameters.get(function.name, ()))
        for loop in self.loops(function, node):
            if not self.written_out(function, loop):
                changing |= {loop.target.id}
                changing |= {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return changing - {loop.target.id for loop in self.loops(function, node) if self.written_out(function, loop)}


def names_of(node: ast.AST) -> set[str]:
    """The names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


@dataclass(slots=True)
class _Access:
    """What lowering needs of an access: `words` are the lanes' first elements, in the order of the array's memory."""

    op: str
    array: str
    lanes: int
    width: int
    wavefronts: int
    element: int
    pattern: int
    words: np.ndarray


@dataclass(slots=True)
class _Step:
    """What lowering needs of a step: its line, whether a barrier follows, the names assigned, the accesses."""

    line: int
    barrier: bool
    variables: list[str]
    accesses: list[_Access]


def _steps(trace: Trace, block: tuple[int, int, int], pitch: int | None = None) -> dict[int, list[_Step]]:
    """Return the steps of each warp of a block, straight from the trace's columns; `pitch` as in `programs`."""
    columns = trace.columns
    at = np.flatnonzero((columns.blocks == block).all(axis=1))
    if not len(at):
        raise ValueError(f"block {block} was not launched; the grid is {trace.grid}")
    begin, end = columns.first[at[0]], columns.first[at[0] + 1]
    lines, warps = columns.step["line"][begin:end].tolist(), columns.step["warp"][begin:end].tolist()
    barriers = (columns.step["flags"][begin:end] & BARRIER).astype(bool).tolist()
    steps = [_Step(line, barrier, [], []) for line, barrier in zip(lines, barriers, strict=True)]
    for step, name in _part(columns.variable, columns.rows("variable", begin, end), "step", "name"):
        steps[step - begin].variables.append(columns.names[name])
    names = ("step", "op", "array", "lanes", "width", "wavefronts", "base", "pattern")
    first: dict[int, int] = {}
    local = {name for name, array in trace.arrays.items() if array.space == "local"}
    order = {name: trace.arrays[name].strides for name in columns.arrays}
    if pitch:
        matrices = (name for name, a in trace.arrays.items() if a.space == "global" and len(a.shape) == 2)
        order |= dict.fromkeys(matrices, (pitch, 1))
    for step, op, array, lanes, width, wavefronts, base, pattern in _part(
        columns.access, columns.rows("access", begin, end), *names
    ):
        label: str = columns.arrays[array]
        count = lanes.bit_count()
        if label in local:  # each thread's own, at the same place: the first one's is enough
            if pattern not in first:
                first[pattern] = int(columns.vector(pattern)[0])
            own = _Access(OPS[op], label, count, width, wavefronts, first[pattern] + base, pattern, NONE)
            steps[step - begin].accesses.append(own)
            continue
        words = columns.vector(pattern) + base
        strides = order[label]
        if len(words) == 1:
            words = np.repeat(words, count)
        if strides is not None:
            index = np.unravel_index(words, trace.arrays[label].shape)
            words = sum((i * stride for i, stride in zip(index, strides, strict=True)), np.zeros(count, np.int64))
        access = _Access(OPS[op], label, count, width, wavefronts, int(words[0]) if count else 0, pattern, words)
        steps[step - begin].accesses.append(access)
    found: dict[int, list[_Step]] = {}
    for warp, one in zip(warps, steps, strict=True):
        found.setdefault(warp, []).append(one)
    return found


def _part(table: Mapping[str, np.ndarray], rows: slice, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name][rows].tolist() for name in names), strict=True)


def program(kernel: Any, trace: Trace, warp: int = 0, block: tuple[int, int, int] = (0, 0, 0)) -> list[Instruction]:
    """Return what one warp of a traced run issues, in the order that a compiler would give it."""
    return _Lowering(Dataflow(kernel), trace).run(_steps(trace, block)[warp])


def programs(
    kernel: Any, trace: Trace, block: tuple[int, int, int] = (0, 0, 0), pitch: int | None = None
) -> list[list[Instruction]]:
    """Return the programs of all warps of one block.

    pitch: elements from one row of a matrix in global memory to the next, where the traced ones stand for parts of
    larger ones; None for the rows that they have. Raise ValueError where the kernel calls a function of another file
    that multiplies and adds.
    """
    source = Dataflow(kernel)
    return [_Lowering(source, trace).run(steps) for _, steps in sorted(_steps(trace, block, pitch).items())]


class _Lowering:
    """Turns the steps of one warp into instructions, region by region."""

    def __init__(self, source: Dataflow, trace: Trace) -> None:
        self.source, self.trace = source, trace
        self.sizes = {name: np.dtype(array.dtype).itemsize for name, array in trace.arrays.items()}
        self.wide: dict[int, int] = {}  # pattern -> wavefronts of four words from there on, for each lane
        self.out: list[Instruction] = []
        self.region: list[Instruction] = []  # their needs count from the region's beginning, below 0 what came before
        self.made: dict[tuple[str, ...], tuple[int, ...]] = {}  # value -> positions in out and region together
        self.moved: set[tuple[str, ...]] = set()  # indices computed in this turn
        self.groups: list[list[int]] = [[]]  # copies of this warp that nothing has waited for, the open group last
        self.turn, self.turns_open = 0, 0
        self.outer: int | None = None

    def run(self, steps: list[_Step]) -> list[Instruction]:
        for step in steps:
            self._step(step)
        self._flush()
        return self.out

    # --- one statement ---------------------------------------------------------------------------------------

    def _step(self, step: _Step) -> None:
        facts = self.source.facts(step.line)
        if isinstance(facts.node, (ast.For, ast.While)):
            self._header(facts, step)
        elif isinstance(facts.node, ast.If):
            if facts.guards:
                guard = self._emit(Instruction("index", step.line, arithmetic="guard", amount=facts.guards))
                self.made["if", str(step.line)] = (guard,)
        else:
            self._simple(facts, step)
        if step.barrier:
            self._flush()
            self._emit(Instruction("barrier", step.line))
            self._flush()

    def _simple(self, facts: _Facts, step: _Step) -> None:
        """Emit what a statement does: its loads, its multiply-add, its stores."""
        name = facts.function.name
        if hidden := self.source.hidden.intersection(facts.calls):
            raise ValueError(
                f"line {step.line}: {min(hidden)} stands in another file, and a trace shows no line of it; "
                "put it beside the kernel"
            )
        found = {p for variable in facts.reads for p in self.made.get((name, variable), ())}
        found |= {p for called in facts.calls for p in self.made.get((called, "return"), ())}
        if self._copies(facts, step):
            return
        for access in step.accesses:
            if access.op == "load":
                found.update(self._access(facts, step, access))
        needs = tuple(sorted(found))
        if facts.multiplies and (step.variables or any(a.op == "store" for a in step.accesses)):
            needs = (self._emit(Instruction("multiply-add", step.line, needs)),)
        for access in step.accesses:
            if access.op != "load":
                self._store(facts, step, access, needs)
        assigned = {variable.rpartition(".")[2] for variable in step.variables}
        if facts.adds_up and assigned & facts.moving:
            self._emit(Instruction("index", step.line, arithmetic="add", amount=1))
        if assigned:
            self.moved = {key for key in self.moved if not assigned & set(key)}
        for variable in assigned:
            self.made[name, variable] = needs
        if isinstance(facts.node, ast.Return):
            self.made[name, "return"] = needs
        for called, parameter, names in facts.arguments:
            self.made[called, parameter] = tuple({p for n in names for p in self.made.get((name, n), ())})

    def _copies(self, facts: _Facts, step: _Step) -> bool:
        """Emit what starts an asynchronous copy, or waits for some; return whether the statement is one of them."""
        call = facts.node.value if isinstance(facts.node, ast.Expr) else None
        name = getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""
        if name in ("copy_async", "copy4_async"):
            loads = [access for access in step.accesses if access.op == "load"]
            stores = [access for access in step.accesses if access.op == "store"]
            if not loads:
                return True
            needs = self._index(facts, step, loads[0], "global")
            passes = max(self._wavefronts(loads[0]), *(self._wavefronts(access) for access in stores), 1)
            copy = Instruction("copy", step.line, needs, wavefronts=passes, sectors=self._sectors(loads[0]))
            self.groups[-1].append(self._emit(copy))
        elif name == "commit_copies":
            self.groups.append([])
        elif name == "wait_copies" and isinstance(call, ast.Call):
            pending = self.source.value(facts.function, call.args[0])
            done = self.groups[: len(self.groups) - 1 - pending]
            self._flush()
            places = [position for group in done for position in group]
            self._emit(Instruction("wait", step.line, tuple(places)))
            self._flush()
            del self.groups[: len(done)]
        else:
            return False
        return True

    def _header(self, facts: _Facts, step: _Step) -> None:
        """Begin a turn of a loop that is not written out."""
        if facts.written_out:
            return
        if self.outer is None:
            self.outer = step.line
        if step.line == self.outer:
            self.turn += 1
        self.turns_open += 1
        if facts.ends_region or self.turns_open >= TURNS:
            self._flush()
            self.turns_open = 0
        self.moved.clear()
        self._emit(Instruction("index", step.line, arithmetic="loop", amount=1))

    def _access(self, facts: _Facts, step: _Step, access: _Access) -> tuple[int, ...]:
        """Emit a load with its index arithmetic; return what the value comes from."""
        space = self.trace.arrays[access.array].space
        if space == "local":
            return self.made.get(("local", access.array, str(access.element)), ())
        needs = self._index(facts, step, access, space)
        if space == "shared":
            kind, sectors = "shared load", tuple[tuple[str, int], ...]()
        else:
            kind, sectors = "load", self._sectors(access)
        size = access.width * self.sizes[access.array]
        load = Instruction(kind, step.line, needs, wavefronts=self._wavefronts(access), sectors=sectors, bytes=size)
        return (self._emit(load, access),)

    def _store(self, facts: _Facts, step: _Step, access: _Access, needs: tuple[int, ...]) -> None:
        space = self.trace.arrays[access.array].space
        if space == "local":
            self.made["local", access.array, str(access.element)] = needs
            return
        needs = (*needs, *self._index(facts, step, access, space))
        sectors = self._sectors(access) if space == "global" else ()
        kind = "shared store" if space == "shared" else "store"
        size = access.width * self.sizes[access.array]
        passes = self._wavefronts(access)
        self._emit(Instruction(kind, step.line, needs, wavefronts=passes, sectors=sectors, bytes=size))

    def _index(self, facts: _Facts, step: _Step, access: _Access, space: str) -> tuple[int, ...]:
        """Emit the arithmetic of an index that moves, once a turn; return what the access needs of it."""
        moving = facts.moving
        if not moving:
            return ()
        met = self.made.get(("if", str(facts.condition)), ())
        kind, parts, guards = _subscript(facts.node, access.array)
        moved = sorted(set().union(*map(names_of, parts)) & moving) if parts else []
        if not moved:
            return met
        key = (space, access.array if space == "global" else "", *moved)
        if key in self.moved and space == "shared":
            return met
        self.moved.add(key)
        name = "shared" if space == "shared" else kind
        adds = sum(isinstance(n, ast.BinOp) and bool(names_of(n) & moving) for part in parts for n in ast.walk(part))
        if adds:
            self._emit(Instruction("index", step.line, arithmetic="add", amount=adds))
        if guards:
            met = (self._emit(Instruction("index", step.line, met, arithmetic="guard", amount=len(moved))),)
        return (self._emit(Instruction("index", step.line, met, arithmetic=name, amount=1)),)

    # --- addresses --------------------------------------------------------------------------------------------

    def _wavefronts(self, access: _Access) -> int:
        if access.wavefronts:
            return access.wavefronts
        words = access.words * self.sizes[access.array] // WORD_BYTES
        if access.width == 1:
            return _passes(words)
        return _wide_passes(words) if len(words) == WARP_SIZE else -(-len(words) * access.width // BANKS)

    def _wide(self, pattern: int, words: np.ndarray) -> int:
        """The wavefronts of a load of four words a lane; shifting all lanes by 16 bytes changes none."""
        if pattern not in self.wide:
            self.wide[pattern] = _wide_passes(words)
        return self.wide[pattern]

    def _sectors(self, access: _Access) -> tuple[tuple[str, int], ...]:
        size = self.sizes[access.array]
        first = access.words * size
        whole = np.unique(np.concatenate([first, first + (access.width - 1) * size]) // SECTOR_BYTES)
        return tuple((access.array, sector) for sector in whole.tolist())

    # --- order ------------------------------------------------------------------------------------------------

    def _emit(self, instruction: Instruction, access: _Access | None = None) -> int:
        """Append to the region; four loads of neighbouring words become one. Return the position."""
        if instruction.kind == "shared load" and access is not None:
            merged = self._merge(instruction, access)
            if merged is not None:
                return merged
        self.region.append(instruction._replace(turn=self.turn))
        return len(self.out) + len(self.region) - 1

    def _merge(self, instruction: Instruction, access: _Access) -> int | None:
        """Return the position of a load of 16 bytes that this load is a part of, or None; note it as a beginning."""
        if access.width > 1 or access.lanes < WARP_SIZE:
            return None
        words = access.words
        begun = getattr(self, "_begun", {})
        start = begun.get((instruction.line, access.array))
        if start is not None:
            position, first, count, pattern = start
            if position >= len(self.out) and count < 4 and (words == first + count).all():
                if count == 1:
                    wide = self.region[position - len(self.out)]._replace(
                        wavefronts=self._wide(pattern, first), bytes=16
                    )
                    self.region[position - len(self.out)] = wide
                begun[instruction.line, access.array] = position, first, count + 1, pattern
                return int(position)
        if (words % 4 == 0).all():
            begun[instruction.line, access.array] = len(self.out) + len(self.region), words, 1, access.pattern
        self._begun = begun
        return None

    def _flush(self) -> None:
        """Put the region in order: loads ahead of what does not need them, at most AHEAD of them unused."""
        base = len(self.out)
        last_use = {p: i for i, instruction in enumerate(self.region) for p in instruction.needs}
        early = {i for i, ins in enumerate(self.region) if ins.kind in ("load", "shared load", "copy")}
        for i in reversed(range(len(self.region))):  # the arithmetic of their indices goes with them
            if i in early:
                needed = (p - base for p in self.region[i].needs if p >= base)
                early |= {p for p in needed if self.region[p].kind == "index"}
        loads = [i for i in range(len(self.region)) if i in early]
        others = [i for i in range(len(self.region)) if i not in early]
        order: list[int] = []
        placed: set[int] = set()
        waiting: set[int] = set()

        def ready(i: int) -> bool:
            return all(p < base or p - base in placed for p in self.region[i].needs)

        while loads or others:
            take_load = loads and ready(loads[0]) and (len(waiting) < AHEAD or not others or not ready(others[0]))
            i = loads.pop(0) if take_load or not others else others.pop(0)
            order.append(i)
            placed.add(i)
            if i in early and self.region[i].kind != "index" and base + i in last_use:
                waiting.add(i)
            waiting -= {w for w in waiting if last_use[base + w] in placed}
        place = {old: base + new for new, old in enumerate(order)}
        for i in order:
            needs = tuple(sorted({p if p < base else place[p - base] for p in self.region[i].needs}))
            self.out.append(self.region[i]._replace(needs=needs))
        for key, positions in self.made.items():
            if any(p >= base for p in positions):
                self.made[key] = tuple(p if p < base else place[p - base] for p in positions)
        for group in self.groups:
            group[:] = [p if p < base else place[p - base] for p in group]
        self.region = []
        self._begun = {}


def _multiplies(node: ast.AST) -> bool:
    """Whether a statement is a multiply-add: it adds a product up."""
    return isinstance(node, ast.AugAssign) and any(isinstance(n, ast.Mult) for n in ast.walk(node.value))


def _multiplies_within(plain: Callable[..., Any]) -> bool:
    """Whether a function, or one that it calls, has a multiply-add."""
    closure = inspect.getclosurevars(plain)
    called = (getattr(value, "py_func", None) for value in (*closure.globals.values(), *closure.nonlocals.values()))
    tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
    return any(map(_multiplies, ast.walk(tree))) or any(_multiplies_within(f) for f in called if f not in (None, plain))


def _subscript(node: ast.AST, array: str) -> tuple[str, list[ast.expr], bool]:
    """Return how a statement indexes an array, "signed" or "unsigned", by what, and whether a function guards it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
            if part.value.id == array:
                parts = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
                return ("unsigned" if "uint" in ast.dump(part.slice) else "signed"), parts, False
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and len(part.args) >= 3:
            guards = part.func.id not in ("load4", "store4")
            return "unsigned", part.args[1:3], guards and "shared" not in array
    return "signed", [n for n in ast.walk(node) if isinstance(n, ast.Name)], False
