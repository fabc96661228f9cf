"""The typed program of a kernel, and the code that is generated for each of its statements.

A function consists of statements over expressions (:mod:`nodes`). Each statement has its source line; a variable has
one version for each of its types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import dataclass_transform

from ..source.constants import Constants
from ..source.function import Source
from ..types.reasons import Promotion, Why
from ..types.value_types import DTYPE, NONE, SCALARS, ArrayType, OptionalType, Type
from .nodes import Expr
from .writer import Code, Writer


@dataclass_transform(eq_default=False)
class ProgramPart:
    """A part of a function's program; its subclasses are dataclasses."""

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)


class Stmt(ProgramPart):
    def write(self, out: Writer) -> None:
        raise NotImplementedError

    def exits(self, kinds: tuple[type, ...]) -> bool:
        """Whether one of ``kinds`` in it leaves the block that it is in."""
        return isinstance(self, kinds)


class Block(Stmt):
    """A list of statements; ``region`` is its number in the source (:mod:`regions`).

    A block in a block is a branch that is known to be taken.
    """

    region: int
    body: list[Stmt]
    ends: bool = False  # no lane reaches its end

    def write(self, out: Writer) -> None:
        """Write the statements; after one by which lanes may leave, only for the lanes that stay."""
        for i, statement in enumerate(self.body):
            statement.write(out)
            if i + 1 < len(self.body) and statement.exits(LEAVING):
                if not statement.exits((Break, Continue)):
                    # lanes that returned read nothing later, so the others are the whole region
                    out.region_masks[self.region] = out.fresh("a")
                    out.emit(f"{out.region_masks[self.region]} = {out.mask}")
                with out.under(out.mask):
                    Block(self.region, self.body[i + 1 :]).write(out)
                return

    def exits(self, kinds: tuple[type, ...]) -> bool:
        return any(statement.exits(kinds) for statement in self.body)


class Convert(Stmt):
    """Convert a variable from the type ``have`` to the type ``want``, where control flow merges."""

    name: str
    have: Type
    want: Type
    line: int

    def write(self, out: Writer) -> None:
        old, new = out.version(self.name, self.have), out.version(self.name, self.want)
        code = out.cast(old, self.have, self.want)
        blended = out.blended(out.mask, code, new, self.want)
        # nothing to convert if no lane is left, or if none has assigned the version
        have = "" if self.have == NONE else f" and {old} is not None"
        out.emit(f"if {out.mask} is not False{have}: {new} = {blended}")


class Mark(Stmt):
    """The start of a statement, for the trace; ``head``: of an iteration of a loop."""

    line: int
    head: bool = False

    def write(self, out: Writer) -> None:
        if out.module.tracing == "values" and not out.function.in_other_file:  # lines of another file are not shown
            out.emit(f"w.tell('statement', {self.line}, {out.mask}, {self.head})")


class Assign(Stmt):
    name: str
    value: Expr
    line: int
    region: int | None  # outside which the variable is not read

    def write(self, out: Writer) -> None:
        kind = self.value.type
        code, version = out.expr(self.value), out.version(self.name, kind)
        if isinstance(kind, ArrayType):
            out.function.named.append((self.name, self.value))
        region_mask = out.region_masks.get(self.region, "a") if self.region is not None else "a"
        if region_mask == out.mask:
            out.emit(f"{version} = {code.text}")
        else:
            if not code.name:
                code = out.assigned(code.text)
            blended = out.blended(out.mask, code.text, version, kind)
            out.emit(f"{version} = {code.text} if {out.mask} is {region_mask} else {blended}")
        if self.name in out.function.maybe_unassigned:
            out.emit(f"h_{self.name} = unite(h_{self.name}, {out.mask})")
        if out.module.tracing == "values" and kind in SCALARS and not out.function.in_other_file:
            out.emit(f"w.tell('assigned', {self.line}, {self.name!r}, {version}, {out.mask})")


