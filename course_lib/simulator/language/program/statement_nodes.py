"""The typed program of a kernel, and the code that is generated for each of its statements.

A function consists of statements over expressions (:mod:`nodes`). Each statement has its source line; a variable has
one version for each of its types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import dataclass_transform

from ..source.constants import Constants
from ..source.function import Source
from ..types.float64_reasons import Promotion, Why
from ..types.value_types import DTYPE, NONE, SCALARS, ArrayType, OptionalType, Type
from .nodes import Expr
from .writer import Code, Writer, tuple_code


@dataclass_transform(eq_default=False)
class ProgramPart:
    """A part of a function's program; its subclasses are dataclasses."""

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)


class Stmt(ProgramPart):
    def write(self, out: Writer) -> None:
        raise NotImplementedError

    def exits(self, kinds: tuple[type, ...]) -> bool:
        """Whether one of ``kinds`` in it leaves the body that it is in."""
        return isinstance(self, kinds)


class Body(Stmt):
    """A list of statements; ``region`` identifies its list in the syntax tree (:mod:`..source.variable_regions`).

    A body in a body is a branch that is known to be taken.
    """

    region: int
    statements: list[Stmt]
    ends: bool = False  # no lane reaches its end

    def write(self, out: Writer) -> None:
        """Write the statements; after one by which lanes may leave, only for the lanes that stay."""
        for i, statement in enumerate(self.statements):
            statement.write(out)
            rest = Body(self.region, self.statements[i + 1 :])
            if rest.statements and statement.exits(LEAVING):
                if not statement.exits((Break, Continue)):  # lanes that returned read nothing later
                    self._set_region(out, rest)
                with out.under(out.mask):
                    rest.write(out)
                return

    def _set_region(self, out: Writer, rest: Body) -> None:
        """From now on the region is the lanes that are left; they get a name if ``rest`` changes the mask again."""
        out.region_masks[self.region] = out.mask
        if rest.exits(LEAVING):
            out.region_masks[self.region] = out.new_name("not_returned")
            out.emit(f"{out.region_masks[self.region]} = {out.mask}")

    def exits(self, kinds: tuple[type, ...]) -> bool:
        return any(statement.exits(kinds) for statement in self.statements)


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
        if not self.head:
            out.comment(self.line)
        if out.module.tracing == "values" and not out.function.in_other_file:  # lines of another file are not shown
            out.emit(f"warp.report('statement', {self.line}, {out.mask}, {self.head})")


class Assign(Stmt):
    name: str
    value: Expr
    line: int
    region: int | None  # the statement list that has everything that reads the variable

    def write(self, out: Writer) -> None:
        kind = self.value.type
        code, version = out.expr(self.value), out.version(self.name, kind)
        if isinstance(kind, ArrayType):
            out.function.array_assignments.append((self.name, self.value))
        region = out.entry_lanes  # the mask of all lanes that may read the variable
        if self.region is not None:
            region = out.region_masks.get(self.region, out.entry_lanes)
        if region == out.mask:
            out.emit(f"{version} = {code.text}")
        else:
            if not code.name:
                code = out.temporary(code.text, f"new_{self.name}")
            blended = out.blended(out.mask, code.text, version, kind)
            out.emit(f"{version} = {code.text} if {out.mask} is {region} else {blended}")
        if self.name in out.function.maybe_unassigned:
            lanes = out.mask_of_assigned(self.name)
            out.emit(f"{lanes} = union({lanes}, {out.mask})")
        if out.module.tracing == "values" and kind in SCALARS and not out.function.in_other_file:
            out.emit(f"warp.report('assigned', {self.line}, {self.name!r}, {version}, {out.mask})")


class Evaluate(Stmt):
    """An expression that is evaluated only for its effect."""

    value: Expr

    def write(self, out: Writer) -> None:
        out.expr(self.value)


