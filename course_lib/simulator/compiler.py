"""From a kernel's syntax tree to Python source over lane vectors.

Every warp runs the generated function as a generator that is suspended at barriers. Control flow turns into
masks: an ``if`` runs the branches that have active lanes, a loop runs while it has any. Types are numba's, found
while the code is generated: each version of a variable has a type of its own, and versions are unified where
control flow merges.

The generated code of ``if row < M: acc = acc + A[row, k]``, in a loop whose mask is m6, is::

    m7, m8 = split(m6, (v_row_i64 < v_M_i64))
    if m7 is not False:
        t9 = S0.load(v_A_Af322, (v_row_i64, v_k_i64,), m7)
        t10 = (v_acc_f32 + t9)
        v_acc_f32 = t10 if m7 is a else blend(m7, t10, v_acc_f32)

Its names are m for masks, t for values, v for versions of variables (the name, and the type in short), k for
constants, S for the sites of accesses (:mod:`access`), l for the lanes that are still in a loop and n for its
iterations. ``a`` is the mask at the start of the region outside which a variable is not read (:mod:`liveness`): where
all of its lanes take part, the old value is needed no more, and nothing is blended.

This module compiles statements; :mod:`expressions`, :mod:`conditions`, :mod:`tuples` and :mod:`intrinsics` compile the
expressions in them, as base classes of :class:`Function`. What the generated code calls is in :mod:`runtime` and
:mod:`warp`.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from . import typing_rules
from .expressions import Expressions
from .findings import UnsupportedKernelError
from .frontend import Source
from .liveness import Regions, assigned_names, exits
from .machine import runtime
from .typing_rules import TypingError
from .values import (
    COMPILE_TIME,
    CONFLICT,
    MISSING,
    NONE,
    ArrayType,
    DeviceFunction,
    Promotion,
    TupleType,
    Value,
    Variable,
    describe_type,
    merge,
    unify_types,
    version_name,
)

#: A loop is compiled anew until its types settle, but no more often than this.
MOST_PASSES = 12
#: Statements that no kernel may hold, and what to write instead.
REFUSED = {
    ast.Try: "try/except does not exist in a kernel; check the condition with if",
    ast.TryStar: "try/except does not exist in a kernel; check the condition with if",
    ast.With: "with does not exist in a kernel; write the statements without it",
    ast.AsyncWith: "async does not exist in a kernel; leave it out",
    ast.AsyncFor: "async does not exist in a kernel; leave it out",
    ast.AsyncFunctionDef: "async does not exist in a kernel; define a function outside with @cuda.jit(device=True)",
    ast.Raise: "the simulator does not run raise; use an if and return early",
    ast.Assert: "the simulator does not run assert; check the values after the launch",
    ast.FunctionDef: "a function cannot be defined inside a kernel; define it outside with @cuda.jit(device=True)",
    ast.ClassDef: "a class cannot be defined inside a kernel; use variables, tuples and arrays",
    ast.Delete: "del does not exist in a kernel; leave it out",
    ast.Import: "import does not exist in a kernel; import above the function",
    ast.ImportFrom: "import does not exist in a kernel; import above the function",
    ast.Global: "a kernel reads globals without a global statement, and cannot assign them; leave it out",
    ast.Nonlocal: "a kernel reads outer variables without nonlocal, and cannot assign them; leave it out",
    ast.Match: "the simulator does not run match; write if/elif/else",
}


class Unit:
    """The generated module of one launch: a kernel, its device functions, their sites and constants.

    ``promotions`` is what was computed in float64 by accident, by line and operand. A pass that is repeated with wider
    types may no longer see it: what the earlier passes saw is kept in ``suspected`` until a later one confirms it.
    """

    def __init__(self, launch, tracing: bool):
        self.launch, self.tracing = launch, tracing
        self.sites: list[tuple[int, str, int]] = []  # (line, op, elements a lane)
        self.arrays: list[str] = []  # the names of shared and local arrays, by their number
        self.constants: dict[str, object] = {}
        self.functions: list[str] = []
        self.device: dict[tuple, DeviceFunction] = {}
        self.promotions: dict[tuple, Promotion] = {}
        self.suspected: dict[tuple, Promotion] = {}
        self.device_names = 0
        self.sources: list[Source] = []  # of the kernel and of the device functions that share its file
        self.written: set[str] = set()  # arguments that the kernel stores to under their own names
        self.writes_unknown = False  # the kernel stores under another name too, or in a device function
        self.fences = False  # the kernel calls threadfence
        self.local_bytes = 0  # local memory of one thread
        self.static_shared: dict[int, tuple[str, int, int, int]] = {}  # array number: (name, bytes, elements, line)
        self._by_value: dict[tuple, str] = {}

    def constant(self, value: np.generic) -> str:
        """The name under which the generated code finds a NumPy scalar."""
        key = (value.dtype.name, value.tobytes())
        if key not in self._by_value:
            self._by_value[key] = f"k{len(self.constants)}"
            self.constants[self._by_value[key]] = value
        return self._by_value[key]

    def site(self, line: int, op: str, width: int = 1) -> str:
        self.sites.append((line, op, width))
        return f"S{len(self.sites) - 1}"

    def may_write(self, argument: str) -> bool:
        """Can the kernel store to this argument?"""
        return self.writes_unknown or argument in self.written

    def dtype(self, name: str) -> str:
        self.constants[f"d_{name}"] = typing_rules.DTYPE[name]
        return f"d_{name}"

    def build(self, kernel: str):
        """Return ``make(sites) -> kernel function``."""
        names = "".join(f"    S{i}" + ",\n" for i in range(len(self.sites)))
        head = f"def make(sites):\n    ({names}) = sites\n" if names else "def make(sites):\n"
        text = head + "".join(self.functions) + f"    return {kernel}\n"
        scope = {name: getattr(runtime, name) for name in vars(runtime) if not name.startswith("__")}
        scope.update(self.constants)
        exec(compile(text, "<simulated kernel>", "exec"), scope)
        self.text = text
        return scope["make"]


class Function(Expressions):
    """Compiles one function for given argument types. ``do_<node>`` compiles a statement of Python's syntax tree."""

    def __init__(self, unit: Unit, source: Source, arguments: list[Variable], kernel: bool, stack: tuple = ()):
        self.unit, self.source, self.kernel = unit, source, kernel
        self.stack = (*stack, source.function)
        self.given = arguments
        self.regions = Regions(source.tree)
        self.parameters = {a.arg for a in source.tree.args.args}
        self.locals = assigned_names(source.tree.body) | self.parameters
        self.tracked: set[str] = set()  # variables that may be read unassigned
        if source not in unit.sources and (kernel or source.filename == unit.sources[0].filename):
            unit.sources.append(source)
        self.result_type = None
        self.barriers = False

    # --- the whole function ------------------------------------------------------------------------------

    def compile(self, name: str) -> None:
        """Generate the function under ``name``; repeated until the types it depends on are settled."""
        while True:
            tracked, result, before = set(self.tracked), self.result_type, self._snapshot()
            body = self._generate(name)
            if self.tracked == tracked and self.result_type == result:
                self.unit.functions.append(body)
                return
            self._restore(before)

    def _snapshot(self):
        unit = self.unit
        return (
            len(unit.sites),
            len(unit.arrays),
            len(unit.functions),
            dict(unit.device),
            dict(unit.promotions),
            dict(unit.static_shared),
        )

    def _restore(self, snapshot):
        unit = self.unit
        sites, arrays, functions, device, promotions, static = snapshot
        del unit.sites[sites:], unit.arrays[arrays:], unit.functions[functions:]
        unit.suspected.update({(p.line, p.expression): p for p in unit.promotions.values()})
        unit.device, unit.promotions, unit.static_shared = device, promotions, static

    def _generate(self, name: str) -> str:
        self.counter = 0
        self.env: dict[str, Variable] = {}
        self.lines: list[str] = []
        self.indent = 2
        self.mask = "m"
        self.anchors = {id(self.source.tree.body): "a"}
        self.loops: list[Loop] = []
        self.position = 0
        self.path: list[str] = []
        self.branch_lines: list[int] = []
        self.barriers = self.calls = False
        self.results: list[tuple[object, str | None]] = []
        self.versions: set[str] = set()
        self.own_arrays: list[int] = []  # the numbers of its local arrays
        parameters = [a.arg for a in self.source.tree.args.args]
        for parameter, argument in zip(parameters, self.given, strict=True):
            self.env[parameter] = argument
        mangled = [self.mangle(p, self.env[p].type) for p in parameters]
        terminated = self.block(self.source.tree.body)
        if not self.kernel and not terminated and self.results and self.results[0][0] != NONE:
            self.refuse(
                self.source.tree, "this device function does not return a value on every path; end it with a return"
            )
        head = f"    def {name}(w, m, path{''.join(', ' + p for p in mangled)}):\n"
        locals_ = sorted(self.versions - set(mangled))
        start = ["a = m", "r = False"]
        if locals_:
            start.append(" = ".join(locals_) + " = None")
        if self.tracked:
            start.append(" = ".join(f"h_{t}" for t in sorted(self.tracked)) + " = False")
        if not self.kernel:
            start.append("result = None")
            if self.own_arrays:
                start.append(f"w.drop_local({', '.join(map(str, self.own_arrays))})")
            self.result_type = self._unified_results()
        text = head + "".join(f"        {s}\n" for s in start) + "".join(self.lines)
        if not self.kernel:
            text += "        return result\n"
        if self.kernel and not self.barriers:
            text += "        return\n        yield\n"
        return text

    def _unified_results(self):
        kinds = [k for k, _ in self.results] or [NONE]
        result = kinds[0]
        for kind in kinds[1:]:
            result = unify_types(result, kind)
        if result == CONFLICT:
            returned = " on one path and ".join(map(describe_type, dict.fromkeys(kinds)))
            self.refuse(
                self.source.tree,
                f"this device function returns {returned} on another; return one kind of value on every path",
            )
        return result

    # --- small services ----------------------------------------------------------------------------------

    def refuse(self, node: ast.AST, text: str):
        raise UnsupportedKernelError(text, getattr(node, "own_line", None) or getattr(node, "lineno", None))

    def emit(self, code: str):
        self.lines.append("    " * self.indent + code + "\n")

    def fresh(self, letter: str) -> str:
        self.counter += 1
        return f"{letter}{self.counter}"

    def mangle(self, name: str, kind) -> str:
        """The Python variable that holds the version of ``name`` that has type ``kind``, which is to exist."""
        version = version_name(name, kind)
        self.versions.add(version)
        return version

    @contextmanager
    def under(self, mask: str):
        """Compile for the lanes of ``mask``, one level deeper, into lines of their own: the list that it yields."""
        outer = self.lines, self.mask
        self.lines, self.mask = [], mask
        self.indent += 1
        yield self.lines
        self.indent -= 1
        self.lines, self.mask = outer

    def blended(self, mask: str, new: str, old: str, kind, line: int) -> str:
        """Code of ``new`` in the lanes of ``mask`` and ``old`` in the others, both of type ``kind``."""
        if kind in typing_rules.SCALARS:
            return f"blend({mask}, {new}, {old})"
        return f"choose({mask}, {new}, {old}, {line})"

    def anchor(self, name: str) -> str:
        """The name of the mask with which the home of variable ``name`` begins."""
        return self.anchors.get(self.regions.home.get(name), "a")

    # --- statements --------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt], start: int = 0) -> bool:
        """Compile ``body[start:]``; True if no lane reaches its end."""
        for i in range(start, len(body)):
            statement = body[i]
            self.line = statement.lineno
            if (
                self.unit.tracing
                and not isinstance(statement, (ast.Pass, ast.While, ast.For))
                and not docstring(statement)
            ):
                self.emit(f"w.statement({statement.lineno}, {self.mask})")
            handler = getattr(self, f"do_{type(statement).__name__}", None)
            if handler is None:
                reason = REFUSED.get(
                    type(statement),
                    f"the simulator does not run {type(statement).__name__} "
                    "statements; write assignments, if, for and while",
                )
                self.refuse(statement, reason)
            try:
                terminated = handler(statement)
            except TypingError as error:
                self.refuse(statement, str(error))
            if terminated:
                return True
            if i + 1 < len(body) and exits([statement], (ast.Return, ast.Break, ast.Continue)):
                if not exits([statement], (ast.Break, ast.Continue)):
                    # lanes that returned read nothing any more: what is left is the whole of this region
                    self.anchors[id(body)] = self.fresh("a")
                    self.emit(f"{self.anchors[id(body)]} = {self.mask}")
                self.emit(f"if {self.mask} is not False:")
                self.indent += 1
                terminated = self.block(body, i + 1)
                self.indent -= 1
                return terminated
        return False

    def do_Pass(self, node):
        return False

    def do_Expr(self, node):
        if docstring(node):
            return False
        if isinstance(node.value, (ast.Yield, ast.YieldFrom, ast.Await)):
            self.expr(node.value)  # refused
        if not isinstance(node.value, ast.Call):
            self.refuse(node, "this expression has no effect; assign it to a variable or an array element")
        self.statement_call(node.value)
        return False

    def do_Assign(self, node):
        allocation = self.allocation(node)
        if allocation is not None:
            self.assign_name(node.targets[0].id, allocation, node)
            return False
        value = self.expr(node.value)
        if len(node.targets) > 1:
            value = self.saved(value)
        for target in node.targets:
            self.assign(target, value, node)
        return False

    def do_AnnAssign(self, node):
        if node.value is None:
            return False
        return self.do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def do_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            left = self.expr(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
            value = self.binary(node, type(node.op).__name__, left, self.expr(node.value), node.target, node.value)
            self.assign_name(node.target.id, value, node)
        elif isinstance(node.target, ast.Subscript):
            array, index = self.element(node.target)
            index = tuple(self.saved(i) for i in index)
            left = self.load(node.target, array, index)
            right = self.expr(node.value)
            value = self.binary(node, type(node.op).__name__, left, right, node.target, node.value)
            self.store(node.target, array, index, value)
        else:
            self.refuse_target(node.target)
        return False

    def assign(self, target, value: Value, node):
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, node)
        elif isinstance(target, ast.Subscript):
            if not value.is_scalar and target in node.targets:
                self.refuse_as_number(node.value, value)
            array, index = self.element(target)
            self.store(target, array, index, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(e, ast.Starred) for e in target.elts):
                self.refuse(node, "* cannot collect items in a kernel; name each item")
            if not isinstance(value.type, TupleType) or len(value.type.items) != len(target.elts):
                self.refuse(
                    node,
                    f"{ast.unparse(target)} stands for {len(target.elts)} values and is given "
                    f"{describe_type(value.type)}; write one name for each item of a tuple",
                )
            items = [self.saved(self.item(value, i), force=True) for i in range(len(target.elts))]
            for element, item in zip(target.elts, items, strict=True):
                self.assign(element, item, node)
        else:
            self.refuse_target(target)

    def refuse_target(self, target):
        self.refuse(
            target, f"{ast.unparse(target)} cannot be assigned in a kernel; assign to a variable or to an array element"
        )

    def assign_name(self, name: str, value: Value, node):
        if isinstance(value.type, ArrayType) and not value.code.startswith("w."):
            self.unit.writes_unknown = True  # the array has two names now, and may be stored to under either
        if value.type == COMPILE_TIME:  # another name for cuda.threadIdx, a device function, a type
            self.env[name] = Variable(COMPILE_TIME, None, value.const)
            return
        version = self.mangle(name, value.type)
        anchor = self.anchor(name)
        if anchor == self.mask:
            self.emit(f"{version} = {value.code}")
        else:
            code = value.code
            if not code.isidentifier():
                code = self.fresh("t")
                self.emit(f"{code} = {value.code}")
            self.emit(
                f"{version} = {code} if {self.mask} is {anchor} else "
                f"{self.blended(self.mask, code, version, value.type, node.lineno)}"
            )
        const = value.const if value.is_const and isinstance(value.const, (int, float, np.generic)) else MISSING
        if not value.literal:
            const = MISSING
        self.env[name] = Variable(value.type, value.origin, const)
        if name in self.tracked:
            self.emit(f"h_{name} = unite(h_{name}, {self.mask})")
        if self.unit.tracing and value.is_scalar:
            self.emit(f"w.assigned({name!r}, {version}, {self.mask})")

    def convert(self, name: str, have: Variable, want: Variable, mask: str):
        """Bring variable ``name`` to its unified type in the lanes of ``mask``."""
        if have.type == want.type or want.type == CONFLICT:
            return
        if unify_types(have.type, want.type) != want.type:
            return  # the loop is compiled again, with a type that holds both
        old, new = self.mangle(name, have.type), self.mangle(name, want.type)
        code = self.converted(Value(old, have.type), want.type)
        # nothing is to convert where no lane is left, or where none has assigned the version
        self.emit(
            f"if {mask} is not False and {old} is not None: "
            f"{new} = {self.blended(mask, code, new, want.type, self.line)}"
        )

    def reconcile(self, have: dict, want: dict, mask: str):
        """Bring the variables ``have`` to the types that they have in ``want``, in the lanes of ``mask``."""
        for name, variable in have.items():
            if name in want:
                self.convert(name, variable, want[name], mask)

    # --- if ------------------------------------------------------------------------------------------------

    def do_If(self, node):
        condition = self.condition(node.test)
        if condition.is_const and condition.literal:
            # numba drops the branch of a compile-time constant too
            return (
                self.block(node.body if condition.const else node.orelse) if (condition.const or node.orelse) else False
            )
        before, yes, no = self.mask, self.fresh("m"), self.fresh("m")
        self.emit(f"{yes}, {no} = split({before}, {condition.code})")
        env = dict(self.env)
        leaves = exits([node], (ast.Return, ast.Break, ast.Continue))
        if leaves:
            self.emit(f"{yes}0, {no}0 = {yes}, {no}")
        self.branch_lines.append(node.lineno)
        ends, envs, codes = [], [], []
        for mask, body in ((yes, node.body), (no, node.orelse)):
            self.env = dict(env)
            with self.under(mask) as code:
                self.anchors[id(body)] = f"{mask}a" if leaves else mask
                if leaves:
                    self.emit(f"{mask}a = {mask}")
                ends.append(self.block(body))
            codes.append(code)
            envs.append(self.env)
        self.branch_lines.pop()
        if all(ends):
            joined = env
        elif ends[0] or ends[1]:
            joined = envs[ends[0]]
        else:
            joined = {name: merge(envs[0].get(name), envs[1].get(name)) for name in {**envs[0], **envs[1]}}
        for mask, end, branch_env, code in zip((yes, no), ends, envs, codes, strict=True):
            with self.under(mask) as conversions:
                if not end:
                    self.reconcile(branch_env, joined, mask)
            if code or conversions:
                self.emit(f"if {mask} is not False:")
                self.lines += code + conversions
        self.env = joined
        if leaves:
            self.emit(f"{before} = join({before}, {yes}0, {no}0, {yes}, {no})")
        return all(ends)

    # --- loops -----------------------------------------------------------------------------------------------

    def do_For(self, node):
        live, value = self.fresh("l"), self.fresh("t")
        items = self.iterable(node.iter, live, not exits(node.body, (ast.Break, ast.Return)))
        self.emit(f"{live} = [{self.mask}]")

        def begin(mask, counter):
            self.emit(f"for {value}, {mask} in {items.code}:")

        def first():
            if self.unit.tracing:
                self.emit(f"w.statement({node.lineno}, {self.mask})")
            self.assign(node.target, items.item(value), node)

        return self._loop(node, Loop(live), begin, first)

    def do_While(self, node):
        live = self.fresh("l")
        self.emit(f"{live} = [{self.mask}]")
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        loop = Loop(live, endless=endless)

        def begin(mask, counter):
            self.emit(f"while {live}[0] is not False:")
            self.indent += 1
            self.mask = mask
            self.emit(f"w.steps.spend({node.lineno}, {counter})")
            self.emit(f"{mask} = {live}[0]")
            if self.unit.tracing:
                self.emit(f"w.statement({node.lineno}, {mask})")
            condition = self.condition(node.test)
            self.emit(f"{mask}, _ = split({mask}, {condition.code})")
            self.emit(f"if {mask} is False: break")
            self.emit(f"{live}[0] = {mask}")
            self.indent -= 1

        return self._loop(node, loop, begin, lambda: None)

    def _loop(self, node, loop, begin, first):
        """Compile a loop, anew until the types with which an iteration begins and ends agree.

        ``begin(mask, counter)`` emits its head, and ``first()`` what an iteration does before the body.
        """
        before, entry = self.mask, dict(self.env)
        changed = assigned_names([node])
        header = {name: v.without_const() if name in changed else v for name, v in entry.items()}
        start = len(self.lines)
        leaves = exits(node.body, (ast.Return, ast.Break, ast.Continue))
        returns = exits(node.body, (ast.Return,))
        counter = self.fresh("n")
        position = self._next_position()
        for _ in range(MOST_PASSES):
            snapshot, state = self._snapshot(), (self.counter, self.position, self.barriers, self.calls)
            self.barriers = self.calls = False
            self.env = dict(header)
            self.reconcile(entry, header, before)
            self.emit(f"{counter} = 0")
            mask = self.fresh("m")
            begin(mask, counter)
            self.indent += 1
            self.mask = mask
            if leaves:
                self.emit(f"{mask}a = {mask}")
            self.anchors[id(node.body)] = f"{mask}a" if leaves else mask
            loop.header, loop.edges, loop.breaks = header, [header], []
            self.loops.append(loop)
            self.path += [str(position), counter]
            self.branch_lines.append(node.lineno)
            first()
            if not self.block(node.body):
                loop.edges.append(self.env)
                self.reconcile(self.env, header, self.mask)
            self.branch_lines.pop()
            del self.path[-2:]
            self.loops.pop()
            self.emit(f"{counter} += 1")
            if isinstance(node, ast.While) and not (self.barriers or self.calls):
                self._watch_for_standstill(node, loop, counter, range(snapshot[0], len(self.unit.sites)), changed)
            self.barriers, self.calls = self.barriers or state[2], self.calls or state[3]
            if loop.broken:
                self.emit(f"{loop.live}[0] = minus({loop.live}[0], {loop.live}b)")
            if returns:
                self.emit(f"{loop.live}[0] = minus({loop.live}[0], r)")
            self.indent -= 1
            merged = loop.merged_edges()
            if merged == header:
                self.mask = before
                if returns:
                    self.emit(f"{before} = minus({before}, r)")
                if self._after_loop(node, loop, before):
                    break
            header = merged
            del self.lines[start:]
            self._restore(snapshot)
            self.counter, self.position, self.barriers, self.calls = state
            loop.broken = False
        else:
            self.refuse(
                node,
                "the types of this loop's variables change in every iteration; give each variable the "
                "type that it keeps before the loop, as in x = float32(0)",
            )
        if loop.broken:
            self.lines.insert(start, "    " * self.indent + f"{loop.live}b = False\n")
        self.env = header if loop.after is None else loop.after
        self.mask = before
        return loop.ends

    def _watch_for_standstill(self, node, loop, counter: str, sites: range, changed: set[str]):
        """Emit the check at the end of an iteration of a while loop that waits for what no other thread can change."""
        accesses = "".join(f"S{i}, " for i in sites)
        values = "".join(
            f"{self.mangle(name, variable.type)}, "
            for name, variable in self.env.items()
            if name in changed and isinstance(variable.type, str)
        )
        self.emit(f"w.steps.waits({counter}, ({accesses}), ({values}), {loop.live}[0], {node.lineno})")

    def _after_loop(self, node, loop, before: str) -> bool:
        """Compile a loop's else, and what its lanes and those that broke have in common where they meet.

        False if the types there were not known when the breaks were compiled: the loop is then compiled again.
        """
        envs = list(loop.breaks)
        used = loop.header if loop.after is None else loop.after
        if not loop.endless and (loop.broken or node.orelse):
            normal, leaves = self.fresh("m"), exits(node.orelse, (ast.Return, ast.Break, ast.Continue))
            self.emit(f"{normal} = minus({before}, {loop.live}b)" if loop.broken else f"{normal} = {before}")
            self.emit(f"if {normal} is not False:")
            self.indent += 1
            self.emit(f"{normal}0 = {normal}a = {normal}" if leaves else "pass")
            start = len(self.lines)
            self.anchors[id(node.orelse)] = f"{normal}a" if leaves else normal
            self.env, self.mask = dict(loop.header), normal
            self.branch_lines.append(node.lineno)
            ended = self.block(node.orelse)
            self.branch_lines.pop()
            if not ended:
                envs.append(self.env)
                self.reconcile(self.env, used, normal)
            if leaves:
                self.emit(f"if {normal} is not {normal}0: {before} = minus({before}, minus({normal}0, {normal}))")
            if len(self.lines) == start:
                del self.lines[-3:]  # the mask, the if and its first line: no statement follows them
            self.indent -= 1
        elif not loop.endless:
            envs.append(loop.header)
        loop.ends = not envs
        loop.after = None
        for env in envs:
            after = loop.after or env
            loop.after = {name: merge(after.get(name), env.get(name)) for name in {**after, **env}}
        return all(
            used.get(name, variable).type == loop.after[name].type for env in envs for name, variable in env.items()
        )

    def do_Break(self, node):
        loop = self.loops[-1]
        loop.broken = True
        loop.breaks.append(self.env)
        self.reconcile(self.env, loop.header if loop.after is None else loop.after, self.mask)
        self.emit(f"{loop.live}b = unite({loop.live}b, {self.mask})")
        self.emit(f"{self.mask} = False")
        return True

    def do_Continue(self, node):
        loop = self.loops[-1]
        loop.edges.append(self.env)
        self.reconcile(self.env, loop.header, self.mask)
        self.emit(f"{self.mask} = False")
        return True

    def do_Return(self, node):
        if self.kernel:
            if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
                self.refuse(node, "a kernel cannot return a value; write it to an array")
            self.emit(f"w.returned.append(({self.mask}, {node.lineno}))")
        else:
            value = self.expr(node.value) if node.value is not None else Value("None", NONE)
            self.results.append((value.type, value.origin))
            if value.type != NONE:
                want = self.result_type or value.type
                if want not in (CONFLICT, NONE):
                    code = self.blended(self.mask, self.converted(value, want), "result", want, node.lineno)
                    self.emit(f"result = {code}")
        self.emit(f"r = unite(r, {self.mask})")
        self.emit(f"{self.mask} = False")
        return True

    # --- barriers ----------------------------------------------------------------------------------------------

    def _next_position(self) -> int:
        self.position += 1
        return self.position

    def path_code(self) -> str:
        """Where in program order this execution is: positions and iteration counts, outermost first."""
        return f"(*path, {', '.join([*self.path, str(self._next_position())])})"

    def barrier(self, node, reduction: str = "None") -> str:
        self.barriers = True
        branch = self.branch_lines[-1] if self.branch_lines else None
        return f"(yield Barrier({self.path_code()}, {node.lineno}, {branch}, {self.mask}, {reduction}))"


@dataclass
class Loop:
    """A loop that is being compiled. Each dict holds the variables at one point of it, by name."""

    live: str  # the list in the generated code that holds the mask of the lanes still in the loop
    endless: bool = False  # ``while True``: what follows it is reached from its breaks only, and has their types
    broken: bool = False  # it has a break
    ends: bool = False  # no lane gets past it
    header: dict | None = None  # where an iteration begins
    edges: list | None = None  # where it is reached from: from before the loop, and from the ends of iterations
    breaks: list | None = None  # where lanes break
    after: dict | None = None  # where the lanes that broke meet those that ran to the end

    def merged_edges(self) -> dict[str, Variable]:
        """The variables of all edges; one that only an iteration assigns may be unassigned."""
        merged = dict(self.edges[0])
        for edge in self.edges[1:]:
            for name, variable in edge.items():
                merged[name] = (
                    merge(merged[name], variable) if name in merged else replace(variable, maybe=True, const=MISSING)
                )
        return merged


def docstring(node) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