class Evaluate(Stmt):
    """An expression that is evaluated only for its effect."""

    value: Expr

    def write(self, out: Writer) -> None:
        out.expr(self.value)


class If(Stmt):
    test: Expr
    body: Block
    orelse: Block
    line: int

    def write(self, out: Writer) -> None:
        before, yes, no = out.mask, out.fresh("m"), out.fresh("m")
        out.emit(f"{yes}, {no} = split({before}, {out.text(self.test)})")
        leaves = self.exits(LEAVING)
        if leaves:
            out.emit(f"{yes}0, {no}0 = {yes}, {no}")
        out.branches.append(out.at(self.line))
        for mask, branch in ((yes, self.body), (no, self.orelse)):
            with out.under(mask):
                out.region_masks[branch.region] = f"{mask}a" if leaves else mask
                if leaves:
                    out.emit(f"{mask}a = {mask}")
                branch.write(out)
        out.branches.pop()
        if leaves:
            out.emit(f"{before} = join({before}, {yes}0, {no}0, {yes}, {no})")

    def exits(self, kinds: tuple[type, ...]) -> bool:
        return self.body.exits(kinds) or self.orelse.exits(kinds)


class Iterable(ProgramPart):
    """What a for loop runs through; ``code`` makes its iterator of ``parts``, which are ``{0}`` together.

    In it, ``{live}`` are the lanes of the loop, ``{whole}`` says that none leaves before the end, and ``{dtype}`` is
    that of a range.
    """

    code: str
    parts: tuple[Expr | Iterable, ...]
    line: int

    def write(self, out: Writer, live: str, whole: bool) -> str:
        whole &= self.code != TOGETHER
        first, codes = self.parts[0], []
        for part in self.parts:
            codes.append(part.write(out, live, whole) if isinstance(part, Iterable) else out.text(part))
        dtype = out.module.dtype(str(first.type)) if isinstance(first, Expr) and first.is_scalar else ""
        return self.code.format(", ".join(codes), live=live, whole=whole, dtype=dtype, line=out.at(self.line))


RANGE = "iterate(w.steps, {live}, {0}, {dtype}.type, line={line}, whole={whole})"
EACH, NUMBERED, TOGETHER = "each(w.steps, {live}, {0}, {line})", "numbered({0})", "together([{0}])"