class If(Stmt):
    test: Expr
    body: Body
    orelse: Body
    line: int

    def write(self, out: Writer) -> None:
        before, leaves = out.mask, self.exits(LEAVING)
        yes = out.new_name(f"then_{self.line}")
        no = out.new_name(f"else_{self.line}") if leaves or self.orelse.statements else "_"
        out.emit(f"{yes}, {no} = split({before}, {out.text(self.test)})")
        entered_yes, entered_no = yes, no  # the lanes at the start of a branch, some of which may leave it
        if leaves:
            entered_yes, entered_no = out.new_name(f"entered_{yes}"), out.new_name(f"entered_{no}")
            out.emit(f"{entered_yes}, {entered_no} = {yes}, {no}")
        out.enclosing_lines.append(out.at(self.line))
        for mask, entered, branch in ((yes, entered_yes, self.body), (no, entered_no, self.orelse)):
            with out.under(mask):
                out.region_masks[branch.region] = entered
                branch.write(out)
        out.enclosing_lines.pop()
        if leaves:
            out.emit(f"{out.changing_mask()} = rejoined({before}, {entered_yes}, {entered_no}, {yes}, {no})")

    def exits(self, kinds: tuple[type, ...]) -> bool:
        return self.body.exits(kinds) or self.orelse.exits(kinds)


class Iterable(ProgramPart):
    """What a for loop runs through; ``code`` makes its iterator of ``parts``: all of them, separated by commas,
    are ``{0}``.

    In it, ``{live}`` are the lanes of the loop, ``{none_leaves}`` says that none leaves before the end, and ``{kind}``
    is the type of a range.
    """

    code: str
    parts: tuple[Expr | Iterable, ...]
    line: int

    def write(self, out: Writer, live: str, none_leaves: bool) -> str:
        none_leaves &= self.code != ZIPPED
        first, codes = self.parts[0], []
        for part in self.parts:
            codes.append(part.write(out, live, none_leaves) if isinstance(part, Iterable) else out.text(part))
        kind = str(first.type) if isinstance(first, Expr) and first.is_scalar else ""
        parts = ", ".join(codes)
        return self.code.format(parts, live=live, none_leaves=none_leaves, kind=kind, line=out.at(self.line))


