"""The code of the typed program's statements: ``ROWS`` has a function for each kind of node."""

from collections.abc import Callable

from ..language import program
from ..language.nodes import Expr
from ..language.types import NONE, SCALARS
from .expressions import expr, text
from .writer import Writer

LEAVING = (program.Return, program.Break, program.Continue)


def block(out: Writer, node: program.Block) -> None:
    statements(out, node.body, node.region)


def statements(out: Writer, body: list[program.Stmt], region: int) -> None:
    """Write statements of ``region``; after one by which lanes may leave, only for the lanes that stay."""
    for i, statement in enumerate(body):
        ROWS[type(statement)](out, statement)
        if i + 1 < len(body) and exits([statement], LEAVING):
            if not exits([statement], (program.Break, program.Continue)):
                # lanes that returned read nothing later, so the others are the whole region
                out.anchors[region] = out.fresh("a")
                out.emit(f"{out.anchors[region]} = {out.mask}")
            out.emit(f"if {out.mask} is not False:")
            with out.deeper():
                start = len(out.lines)
                statements(out, body[i + 1 :], region)
                if len(out.lines) == start:
                    out.emit("pass")
            return


def mark(out: Writer, node: program.Mark) -> None:
    if out.module.tracing and not out.function.foreign:  # lines of another file are not shown
        out.emit(f"w.tell('statement', {node.line}, {out.mask})")


def evaluate(out: Writer, node: program.Evaluate) -> None:
    expr(out, node.value)


def assign(out: Writer, node: program.Assign) -> None:
    kind = node.value.type
    code, version = expr(out, node.value), out.version(node.name, kind)
    anchor = out.anchors.get(node.region, "a") if node.region is not None else "a"
    if anchor == out.mask:
        out.emit(f"{version} = {code.text}")
    else:
        if not code.name:
            code = out.keep(code.text)
        blended = out.blended(out.mask, code.text, version, kind, node.line)
        out.emit(f"{version} = {code.text} if {out.mask} is {anchor} else {blended}")
    if node.name in out.function.unsure:
        out.emit(f"h_{node.name} = unite(h_{node.name}, {out.mask})")
    if out.module.tracing and kind in SCALARS and not out.function.foreign:
        out.emit(f"w.tell('assigned', {node.name!r}, {version}, {out.mask})")


def convert(out: Writer, node: program.Convert) -> None:
    old, new = out.version(node.name, node.have), out.version(node.name, node.want)
    code = out.cast(old, node.have, node.want)
    blended = out.blended(out.mask, code, new, node.want, node.line)
    # nothing to convert if no lane is left, or if none has assigned the version
    out.emit(f"if {out.mask} is not False and {old} is not None: {new} = {blended}")


def if_statement(out: Writer, node: program.If) -> None:
    before, yes, no = out.mask, out.fresh("m"), out.fresh("m")
    out.emit(f"{yes}, {no} = split({before}, {text(out, node.test)})")
    leaves = exits([node], LEAVING)
    if leaves:
        out.emit(f"{yes}0, {no}0 = {yes}, {no}")
    out.branches.append(out.at(node.line))
    for mask, branch in ((yes, node.body), (no, node.orelse)):
        with out.under(mask) as lines:
            out.anchors[branch.region] = f"{mask}a" if leaves else mask
            if leaves:
                out.emit(f"{mask}a = {mask}")
            block(out, branch)
        if lines:
            out.emit(f"if {mask} is not False:")
            out.lines += lines
    out.branches.pop()
    if leaves:
        out.emit(f"{before} = join({before}, {yes}0, {no}0, {yes}, {no})")


def break_statement(out: Writer, node: program.Break) -> None:
    out.emit(f"{out.loops[-1]}b = unite({out.loops[-1]}b, {out.mask})")
    out.emit(f"{out.mask} = False")


def continue_statement(out: Writer, node: program.Continue) -> None:
    out.emit(f"{out.mask} = False")


def return_statement(out: Writer, node: program.Return) -> None:
    result = out.function.result
    if out.function.kernel:
        out.emit(f"w.returned.append(({out.mask}, {out.at(node.line)}))")
    elif result != NONE and node.value.type != NONE:
        if out.function.partial:
            out.emit(f"h = unite(h, {out.mask})")
        code = out.cast(text(out, node.value), node.value.type, result)
        out.emit(f"result = {out.blended(out.mask, code, 'result', result, node.line)}")
    else:
        expr(out, node.value)
    out.emit(f"r = unite(r, {out.mask})")
    out.emit(f"{out.mask} = False")


def iterated(out: Writer, node: program.Iterable, live: str, whole: bool) -> str:
    """Code of a for loop's iterator for the lanes of ``live``; ``whole``: no lane leaves before the end."""
    match node:
        case program.Range():
            start, stop, step = (text(out, part) for part in (node.start, node.stop, node.step))
            kind = out.module.dtype(str(node.start.type))
            line = out.at(node.line)
            return f"iterate(w.steps, {live}, {start}, {stop}, {step}, {kind}.type, line={line}, whole={whole})"
        case program.Each():
            return f"each(w.steps, {live}, {text(out, node.value)}, {out.at(node.line)})"
        case program.Numbered():
            inner = iterated(out, node.inner, live, whole)
            return f"numbered({inner}, {text(out, node.start)})"
        case program.Together():
            return f"together([{', '.join(iterated(out, part, live, False) for part in node.parts)}])"


