"""From a typed program to Python source over lane vectors, in one pass.

Every warp runs the generated function as a generator that is suspended at barriers. Control flow turns into
masks: an ``if`` runs the branches that have active lanes, a loop runs while it has any. The generated code of
``if row < M: acc = acc + A[row, k]``, in a loop whose mask is m6, is::

    m7, m8 = split(m6, (v_row_i64 < v_M_i64))
    if m7 is not False:
        t9 = S0.load(v_A_Af322, (v_row_i64, v_k_i64,), m7)
        t10 = (v_acc_f32 + t9)
        v_acc_f32 = t10 if m7 is a else blend(m7, t10, v_acc_f32)

Its names are m for masks, t for values, v for versions of variables (the name, and the type in short), k for
constants, S for the sites of accesses (:mod:`~course_lib.simulator.machine.access`), g for device functions, l for the
lanes that are still in a loop and n for its iterations. ``a`` is the mask at the start of the region outside which a
variable is not read (:mod:`~course_lib.simulator.language.regions`): where all of its lanes take part, the old value is
needed no more, and nothing is blended. ``L`` is the line of the call, to which all that a function of another file
does belongs.

Whatever has an effect (a load, a call, an atomic) is a statement of its own, in order and under the mask of the lanes
that evaluate it; what is left as an expression is pure arithmetic. What the generated code calls is in
:mod:`~course_lib.simulator.machine`: masks, loops, arithmetic, warp and access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

import numpy as np

from ..language.program import (
    Allocate,
    Alternative,
    Alternatives,
    Apply,
    Assign,
    Atomic,
    Block,
    Bound,
    Break,
    CallDevice,
    CallWarp,
    Cast,
    Choice,
    Const,
    Continue,
    Convert,
    Copy,
    Each,
    Evaluate,
    Expr,
    Frozen,
    Function,
    If,
    Item,
    ItemAt,
    Iterable,
    Load,
    Local,
    Logical,
    Loop,
    MakeTuple,
    Mark,
    Meet,
    Nothing,
    Numbered,
    Range,
    Return,
    Saved,
    Select,
    Slice,
    Stmt,
    Store,
    Together,
    View,
)
from ..language.types import DTYPE, NONE, SCALARS, ArrayType, TupleType, Type
from ..machine.memory import ConstantArray

LEAVING = (Return, Break, Continue)


class Code(NamedTuple):
    """Code of a value; ``name``: it is a name, and ``kept``: one that keeps its value."""

    text: str
    name: bool = False
    kept: bool = False


@dataclass(eq=False)
class Template:
    """The code of one function. Its sites, and the functions it calls, are given when it is made for a line of call.

    ``sites`` are (line, op, elements a lane), ``calls`` (template, line) and ``shared`` (number, name, bytes, elements,
    line); a line that is None is that of the call. ``local_bytes`` is what its local arrays take in each thread.
    """

    name: str
    function: Function
    text: str = ""
    sites: list[tuple[int | None, str, int]] = field(default_factory=list)
    calls: list[tuple[Template, int | None]] = field(default_factory=list)
    shared: list[tuple[int, str, int, int, int | None]] = field(default_factory=list)
    local_bytes: int = 0


class Module:
    """The generated module of a launch: the code of its functions, and the constants they name."""

    def __init__(self, tracing: bool):
        self.tracing = tracing
        self.constants: dict[str, object] = {}
        self.templates: dict[Function, Template] = {}
        self.outside: dict[tuple[str, int], tuple[ConstantArray, str]] = {}
        self.arrays = 0  # shared and local arrays, which are numbered
        self._by_value: dict[tuple[str, bytes], str] = {}

    def constant(self, value: np.generic) -> str:
        """The name under which the generated code finds a NumPy scalar."""
        key = (value.dtype.name, value.tobytes())
        if key not in self._by_value:
            self._by_value[key] = self.named(value)
        return self._by_value[key]

    def named(self, thing: object) -> str:
        """A name under which the generated code finds an object."""
        name = f"k{len(self.constants)}"
        self.constants[name] = thing
        return name

    def frozen(self, node: Frozen) -> str:
        """The name under which the generated code finds an array from outside."""
        key = (node.name, id(node.array))
        if key not in self.outside:
            self.outside[key] = ConstantArray(node.name, node.array), self.named(None)
            self.constants[self.outside[key][1]] = self.outside[key][0]
        return self.outside[key][1]

    def dtype(self, name: str) -> str:
        self.constants[f"d_{name}"] = DTYPE[name]
        return f"d_{name}"

    def template(self, function: Function) -> Template:
        """The code of a function, written once."""
        if function not in self.templates:
            name = "kernel" if function.kernel else f"f{len(self.templates)}_{function.name}"
            template = Template(name, function)
            FunctionWriter(self, template).write()
            self.templates[function] = template
        return self.templates[function]


class FunctionWriter:
    """Writes one function, node by node."""

    def __init__(self, module: Module, template: Template):
        self.module, self.template, self.function = module, template, template.function
        self.counter = self.position = 0
        self.lines: list[str] = []
        self.indent = 2
        self.mask = "m"
        self.anchors = {self.function.body.region: "a"}
        self.loops: list[str] = []  # the lists of the lanes in each open loop
        self.path: list[str] = []
        self.branches: list[str] = []
        self.versions: set[str] = set()
        self.saved: dict[Saved, Code] = {}
        self.own_arrays: list[int] = []
        self.callees: dict[tuple[Template, int | None], str] = {}
        self.bound = ""

    def write(self) -> None:
        function = self.function
        parameters = [self.version(name, kind) for name, kind in function.parameters]
        self.block(function.body)
        start = ["a = m", "r = False"]
        others = sorted(self.versions - set(parameters))
        if others:
            start.append(" = ".join(others) + " = None")
        if function.unsure:
            start.append(" = ".join(f"h_{name}" for name in sorted(function.unsure)) + " = False")
        if not function.kernel:
            start.append("result = None")
            if function.partial:
                start.append("h = False")
            if self.own_arrays:
                start.append(f"w.drop_local({', '.join(map(str, self.own_arrays))})")
        head = f"    def {self.template.name}({', '.join(('w', 'm', 'path', *parameters))}):\n"
        body = "".join(f"        {line}\n" for line in start) + "".join(self.lines)
        if not function.kernel:
            body += f"        return {'result, h' if function.partial else 'result'}\n"
        elif not function.barriers:
            body += "        return\n        yield\n"
        sites = "".join(f"S{i}, " for i in range(len(self.template.sites)))
        calls = "".join(f"g{i}, " for i in range(len(self.template.calls)))
        unpack = (f"    ({sites}) = sites\n" if sites else "") + (f"    ({calls}) = functions\n" if calls else "")
        made = f"    return {self.template.name}\n"
        self.template.text = f"def make_{self.template.name}(sites, functions, L):\n{unpack}{head}{body}{made}"

    # --- small services ----------------------------------------------------------------------------------

    def emit(self, code: str) -> None:
        self.lines.append("    " * self.indent + code + "\n")

    def fresh(self, letter: str) -> str:
        self.counter += 1
        return f"{letter}{self.counter}"

    def at(self, line: int) -> str:
        """Code of a line: its number, or the line of the call."""
        return "L" if self.function.foreign else str(line)

    def own(self, line: int) -> int | None:
        return None if self.function.foreign else line

    def version(self, name: str, kind: Type) -> str:
        """The Python variable that holds the version of ``name`` that has type ``kind``, which is to exist."""
        version = f"v_{name}_{tag(kind)}"
        self.versions.add(version)
        return version

    def site(self, line: int, op: str, width: int = 1) -> str:
        self.template.sites.append((self.own(line), op, width))
        return f"S{len(self.template.sites) - 1}"

    def keep(self, code: str) -> Code:
        """Give a value a name of its own."""
        name = self.fresh("t")
        self.emit(f"{name} = {code}")
        return Code(name, True, True)

    @contextmanager
    def under(self, mask: str) -> Iterator[list[str]]:
        """Write for the lanes of ``mask``, one level deeper, into lines of their own: the list that it yields."""
        outer = self.lines, self.mask
        self.lines, self.mask = [], mask
        self.indent += 1
        yield self.lines
        self.indent -= 1
        self.lines, self.mask = outer

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.indent += 1
        yield
        self.indent -= 1

    def blended(self, mask: str, new: str, old: str, kind: Type, line: int) -> str:
        """Code of ``new`` in the lanes of ``mask`` and ``old`` in the others, both of type ``kind``."""
        if kind in SCALARS:
            return f"blend({mask}, {new}, {old})"
        return f"choose({mask}, {new}, {old}, {self.at(line)})"

    def cast(self, code: str, have: Type, want: Type) -> str:
        """Code of a value converted from ``have`` to ``want``."""
        if have == want:
            return code
        if isinstance(have, TupleType) and isinstance(want, TupleType):
            pairs = enumerate(zip(have.items, want.items, strict=True))
            return "(" + "".join(self.cast(f"{code}[{i}]", a, b) + ", " for i, (a, b) in pairs) + ")"
        if isinstance(want, ArrayType):
            return f"as_view({code})"
        return f"cast({code}, {self.module.dtype(str(want))})"

    def place(self) -> str:
        """Where in program order this execution is: positions and iteration counts, outermost first."""
        self.position += 1
        return f"(*path, {', '.join([*self.path, str(self.position)])})"

    # --- expressions ---------------------------------------------------------------------------------------

    def expr(self, node: Expr) -> Code:
        """Write what has an effect; return the code of the value."""
        return EXPRESSIONS[type(node)](self, node)

    def text(self, node: Expr) -> str:
        return self.expr(node).text

    def tuple_text(self, items: tuple[Expr, ...]) -> str:
        return f"({''.join(f'{self.text(item)}, ' for item in items)})"

    def const(self, node: Const) -> Code:
        return Code(self.module.constant(node.value), True, True)

    def local(self, node: Local) -> Code:
        code = self.version(node.name, node.type)
        if node.unsure:
            self.emit(f"w.check_assigned(h_{node.name}, {self.mask}, {node.name!r}, {self.at(node.line)})")
            poison = self.module.constant(DTYPE[str(node.type)].type(0))
            self.emit(f"if {code} is None: {code} = {poison}")
        return Code(code, True)

    def apply(self, node: Apply) -> Code:
        operands = [self.text(a) for a in node.args]
        told = self.module.tracing and node.text and not self.function.foreign
        if told:
            operands = [self.keep(operand).text for operand in operands]
        dtype = self.module.dtype(node.type) if isinstance(node.type, str) and node.type in SCALARS else ""
        code = node.operation.code.format(*operands, mask=self.mask, line=self.at(node.line), dtype=dtype)
        if told:
            truth = self.keep(code)
            what = f"{node.text!r}, {operands[0]}, {operands[1]}, {truth.text}"
            self.emit(f"w.tested({node.line}, {what}, {self.mask})")
            return truth
        if not node.operation.effect:
            return Code(code)
        *before, last = code.split("\n")
        for line in before:
            self.emit(line)
        if node.type == NONE:
            self.emit(last)
            return Code("None")
        return self.keep(last)

    def converted(self, node: Cast) -> Code:
        if isinstance(node.value, MakeTuple) and isinstance(node.type, TupleType):
            pairs = zip(node.value.items, node.type.items, strict=True)
            return Code("(" + "".join(self.cast(self.text(i), i.type, kind) + ", " for i, kind in pairs) + ")")
        code = self.expr(node.value)
        if isinstance(node.type, TupleType) and not code.name:
            code = self.keep(code.text)
        return Code(self.cast(code.text, node.value.type, node.type))

    def save(self, node: Saved) -> Code:
        if node not in self.saved:
            code = self.expr(node.value)
            self.saved[node] = code if code.kept else self.keep(code.text)
        return self.saved[node]

    def make_tuple(self, node: MakeTuple) -> Code:
        return Code(self.tuple_text(node.items))

    def item(self, node: Item) -> Code:
        return Code(f"{self.text(node.value)}[{node.index}]")

    def item_at(self, node: ItemAt) -> Code:
        value, index = self.text(node.value), self.text(node.index)
        return self.keep(f"item_at({value}, {index}, w.full, {self.mask}, {self.at(node.line)}, {node.text!r})")

    def bound_value(self, node: Bound) -> Code:
        return Code(self.bound + "".join(f"[{i}]" for i in node.path))

    def load(self, node: Load) -> Code:
        array, index = self.text(node.array), self.tuple_text(node.index)
        site = self.site(node.line, "load", node.width)
        if is_view(node.array):
            return self.keep(f"load_through({site}, {array}, {index}, {self.mask})")
        return self.keep(f"{site}.load({array}, {index}, {self.mask})")

    def view(self, node: View) -> Code:
        array, parts = self.text(node.array), []
        for part in node.parts:
            if isinstance(part, Slice):
                parts.append(f"({', '.join('None' if b is None else self.text(b) for b in part.bounds)})")
            else:
                parts.append(self.text(part))
        return Code(f"view({array}, ({''.join(f'{part}, ' for part in parts)}), {self.at(node.line)})")

    def store(self, node: Store) -> Code:
        value = self.text(node.value)
        array, index = self.text(node.array), self.tuple_text(node.index)
        site = self.site(node.line, "store", node.width)
        if is_view(node.array):
            self.emit(f"store_through({site}, {array}, {index}, {value}, {self.mask})")
        else:
            self.emit(f"{site}.store({array}, {index}, {value}, {self.mask})")
        return Code("None")

    def atomic(self, node: Atomic) -> Code:
        array, index, values = self.text(node.array), self.tuple_text(node.index), self.tuple_text(node.values)
        site = self.site(node.line, "atomic")
        arguments = f"{node.operation!r}, {array}, {index}, {values}, {self.mask}, {node.used}"
        if is_view(node.array):
            return self.keep(f"atomic_through({site}, {arguments})")
        return self.keep(f"{site}.atomic({arguments})")

    def allocate(self, node: Allocate) -> Code:
        assert isinstance(node.type, ArrayType)
        elements = prod(node.shape)
        number = -1 if node.dynamic else self.module.arrays
        self.module.arrays += not node.dynamic
        size = elements * DTYPE[node.type.dtype].itemsize
        if node.space == "local":
            self.template.local_bytes += size
            self.own_arrays.append(number)
        else:
            self.template.shared.append((number, node.name, size, elements, self.own(node.line)))
        dtype = self.module.dtype(node.type.dtype)
        return Code(f"w.{node.space}_array({number}, {node.name!r}, {dtype}, {node.shape!r}, {self.mask})")

    def frozen(self, node: Frozen) -> Code:
        return Code(self.module.frozen(node), True, True)

    def call_device(self, node: CallDevice) -> Code:
        codes = {i: self.text(node.args[i]) for i in node.written}
        key = (self.module.template(node.function), self.own(node.line) if node.function.foreign else 0)
        if key not in self.callees:
            self.callees[key] = f"g{len(self.template.calls)}"
            self.template.calls.append(key)
        arguments = "".join(f", {codes[i]}" for i in range(len(node.args)))
        call = f"{self.callees[key]}(w, {self.mask}, {self.place()}{arguments})"
        if node.function.barriers:
            call = f"(yield from {call})"
        if not node.function.partial:
            return self.keep(call)
        result, have = self.fresh("t"), self.fresh("h")
        self.emit(f"{result}, {have} = {call}")
        if node.used:
            name = f"the result of {node.function.name}()"
            self.emit(f"w.check_assigned({have}, {self.mask}, {name!r}, {self.at(node.line)})")
            poison = self.module.constant(DTYPE[str(node.type)].type(0))
            self.emit(f"if {result} is None: {result} = {poison}")
        return Code(result, True, True)

    def call_warp(self, node: CallWarp) -> Code:
        values = self.tuple_text(node.args)
        kinds = node.type.items if isinstance(node.type, TupleType) else (node.type,)
        dtypes = "".join(f"{self.module.dtype(str(kind))}, " for kind in kinds)
        function = self.module.named(node.function)
        call = f"w.together({function}, {node.name!r}, {values}, ({dtypes}), {self.mask}, {self.at(node.line)})"
        result = self.keep(call)
        return result if isinstance(node.type, TupleType) else Code(f"{result.text}[0]")

    def copy(self, node: Copy) -> Code:
        target, place = self.text(node.target), self.tuple_text(node.place)
        array, index = self.text(node.array), self.tuple_text(node.index)
        load, store = (self.site(node.line, op, node.width) for op in ("load", "store"))
        self.emit(f"w.copy({load}, {store}, {target}, {place}, {array}, {index}, {self.mask})")
        return Code("None")

    def meet(self, node: Meet) -> Code:
        reduction = "None"
        if node.predicate is not None:
            reduction = f"({node.reduction!r}, {self.text(node.predicate)})"
        branch = self.branches[-1] if self.branches else None
        code = f"(yield Barrier({self.place()}, {self.at(node.line)}, {branch}, {self.mask}, {reduction}))"
        if node.predicate is not None:
            return self.keep(code)
        self.emit(code)
        return Code("None")

    # --- conditions ----------------------------------------------------------------------------------------

    def select(self, node: Select) -> Code:
        test = self.text(node.test)
        if node.is_scalar and not (node.yes.effect or node.no.effect):
            return Code(f"pick({test}, {self.text(node.yes)}, {self.text(node.no)})")
        yes, no, result = self.fresh("m"), self.fresh("m"), self.fresh("t")
        self.emit(f"{result} = None")
        self.emit(f"{yes}, {no} = split({self.mask}, {test})")
        for mask, side in ((yes, node.yes), (no, node.no)):
            self.emit(f"if {mask} is not False:")
            with self.under(mask) as lines:
                code = self.text(side)
                self.emit(f"{result} = {self.blended(mask, code, result, node.type, node.line)}")
            self.lines += lines
        return Code(result, True, True)

    def logical(self, node: Logical) -> Code:
        combine = "both" if node.conjunction else "either"
        first, *rest = node.parts
        left = self.expr(first)
        for part in rest:
            if not part.effect and not self.module.tracing:  # a trace tells only what a lane evaluates
                left = Code(f"{combine}({left.text}, {self.text(part)})")
                continue
            mask, result = self.fresh("m"), self.fresh("t")
            self.emit(f"{result} = {left.text}")
            masks = f"{mask}, {mask}_" if node.conjunction else f"{mask}_, {mask}"
            self.emit(f"{masks} = split({self.mask}, {result})")
            self.emit(f"if {mask} is not False:")
            with self.under(mask) as lines:
                code = self.text(part)
                self.emit(f"{result} = {combine}({result}, {code})")
            self.lines += lines
            left = Code(result, True)
        return left

    def choice(self, node: Choice) -> Code:
        parts: list[tuple[str, str, Type]] = []
        names: list[str] = []
        outer, self.lines = self.lines, []
        self.decide(node.root, parts, names)
        self.lines, lines = outer, self.lines
        self.emit(f"{' = '.join(names)} = False")
        self.lines += lines
        result = self.fresh("t")
        self.emit(f"{result} = None")
        for mask, code, kind in parts:
            self.emit(f"if {mask} is not False: {result} = blend({mask}, {self.cast(code, kind, node.type)}, {result})")
        return Code(result, True, True)

    def decide(
        self, node: Alternative | Alternatives, parts: list[tuple[str, str, Type]], names: list[str]
    ) -> tuple[str | None, str | None]:
        """Evaluate ``node`` under the mask; return the masks of the lanes where it is true and where it is false.

        Each value that can be the result goes to ``parts`` with its mask. The masks that the generated code makes on
        the way go to ``names``: the caller sets them to False first, as not all of it runs.
        """
        if isinstance(node, Alternative):
            return self.alternative(node, parts, names)
        before, depth = self.mask, self.indent
        leaving: list[str] = []
        goes: str | None = None
        for part in node.parts:
            yes, no = self.decide(part, parts, names)
            goes, stays = (yes, no) if node.conjunction else (no, yes)
            if stays is not None:
                leaving.append(stays)
            if part is not node.parts[-1] and goes is not None:
                self.emit(f"if {goes} is not False:")
                self.indent += 1
                self.emit("pass")
                self.mask = goes
        self.mask, self.indent = before, depth
        out = self.fresh("m")
        names.append(out)
        code = leaving[0] if leaving else "False"
        for more in leaving[1:]:
            code = f"unite({code}, {more})"
        self.emit(f"{out} = {code}")
        left = out if leaving else None
        return (goes, left) if node.conjunction else (left, goes)

    def alternative(
        self, node: Alternative, parts: list[tuple[str, str, Type]], names: list[str]
    ) -> tuple[str | None, str | None]:
        value = self.expr(node.value)
        yes: str | None
        no: str | None
        if node.certain is None:
            yes, no = self.fresh("m"), self.fresh("m")
            names += (yes, no)
            self.emit(f"{yes}, {no} = split({self.mask}, {self.text(node.truth)})")
        else:
            yes, no = (self.mask, None) if node.certain else (None, self.mask)
        lanes = {(True, False): self.mask, (True,): yes, (False,): no}.get(node.wanted)
        if lanes is not None:
            if lanes == self.mask:  # under a name that keeps its lanes
                lanes = self.fresh("m")
                names.append(lanes)
                self.emit(f"{lanes} = {self.mask}")
            parts.append((lanes, value.text, node.value.type))
        return yes, no

    # --- statements --------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        self.statements(block.body, block.region)

    def statements(self, body: list[Stmt], region: int) -> None:
        """Write statements of ``region``; what follows one that lanes may leave by is for the lanes that stay."""
        for i, statement in enumerate(body):
            STATEMENTS[type(statement)](self, statement)
            if i + 1 < len(body) and exits([statement], LEAVING):
                if not exits([statement], (Break, Continue)):
                    # lanes that returned read nothing any more: what is left is the whole of this region
                    self.anchors[region] = self.fresh("a")
                    self.emit(f"{self.anchors[region]} = {self.mask}")
                self.emit(f"if {self.mask} is not False:")
                with self.deeper():
                    start = len(self.lines)
                    self.statements(body[i + 1 :], region)
                    if len(self.lines) == start:
                        self.emit("pass")
                return

    def mark(self, node: Mark) -> None:
        if self.module.tracing and not self.function.foreign:  # a line of another file is nobody's to see
            self.emit(f"w.statement({node.line}, {self.mask})")

    def evaluate(self, node: Evaluate) -> None:
        self.expr(node.value)

    def assign(self, node: Assign) -> None:
        kind = node.value.type
        code, version = self.expr(node.value), self.version(node.name, kind)
        anchor = self.anchors.get(node.region, "a") if node.region is not None else "a"
        if anchor == self.mask:
            self.emit(f"{version} = {code.text}")
        else:
            if not code.name:
                code = self.keep(code.text)
            blended = self.blended(self.mask, code.text, version, kind, node.line)
            self.emit(f"{version} = {code.text} if {self.mask} is {anchor} else {blended}")
        if node.name in self.function.unsure:
            self.emit(f"h_{node.name} = unite(h_{node.name}, {self.mask})")
        if self.module.tracing and kind in SCALARS and not self.function.foreign:
            self.emit(f"w.assigned({node.name!r}, {version}, {self.mask})")

    def convert(self, node: Convert) -> None:
        old, new = self.version(node.name, node.have), self.version(node.name, node.want)
        code = self.cast(old, node.have, node.want)
        blended = self.blended(self.mask, code, new, node.want, node.line)
        # nothing is to convert where no lane is left, or where none has assigned the version
        self.emit(f"if {self.mask} is not False and {old} is not None: {new} = {blended}")

    def if_statement(self, node: If) -> None:
        before, yes, no = self.mask, self.fresh("m"), self.fresh("m")
        self.emit(f"{yes}, {no} = split({before}, {self.text(node.test)})")
        leaves = exits([node], LEAVING)
        if leaves:
            self.emit(f"{yes}0, {no}0 = {yes}, {no}")
        self.branches.append(self.at(node.line))
        for mask, block in ((yes, node.body), (no, node.orelse)):
            with self.under(mask) as lines:
                self.anchors[block.region] = f"{mask}a" if leaves else mask
                if leaves:
                    self.emit(f"{mask}a = {mask}")
                self.block(block)
            if lines:
                self.emit(f"if {mask} is not False:")
                self.lines += lines
        self.branches.pop()
        if leaves:
            self.emit(f"{before} = join({before}, {yes}0, {no}0, {yes}, {no})")

    def break_statement(self, node: Break) -> None:
        self.emit(f"{self.loops[-1]}b = unite({self.loops[-1]}b, {self.mask})")
        self.emit(f"{self.mask} = False")

    def continue_statement(self, node: Continue) -> None:
        self.emit(f"{self.mask} = False")

    def return_statement(self, node: Return) -> None:
        result = self.function.result
        if self.function.kernel:
            self.emit(f"w.returned.append(({self.mask}, {self.at(node.line)}))")
        elif result != NONE and node.value.type != NONE:
            if self.function.partial:
                self.emit(f"h = unite(h, {self.mask})")
            code = self.cast(self.text(node.value), node.value.type, result)
            self.emit(f"result = {self.blended(self.mask, code, 'result', result, node.line)}")
        else:
            self.expr(node.value)
        self.emit(f"r = unite(r, {self.mask})")
        self.emit(f"{self.mask} = False")

    # --- loops -----------------------------------------------------------------------------------------------

    def iterated(self, node: Iterable, live: str, whole: bool) -> str:
        """Code of the iterator of a for loop over the lanes of ``live``; ``whole``: none leaves before its end."""
        match node:
            case Range():
                start, stop, step = (self.text(part) for part in (node.start, node.stop, node.step))
                kind = self.module.dtype(str(node.start.type))
                line = self.at(node.line)
                return f"iterate(w.steps, {live}, {start}, {stop}, {step}, {kind}.type, {line}, {whole})"
            case Each():
                return f"each(w.steps, {live}, {self.text(node.value)}, {self.at(node.line)})"
            case Numbered():
                inner = self.iterated(node.inner, live, whole)
                return f"numbered({inner}, {self.text(node.start)})"
            case Together():
                return f"together([{', '.join(self.iterated(part, live, False) for part in node.parts)}])"

    def loop(self, node: Loop) -> None:
        before, live, body = self.mask, self.fresh("l"), node.body.body
        leaves, returns, broken = exits(body, LEAVING), exits(body, (Return,)), exits(body, (Break,))
        head = ""
        if node.iterable is not None:
            head = self.iterated(node.iterable, live, not exits(body, (Break, Return)))
        counter, mask, value = self.fresh("n"), self.fresh("m"), self.fresh("t")
        self.position += 1
        position = self.position
        first_site = len(self.template.sites)
        self.emit(f"{live} = [{before}]")
        if broken:
            self.emit(f"{live}b = False")
        self.statements(node.entry, -1)
        self.emit(f"{counter} = 0")
        if node.iterable is not None:
            self.emit(f"for {value}, {mask} in {head}:")
        else:
            self.emit(f"while {live}[0] is not False:")
        self.mask = mask
        with self.deeper():
            if node.test is not None:
                self.test(node, node.test, live, counter)
            if leaves:
                self.emit(f"{mask}a = {mask}")
            self.anchors[node.body.region] = f"{mask}a" if leaves else mask
            self.loops.append(live)
            self.path += [str(position), counter]
            self.branches.append(self.at(node.line))
            self.bound = value
            self.statements(node.first, node.body.region)
            self.block(node.body)
            self.branches.pop()
            del self.path[-2:]
            self.loops.pop()
            self.emit(f"{counter} += 1")
            if node.watched is not None:
                sites = "".join(f"S{i}, " for i in range(first_site, len(self.template.sites)))
                values = "".join(f"{self.version(*watched)}, " for watched in node.watched)
                line = self.at(node.line)
                self.emit(f"w.steps.waits({counter}, ({sites}), ({values}), {live}[0], {line})")
            if broken:
                self.emit(f"{live}[0] = minus({live}[0], {live}b)")
            if returns:
                self.emit(f"{live}[0] = minus({live}[0], r)")
        self.mask = before
        if returns:
            self.emit(f"{before} = minus({before}, r)")
        if node.orelse is not None:
            self.orelse(node.orelse, f"minus({before}, {live}b)" if broken else before, node.line)

    def test(self, node: Loop, test: Expr, live: str, counter: str) -> None:
        """Write the head of an iteration of a while loop."""
        self.emit(f"w.steps.spend({self.at(node.line)}, {counter})")
        self.emit(f"{self.mask} = {live}[0]")
        self.mark(Mark(node.line))
        self.emit(f"{self.mask}, _ = split({self.mask}, {self.text(test)})")
        self.emit(f"if {self.mask} is False: break")
        self.emit(f"{live}[0] = {self.mask}")

    def orelse(self, block: Block, lanes: str, line: int) -> None:
        """Write what the lanes do that ran a loop to its end."""
        before, mask = self.mask, self.fresh("m")
        leaves = exits(block.body, LEAVING)
        with self.under(mask) as lines:
            if leaves:
                self.emit(f"{mask}0 = {mask}a = {mask}")
            self.anchors[block.region] = f"{mask}a" if leaves else mask
            self.branches.append(self.at(line))
            self.block(block)
            self.branches.pop()
        if lines:
            self.emit(f"{mask} = {lanes}")
            self.emit(f"if {mask} is not False:")
            self.lines += lines
            if leaves:
                self.emit(f"    if {mask} is not {mask}0: {before} = minus({before}, minus({mask}0, {mask}))")


def exits(body: list[Stmt], kinds: tuple[type, ...]) -> bool:
    """Does ``body`` hold a return, or a break or continue that leaves ``body`` itself?"""
    for statement in body:
        match statement:
            case Return() | Break() | Continue():
                found = isinstance(statement, kinds)
            case If():
                found = exits(statement.body.body, kinds) or exits(statement.orelse.body, kinds)
            case Loop():
                found = Return in kinds and exits(statement.body.body, (Return,))
                found = found or (statement.orelse is not None and exits(statement.orelse.body, kinds))
            case Block():
                found = exits(statement.body, kinds)
            case _:
                found = False
        if found:
            return True
    return False


def is_view(array: Expr) -> bool:
    return isinstance(array.type, ArrayType) and array.type.view


def tag(kind: Type) -> str:
    """A type in short, for the name of a variable's version."""
    if isinstance(kind, ArrayType):
        return f"{'V' if kind.view else 'A'}{tag(kind.dtype)}{kind.ndim}"
    if isinstance(kind, TupleType):
        return "T" + "".join(tag(k) for k in kind.items) + "E"
    return {"bool": "b", "none": "n"}.get(kind) or kind[0] + "".join(c for c in kind if c.isdigit())