RANGE = "iterate(warp.budget, {live}, {0}, np.{kind}, line={line}, none_leaves={none_leaves})"
EACH = "each(warp.budget, {live}, {0}, {line})"
NUMBERED = "enumerated({0})"
ZIPPED = "zipped([{0}])"


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
    body: Body
    orelse: Body | None
    watched: tuple[tuple[str, Type], ...] | None
    calls: bool

    def write(self, out: Writer) -> None:
        """Write what is before the loop, an iteration, and what follows for the lanes that are left.

        ``running[0]`` are the lanes that have iterations left; the iterator of a for loop reads it, and the code of an
        iteration removes the lanes that break or return. ``here`` are those of this iteration at some point of it,
        some of which may continue with the next one; ``at_head`` those that began it; ``broke`` those that left the
        loop by break.
        """
        before = out.mask
        leaves = self.body.exits(LEAVING)
        returns = self.body.exits((Return,))
        breaks = self.body.exits((Break,))
        running = out.new_name(f"running_{self.line}")
        iteration = out.new_name(f"iteration_{self.line}")
        here = out.new_name(f"here_{self.line}")
        item = out.new_name(f"item_{self.line}")
        broke = out.new_name(f"broke_{self.line}") if breaks else ""
        out.comment(self.line)
        iterator = ""
        if self.iterable is not None:
            iterator = self.iterable.write(out, running, not (breaks or returns))
        out.ordinal += 1
        ordinal = out.ordinal
        first_site = len(out.sites)
        out.emit(f"{running} = [{before}]")
        if breaks:
            out.emit(f"{broke} = False")
        Body(-1, self.entry).write(out)
        start = len(out.lines)
        out.emit(f"{iteration} = 0")
        if self.iterable is not None:
            out.emit(f"for {item}, {here} in {iterator}:")
        else:
            out.emit(f"while {running}[0] is not False:")
        out.mask = here
        with out.deeper():
            if self.test is not None:
                self._write_head(out, self.test, running, iteration)
            at_head = here
            if leaves:
                at_head = out.new_name(f"at_head_{self.line}")
                out.emit(f"{at_head} = {here}")
            out.region_masks[self.body.region] = at_head
            out.broke.append(broke)
            out.path += [str(ordinal), iteration]
            out.enclosing_lines.append(out.at(self.line))
            out.loop_value = item
            self._write_iterated(out)
            Body(self.body.region, self.first).write(out)
            self.body.write(out)
            out.enclosing_lines.pop()
            del out.path[-2:]
            out.broke.pop()
            if iteration in out.counted or self.test is not None:
                out.emit(f"{iteration} += 1")
            else:
                del out.lines[start]
            self._write_progress(out, running, iteration, tuple(out.sites[first_site:]))
            if breaks:
                out.emit(f"{running}[0] = without({running}[0], {broke})")
            if returns:
                out.emit(f"{running}[0] = without({running}[0], {out.returned})")
        out.mask = before
        if returns:
            out.emit(f"{out.changing_mask()} = without({before}, {out.returned})")
        if self.orelse is not None and self.orelse.statements:
            lanes = f"without({out.mask}, {broke})" if breaks else out.mask
            self._write_else(out, self.orelse, lanes)

    def _write_iterated(self, out: Writer) -> None:
        if out.module.tracing and out.function.kernel:
            out.emit(f"warp.report('iterated', {self.line}, {out.mask})")

    def _write_head(self, out: Writer, test: Expr, running: str, iteration: str) -> None:
        """Write the start of a while loop's iteration: the budget and the test."""
        out.emit(f"warp.budget.spend({out.at(self.line)}, {iteration})")
        out.emit(f"{out.mask} = {running}[0]")
        Mark(self.line, head=True).write(out)
        out.emit(f"{out.mask}, _ = split({out.mask}, {out.text(test)})")
        out.emit(f"if {out.mask} is False: break")
        out.emit(f"{running}[0] = {out.mask}")

    def _write_progress(self, out: Writer, running: str, iteration: str, sites: tuple[str, ...]) -> None:
        """Write what finds a while loop that waits for other threads, or never ends."""
        if self.watched is None:
            return
        values = tuple_code([out.version(*watched) for watched in self.watched])
        line = out.at(self.line)
        if out.module.interleaved:
            out.emit(f"yield warp.pause({values}, {running}[0], {line})")
            return
        given = f"{iteration}, {tuple_code(sites)}, {values}, {running}[0], {line}, {self.calls}"
        out.emit(f"if {iteration} in CHECKED_ITERATIONS: warp.check_progress({given})")

    def _write_else(self, out: Writer, node: Body, lanes: str) -> None:
        """Write the ``else`` of a loop, for the lanes that did not break."""
        before, mask = out.mask, out.new_name(f"loop_else_{self.line}")
        leaves = node.exits(LEAVING)
        out.emit(f"{mask} = {lanes}")
        entered = mask
        if leaves:
            entered = out.new_name(f"entered_{mask}")
            out.emit(f"{entered} = {mask}")
        with out.under(mask):
            out.region_masks[node.region] = entered
            out.enclosing_lines.append(out.at(self.line))
            node.write(out)
            out.enclosing_lines.pop()
        if leaves:
            rest = f"without({before}, without({entered}, {mask}))"
            out.emit(f"{out.changing_mask()} = {before} if {mask} is {entered} else {rest}")

    def exits(self, kinds: tuple[type, ...]) -> bool:
        """Its own breaks and continues stay inside, but those of its ``else`` do not."""
        in_body = Return in kinds and self.body.exits((Return,))
        in_else = self.orelse is not None and self.orelse.exits(kinds)
        return in_body or in_else


class Break(Stmt):
    def write(self, out: Writer) -> None:
        out.emit(f"{out.broke[-1]} = union({out.broke[-1]}, {out.mask})")
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
            out.emit(f"warp.returned.append(({out.mask}, {out.at(self.line)}))")
        elif result != NONE and (self.value.type != NONE or isinstance(result, OptionalType)):
            if out.function.partial:
                out.emit(f"{out.has_result} = union({out.has_result}, {out.mask})")
            code = out.cast(out.text(self.value), self.value.type, result)
            out.emit(f"{out.result} = {out.blended(out.mask, code, out.result, result)}")
        else:
            out.expr(self.value)
        out.emit(f"{out.returned} = union({out.returned}, {out.mask})")
        out.emit(f"{out.changing_mask()} = False")


#: The statements by which lanes leave a body.
LEAVING = (Return, Break, Continue)