class Loop(Stmt):
    """A for loop (``iterable``) or a while loop (``test``).

    ``entry`` converts the variables from their types before the loop to those of an iteration. ``first`` are the
    statements of a for loop's iteration before the body. ``watched`` are the variables that a while loop assigns: if
    they do not change, it makes no progress. ``calls``: it calls device functions.
    """

    line: int
    entry: list[Stmt]
    iterable: Iterable | None
    test: Expr | None
    first: list[Stmt]
    body: Block
    orelse: Block | None
    watched: tuple[tuple[str, Type], ...] | None
    calls: bool

    def write(self, out: Writer) -> None:
        before, live = out.mask, out.fresh("l")
        leaves, returns, broken = (self.body.exits(kinds) for kinds in (LEAVING, (Return,), (Break,)))
        head = ""
        if self.iterable is not None:
            head = self.iterable.write(out, live, not (broken or returns))
        counter, mask, value = out.fresh("n"), out.fresh("m"), out.fresh("t")
        out.position += 1
        position = out.position
        first_site = len(out.sites)
        out.emit(f"{live} = [{before}]")
        if broken:
            out.emit(f"{live}b = False")
        Block(-1, self.entry).write(out)
        out.emit(f"{counter} = 0")
        if self.iterable is not None:
            out.emit(f"for {value}, {mask} in {head}:")
        else:
            out.emit(f"while {live}[0] is not False:")
        out.mask = mask
        with out.deeper():
            if self.test is not None:
                self._write_head(out, self.test, live, counter)
            if leaves:
                out.emit(f"{mask}a = {mask}")
            out.region_masks[self.body.region] = f"{mask}a" if leaves else mask
            out.loops.append(live)
            out.path += [str(position), counter]
            out.branches.append(out.at(self.line))
            out.bound = value
            self._write_told(out)
            Block(self.body.region, self.first).write(out)
            self.body.write(out)
            out.branches.pop()
            del out.path[-2:]
            out.loops.pop()
            out.emit(f"{counter} += 1")
            if self.watched is not None:
                values = "".join(f"{out.version(*watched)}, " for watched in self.watched)
                line = out.at(self.line)
                if out.module.patient:
                    out.emit(f"yield w.pause(({values}), {live}[0], {line})")
                else:
                    sites = "".join(f"{site}, " for site in out.sites[first_site:])
                    given = f"{counter}, ({sites}), ({values}), {live}[0], {line}, {self.calls}"
                    out.emit(f"if {counter} in LOOKS: w.waits({given})")
            if broken:
                out.emit(f"{live}[0] = minus({live}[0], {live}b)")
            if returns:
                out.emit(f"{live}[0] = minus({live}[0], r)")
        out.mask = before
        if returns:
            out.emit(f"{before} = minus({before}, r)")
        if self.orelse is not None and self.orelse.body:
            self._write_else(out, self.orelse, f"minus({before}, {live}b)" if broken else before)

    def _write_told(self, out: Writer) -> None:
        if out.module.tracing and out.function.kernel:
            out.emit(f"w.tell('iterated', {self.line}, {out.mask})")

    def _write_head(self, out: Writer, test: Expr, live: str, counter: str) -> None:
        """Write the start of a while loop's iteration: the budget and the test."""
        out.emit(f"w.steps.spend({out.at(self.line)}, {counter})")
        out.emit(f"{out.mask} = {live}[0]")
        Mark(self.line, head=True).write(out)
        out.emit(f"{out.mask}, _ = split({out.mask}, {out.text(test)})")
        out.emit(f"if {out.mask} is False: break")
        out.emit(f"{live}[0] = {out.mask}")

    def _write_else(self, out: Writer, node: Block, lanes: str) -> None:
        """Write the ``else`` of a loop, for the lanes that did not break."""
        before, mask = out.mask, out.fresh("m")
        leaves = node.exits(LEAVING)
        out.emit(f"{mask} = {lanes}")
        with out.under(mask):
            if leaves:
                out.emit(f"{mask}0 = {mask}a = {mask}")
            out.region_masks[node.region] = f"{mask}a" if leaves else mask
            out.branches.append(out.at(self.line))
            node.write(out)
            out.branches.pop()
            if leaves:
                out.emit(f"if {mask} is not {mask}0: {before} = minus({before}, minus({mask}0, {mask}))")

    def exits(self, kinds: tuple[type, ...]) -> bool:
        """Its own breaks and continues stay inside, but those of its ``else`` do not."""
        within = Return in kinds and self.body.exits((Return,))
        return within or self.orelse is not None and self.orelse.exits(kinds)


class Break(Stmt):
    def write(self, out: Writer) -> None:
        out.emit(f"{out.loops[-1]}b = unite({out.loops[-1]}b, {out.mask})")
        out.emit(f"{out.mask} = False")


class Continue(Stmt):
    def write(self, out: Writer) -> None:
        out.emit(f"{out.mask} = False")


class Return(Stmt):
    value: Expr
    line: int

    def write(self, out: Writer) -> None:
        result = out.function.result
        if out.function.kernel:
            out.emit(f"w.returned.append(({out.mask}, {out.at(self.line)}))")
        elif result != NONE and (self.value.type != NONE or isinstance(result, OptionalType)):
            if out.function.partial:
                out.emit(f"h = unite(h, {out.mask})")
            code = out.cast(out.text(self.value), self.value.type, result)
            out.emit(f"result = {out.blended(out.mask, code, 'result', result)}")
        else:
            out.expr(self.value)
        out.emit(f"r = unite(r, {out.mask})")
        out.emit(f"{out.mask} = False")