EXPRESSIONS: dict[type[Expr], Callable[..., Code]] = {
    Const: FunctionWriter.const,
    Nothing: lambda writer, node: Code("None"),
    Local: FunctionWriter.local,
    Bound: FunctionWriter.bound_value,
    Apply: FunctionWriter.apply,
    Cast: FunctionWriter.converted,
    Saved: FunctionWriter.save,
    MakeTuple: FunctionWriter.make_tuple,
    Item: FunctionWriter.item,
    ItemAt: FunctionWriter.item_at,
    Load: FunctionWriter.load,
    View: FunctionWriter.view,
    Store: FunctionWriter.store,
    Atomic: FunctionWriter.atomic,
    Select: FunctionWriter.select,
    Logical: FunctionWriter.logical,
    Choice: FunctionWriter.choice,
    Allocate: FunctionWriter.allocate,
    Frozen: FunctionWriter.frozen,
    CallDevice: FunctionWriter.call_device,
    CallWarp: FunctionWriter.call_warp,
    Copy: FunctionWriter.copy,
    Meet: FunctionWriter.meet,
}
STATEMENTS: dict[type, Callable[..., None]] = {
    Block: FunctionWriter.block,
    Mark: FunctionWriter.mark,
    Evaluate: FunctionWriter.evaluate,
    Assign: FunctionWriter.assign,
    Convert: FunctionWriter.convert,
    If: FunctionWriter.if_statement,
    Loop: FunctionWriter.loop,
    Break: FunctionWriter.break_statement,
    Continue: FunctionWriter.continue_statement,
    Return: FunctionWriter.return_statement,
}