@dataclass(eq=False)
class Function:
    """A kernel or a device function, for given types of its arguments.

    ``in_other_file``: it is in another file than the kernel, so all its events are reported at the line of its call.
    ``partial``: some paths return nothing, so that a lane may not have the result.
    ``waits``: a thread may wait for others in one of its while loops, or in those of a function that it calls.
    ``maybe_unassigned`` are the variables that are read where some path has not assigned them.
    ``stored`` are the arrays that it stores to, ``array_assignments`` those that it assigns to variables, ``called``
    its calls, as soon as its code is written.
    """

    source: Source
    kernel: bool
    in_other_file: bool
    parameters: list[tuple[str, Type]]
    constants: Constants
    body: Body = field(default_factory=lambda: Body(0, []))
    result: Type = NONE
    partial: bool = False
    result_why: Why = None
    barriers: bool = False
    waits: bool = False
    maybe_unassigned: set[str] = field(default_factory=set)
    promotions: dict[tuple[int, str], Promotion] = field(default_factory=dict)
    stored: list[Expr] = field(default_factory=list)
    array_assignments: list[tuple[str, Expr]] = field(default_factory=list)
    called: list[CallDevice] = field(default_factory=list)

    def write(self, out: Writer, name: str) -> str:
        """The text of the function, under this name."""
        parameters = [out.version(name, kind) for name, kind in self.parameters]
        self.body.write(out)
        start = [f"{out.returned} = False"] if self.body.exits((Return,)) else []
        others = sorted({*out.versions.values()} - {*parameters})
        if others:
            start += ["# variables that no lane has assigned yet", " = ".join(others) + " = None"]
        if self.maybe_unassigned:
            masks = [out.mask_of_assigned(each) for each in sorted(self.maybe_unassigned)]
            start.append(" = ".join(masks) + " = False")
        start += self._start_of_device(out)
        enclosing = [out.enclosing_line_of_call] if self.barriers and not self.kernel else []
        given = ", ".join(("warp", out.entry_lanes, out.program_point, *enclosing, *parameters))
        head = f"    def {name}({given}):\n"
        body = "".join(f"        {line}\n" for line in start) + "".join(out.lines)
        if not self.kernel:
            results = f"{out.result}, {out.has_result}" if self.partial else out.result
            body += f"        return {results}\n"
        elif not out.module.yields(self):
            body += "        return\n        yield  # which makes it a generator\n"
        return head + body

    def _start_of_device(self, out: Writer) -> list[str]:
        """The first lines of a device function: it has no result yet, and new local arrays."""
        if self.kernel:
            return []
        default = out.cast("None", NONE, self.result) if isinstance(self.result, OptionalType) else None
        start = [f"{out.result} = {default}"]
        if self.partial:
            start.append(f"{out.has_result} = False")
        if out.own_arrays:
            start.append(f"warp.drop_local({', '.join(map(str, out.own_arrays))})")
        return start


class CallDevice(Expr, own_effect=True):
    """A call of a device function; ``evaluation_order``: the numbers of its arguments, in that order."""

    function: Function
    args: tuple[Expr, ...]
    evaluation_order: tuple[int, ...]
    used: bool
    line: int

    def write(self, out: Writer) -> Code:
        out.function.called.append(self)
        codes = {i: out.text(self.args[i]) for i in self.evaluation_order}
        name = out.module.name(self.function, out.at(self.line))
        arguments = "".join(f", {codes[i]}" for i in range(len(self.args)))
        enclosing = f", {out.enclosing_line()}" if self.function.barriers else ""
        call = f"{name}(warp, {out.mask}, {out.next_program_point()}{enclosing}{arguments})"
        if out.module.yields(self.function):
            call = f"(yield from {call})"
        result_name = f"{self.function.source.name}_result"
        if not self.function.partial:
            return out.temporary(call, result_name)
        result, have = out.new_name(result_name), out.new_name(f"has_{result_name}")
        out.emit(f"{result}, {have} = {call}")
        if self.used:
            what = f"the result of {self.function.source.name}()"
            out.emit(f"warp.report_missing('result', {have}, {out.mask}, {what!r}, {out.at(self.line)})")
            poison = out.module.constant(DTYPE[str(self.type)].type(0))
            out.emit(f"if {result} is None: {result} = {poison}")
        return Code(result, True, True)