def loop(out: Writer, node: program.Loop) -> None:
    before, live, body = out.mask, out.fresh("l"), node.body.body
    leaves, returns, broken = exits(body, LEAVING), exits(body, (program.Return,)), exits(body, (program.Break,))
    head = ""
    if node.iterable is not None:
        head = iterated(out, node.iterable, live, not exits(body, (program.Break, program.Return)))
    counter, mask, value = out.fresh("n"), out.fresh("m"), out.fresh("t")
    out.position += 1
    position = out.position
    first_site = len(out.sites)
    out.emit(f"{live} = [{before}]")
    if broken:
        out.emit(f"{live}b = False")
    statements(out, node.entry, -1)
    out.emit(f"{counter} = 0")
    if node.iterable is not None:
        out.emit(f"for {value}, {mask} in {head}:")
    else:
        out.emit(f"while {live}[0] is not False:")
    out.mask = mask
    with out.deeper():
        if node.test is not None:
            head_of_while(out, node, node.test, live, counter)
        if leaves:
            out.emit(f"{mask}a = {mask}")
        out.anchors[node.body.region] = f"{mask}a" if leaves else mask
        out.loops.append(live)
        out.path += [str(position), counter]
        out.branches.append(out.at(node.line))
        out.bound = value
        statements(out, node.first, node.body.region)
        block(out, node.body)
        out.branches.pop()
        del out.path[-2:]
        out.loops.pop()
        out.emit(f"{counter} += 1")
        if node.watched is not None:
            values = "".join(f"{out.version(*watched)}, " for watched in node.watched)
            line = out.at(node.line)
            if out.module.patient:
                out.emit(f"yield w.pause(({values}), {live}[0], {line})")
            else:
                sites = "".join(f"{site}, " for site in out.sites[first_site:])
                given = f"{counter}, ({sites}), ({values}), {live}[0], {line}, {node.calls}"
                out.emit(f"if {counter} in LOOKS: w.waits({given})")
        if broken:
            out.emit(f"{live}[0] = minus({live}[0], {live}b)")
        if returns:
            out.emit(f"{live}[0] = minus({live}[0], r)")
    out.mask = before
    if returns:
        out.emit(f"{before} = minus({before}, r)")
    if node.orelse is not None:
        orelse(out, node.orelse, f"minus({before}, {live}b)" if broken else before, node.line)


def head_of_while(out: Writer, node: program.Loop, test: Expr, live: str, counter: str) -> None:
    """Write the start of a while loop's iteration: the budget and the test."""
    out.emit(f"w.steps.spend({out.at(node.line)}, {counter})")
    out.emit(f"{out.mask} = {live}[0]")
    mark(out, program.Mark(node.line))
    out.emit(f"{out.mask}, _ = split({out.mask}, {text(out, test)})")
    out.emit(f"if {out.mask} is False: break")
    out.emit(f"{live}[0] = {out.mask}")


def orelse(out: Writer, node: program.Block, lanes: str, line: int) -> None:
    """Write the ``else`` of a loop, for the lanes that did not break."""
    before, mask = out.mask, out.fresh("m")
    leaves = exits(node.body, LEAVING)
    with out.under(mask) as lines:
        if leaves:
            out.emit(f"{mask}0 = {mask}a = {mask}")
        out.anchors[node.region] = f"{mask}a" if leaves else mask
        out.branches.append(out.at(line))
        block(out, node)
        out.branches.pop()
    if lines:
        out.emit(f"{mask} = {lanes}")
        out.emit(f"if {mask} is not False:")
        out.lines += lines
        if leaves:
            out.emit(f"    if {mask} is not {mask}0: {before} = minus({before}, minus({mask}0, {mask}))")


def exits(body: list[program.Stmt], kinds: tuple[type, ...]) -> bool:
    """Whether ``body`` contains one of ``kinds`` that leaves ``body`` itself."""
    return any(_exits(statement, kinds) for statement in body)


def _exits(statement: program.Stmt, kinds: tuple[type, ...]) -> bool:
    match statement:
        case program.If():
            return exits([statement.body, statement.orelse], kinds)
        case program.Loop():  # its own breaks and continues stay inside
            within = program.Return in kinds and exits(statement.body.body, (program.Return,))
            return within or statement.orelse is not None and exits(statement.orelse.body, kinds)
        case program.Block():
            return exits(statement.body, kinds)
    return isinstance(statement, kinds)


ROWS: dict[type, Callable[..., None]] = {
    program.Block: block,
    program.Mark: mark,
    program.Evaluate: evaluate,
    program.Assign: assign,
    program.Convert: convert,
    program.If: if_statement,
    program.Loop: loop,
    program.Break: break_statement,
    program.Continue: continue_statement,
    program.Return: return_statement,
}