#: The statements by which lanes leave a block.
LEAVING = (Return, Break, Continue)


@dataclass(eq=False)
class Function:
    """A kernel or a device function, for given types of its arguments.

    ``in_other_file``: it is in another file than the kernel, so all its events are reported at the line of its call.
    ``partial``: some paths return nothing, so that a lane may not have the result.
    ``waits``: a thread may wait for others in one of its while loops, or in those of a function that it calls.
    ``maybe_unassigned`` are the variables that are read where some path has not assigned them.
    ``stored`` are the arrays that it stores to, ``named`` those that it assigns to variables, ``called`` its calls, as
    soon as its code is written.
    """

    source: Source
    kernel: bool
    in_other_file: bool
    parameters: list[tuple[str, Type]]
    constants: Constants
    body: Block = field(default_factory=lambda: Block(0, []))
    result: Type = NONE
    partial: bool = False
    result_why: Why = None
    barriers: bool = False
    waits: bool = False
    maybe_unassigned: set[str] = field(default_factory=set)
    promotions: dict[tuple[int, str], Promotion] = field(default_factory=dict)
    stored: list[Expr] = field(default_factory=list)
    named: list[tuple[str, Expr]] = field(default_factory=list)
    called: list[CallDevice] = field(default_factory=list)

    def write(self, out: Writer, name: str) -> str:
        """The text of the function, under this name."""
        parameters = [out.version(name, kind) for name, kind in self.parameters]
        self.body.write(out)
        start = ["a = m", "r = False"]
        others = sorted(out.versions - set(parameters))
        if others:
            start.append(" = ".join(others) + " = None")
        if self.maybe_unassigned:
            start.append(" = ".join(f"h_{name}" for name in sorted(self.maybe_unassigned)) + " = False")
        if not self.kernel:
            default = out.cast("None", NONE, self.result) if isinstance(self.result, OptionalType) else None
            start.append(f"result = {default}")
            if self.partial:
                start.append("h = False")
            if out.own_arrays:
                start.append(f"w.drop_local({', '.join(map(str, out.own_arrays))})")
        branch = ["b"] if self.barriers and not self.kernel else []
        head = f"    def {name}({', '.join(('w', 'm', 'path', *branch, *parameters))}):\n"
        body = "".join(f"        {line}\n" for line in start) + "".join(out.lines)
        if not self.kernel:
            body += f"        return {'result, h' if self.partial else 'result'}\n"
        elif not out.module.yields(self):
            body += "        return\n        yield\n"
        return head + body


class CallDevice(Expr, acts=True):
    """A call of a device function; the arguments are evaluated in the order ``written``."""

    function: Function
    args: tuple[Expr, ...]
    written: tuple[int, ...]
    used: bool
    line: int

    def write(self, out: Writer) -> Code:
        out.function.called.append(self)
        codes = {i: out.text(self.args[i]) for i in self.written}
        name = out.module.name(self.function, out.at(self.line))
        arguments = "".join(f", {codes[i]}" for i in range(len(self.args)))
        branch = f", {out.branch()}" if self.function.barriers else ""
        call = f"{name}(w, {out.mask}, {out.place()}{branch}{arguments})"
        if out.module.yields(self.function):
            call = f"(yield from {call})"
        if not self.function.partial:
            return out.assigned(call)
        result, have = out.fresh("t"), out.fresh("h")
        out.emit(f"{result}, {have} = {call}")
        if self.used:
            what = f"the result of {self.function.source.name}()"
            out.emit(f"w.tell_missing('result', {have}, {out.mask}, {what!r}, {out.at(self.line)})")
            poison = out.module.constant(DTYPE[str(self.type)].type(0))
            out.emit(f"if {result} is None: {result} = {poison}")
        return Code(result, True, True)
