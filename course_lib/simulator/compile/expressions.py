"""The code of the typed program's expressions: ``ROWS`` has a function for each kind of node."""

from collections.abc import Callable
from math import prod

from ..language import nodes
from ..language.program import CallDevice
from ..language.types import DTYPE, NONE, SCALARS, ArrayType, TupleType
from .writer import Code, Writer

#: Longer code gets a name, because Python allows 200 nested parentheses.
LONG = 1000


def expr(out: Writer, node: nodes.Expr) -> Code:
    """Write the statements of the node's effects; return the code of its value."""
    return ROWS[type(node)](out, node)


def text(out: Writer, node: nodes.Expr) -> str:
    return expr(out, node).text


def tuple_text(out: Writer, items: tuple[nodes.Expr, ...]) -> str:
    return f"({''.join(f'{text(out, item)}, ' for item in items)})"


def const(out: Writer, node: nodes.Const) -> Code:
    return Code(out.module.constant(node.value), True, True)


def local(out: Writer, node: nodes.Local) -> Code:
    code = out.version(node.name, node.type)
    if node.unsure:
        out.emit(f"w.tell_missing('variable', h_{node.name}, {out.mask}, {node.name!r}, {out.at(node.line)})")
        poison = out.module.constant(DTYPE[str(node.type)].type(0))
        out.emit(f"if {code} is None: {code} = {poison}")
    return Code(code, True)


def apply(out: Writer, node: nodes.Apply) -> Code:
    operands = [code if len(code) < LONG else out.keep(code).text for code in (text(out, a) for a in node.args)]
    told = out.module.tracing and node.text and not out.function.foreign
    if told:
        operands = [out.keep(operand).text for operand in operands]
    dtype = out.module.dtype(node.type) if isinstance(node.type, str) and node.type in SCALARS else ""
    sites = ", ".join(out.site(node.line, *accesses) for accesses in node.sites)
    code = node.code.format(*operands, mask=out.mask, line=out.at(node.line), dtype=dtype, sites=sites)
    if told:
        truth = out.keep(code)
        what = f"{node.text!r}, ({operands[0]}, {operands[1]}), {truth.text}"
        out.emit(f"w.tell('tested', {node.line}, {what}, {out.mask})")
        return truth
    if not node.acts:
        return Code(code)
    *before, last = code.split("\n")
    for line in before:
        out.emit(line)
    if node.type == NONE:
        out.emit(last)
        return Code("None")
    return out.keep(last)


def converted(out: Writer, node: nodes.Cast) -> Code:
    if isinstance(node.value, nodes.MakeTuple) and isinstance(node.type, TupleType):
        pairs = zip(node.value.items, node.type.items, strict=True)
        return Code("(" + "".join(out.cast(text(out, i), i.type, kind) + ", " for i, kind in pairs) + ")")
    code = expr(out, node.value)
    if isinstance(node.type, TupleType) and not code.name:
        code = out.keep(code.text)
    return Code(out.cast(code.text, node.value.type, node.type))


def save(out: Writer, node: nodes.Saved) -> Code:
    if node not in out.saved:
        code = expr(out, node.value)
        out.saved[node] = code if code.kept else out.keep(code.text)
    return out.saved[node]


def after(out: Writer, node: nodes.After) -> Code:
    for part in node.first:
        expr(out, part)
    return expr(out, node.value)


def make_tuple(out: Writer, node: nodes.MakeTuple) -> Code:
    return Code(tuple_text(out, node.items))


def item(out: Writer, node: nodes.Item) -> Code:
    return Code(f"{text(out, node.value)}[{node.index}]")


def bound_value(out: Writer, node: nodes.LoopValue) -> Code:
    return Code(out.bound + "".join(f"[{i}]" for i in node.path))


def load(out: Writer, node: nodes.Load) -> Code:
    array, index = text(out, node.array), tuple_text(out, node.index)
    site = out.site(node.line, "matrices" if node.matrices else "load", node.width)
    return out.keep(access(node.array, "load", site, f"{array}, {index}, {out.mask}"))


def view(out: Writer, node: nodes.MakeView) -> Code:
    array, parts = text(out, node.array), []
    for part in node.parts:
        if isinstance(part, nodes.Slice):
            parts.append(f"({', '.join('None' if b is None else text(out, b) for b in part.bounds)})")
        else:
            parts.append(text(out, part))
    return Code(f"view({array}, ({''.join(f'{part}, ' for part in parts)}), {out.at(node.line)})")


def store(out: Writer, node: nodes.Store) -> Code:
    value = text(out, node.value)
    array, index = text(out, node.array), tuple_text(out, node.index)
    site = out.site(node.line, "store", node.width)
    out.emit(access(node.array, "store", site, f"{array}, {index}, {value}, {out.mask}"))
    return Code("None")


def atomic(out: Writer, node: nodes.Atomic) -> Code:
    array, index, values = text(out, node.array), tuple_text(out, node.index), tuple_text(out, node.values)
    site = out.site(node.line, "atomic")
    arguments = f"{node.operation!r}, {array}, {index}, {values}, {out.mask}, used={node.used}"
    return out.keep(access(node.array, "atomic", site, arguments))


def allocate(out: Writer, node: nodes.Allocate) -> Code:
    number = -1 if node.dynamic else out.module.arrays.setdefault(node, len(out.module.arrays))
    if node.space == "local":
        out.own_arrays.append(number)
    else:
        out.module.shared.setdefault(number, (node.name, node.bytes, prod(node.shape), out.at(node.line)))
    dtype = out.module.dtype(node.array_type.dtype)
    aligned = f", alignment={node.alignment}" if node.space == "shared" and (node.alignment or node.record) else ""
    aligned += f", record={node.record}" if node.record else ""
    return Code(f"w.{node.space}_array({number}, {node.name!r}, {dtype}, {node.shape!r}, {out.mask}{aligned})")


def frozen(out: Writer, node: nodes.Frozen) -> Code:
    return Code(out.module.frozen(node), True, True)


def call_device(out: Writer, node: CallDevice) -> Code:
    codes = {i: text(out, node.args[i]) for i in node.written}
    name = out.module.name(node.function, out.at(node.line))
    arguments = "".join(f", {codes[i]}" for i in range(len(node.args)))
    branch = f", {out.branch()}" if node.function.barriers else ""
    call = f"{name}(w, {out.mask}, {out.place()}{branch}{arguments})"
    if out.module.yields(node.function):
        call = f"(yield from {call})"
    if not node.function.partial:
        return out.keep(call)
    result, have = out.fresh("t"), out.fresh("h")
    out.emit(f"{result}, {have} = {call}")
    if node.used:
        what = f"the result of {node.function.name}()"
        out.emit(f"w.tell_missing('result', {have}, {out.mask}, {what!r}, {out.at(node.line)})")
        poison = out.module.constant(DTYPE[str(node.type)].type(0))
        out.emit(f"if {result} is None: {result} = {poison}")
    return Code(result, True, True)


def call_warp(out: Writer, node: nodes.CallWarp) -> Code:
    values = tuple_text(out, node.args)
    kinds = node.type.items if isinstance(node.type, TupleType) else (node.type,)
    dtypes = "".join(f"{out.module.dtype(str(kind))}, " for kind in kinds)
    function = out.module.named(node.function)
    if node.together:
        out.module.together.setdefault((out.at(node.line), node.name), node.function)
        call = f"w.together({function}, {node.name!r}, {values}, ({dtypes}), {out.mask}, {out.at(node.line)})"
    else:
        call = f"w.alone({function}, {values}, ({dtypes}))"
    result = out.keep(call)
    return result if isinstance(node.type, TupleType) else Code(f"{result.text}[0]")


def copy(out: Writer, node: nodes.StartCopy) -> Code:
    target, place = text(out, node.target), tuple_text(out, node.place)
    array, index = text(out, node.array), tuple_text(out, node.index)
    load, store = (out.site(node.line, op, node.width) for op in ("load", "store"))
    inside = f", inside={text(out, node.inside)}" if node.inside else ""
    out.emit(f"w.copy({load}, {store}, {target}, {place}, {array}, {index}, mask={out.mask}{inside})")
    return Code("None")


def elementwise(out: Writer, node: nodes.Elementwise) -> Code:
    inputs = []
    for value in node.inputs:
        code = text(out, value)
        is_array = isinstance(value.type, ArrayType)
        inputs.append(f"({out.site(node.line, 'load')}, {code})" if is_array else code)
    array, site = text(out, node.array), out.site(node.line, "store")
    function = out.module.named(node.function)
    given = f"({''.join(f'{value}, ' for value in inputs)}), {out.mask}, line={out.at(node.line)}, whole={node.whole}"
    out.emit(f"elementwise(w.steps, {site}, {array}, {function}, {given})")
    return Code("None")


def meet(out: Writer, node: nodes.Meet) -> Code:
    reduction = "None"
    if node.predicate is not None:
        reduction = f"({node.reduction!r}, {text(out, node.predicate)})"
    branch = out.branch()
    code = f"(yield Barrier({out.place()}, {out.at(node.line)}, {branch}, {out.mask}, {reduction}, {node.grid}))"
    if node.predicate is not None:
        return out.keep(code)
    out.emit(code)
    return Code("None")


def select(out: Writer, node: nodes.Select) -> Code:
    test = text(out, node.test)
    if node.is_scalar and not (node.yes.effect or node.no.effect):
        return Code(f"pick({test}, {text(out, node.yes)}, {text(out, node.no)})")
    yes, no, result = out.fresh("m"), out.fresh("m"), out.fresh("t")
    out.emit(f"{result} = None")
    out.emit(f"{yes}, {no} = split({out.mask}, {test})")
    for mask, side in ((yes, node.yes), (no, node.no)):
        out.emit(f"if {mask} is not False:")
        with out.under(mask) as lines:
            code = text(out, side)
            out.emit(f"{result} = {out.blended(mask, code, result, node.type, node.line)}")
        out.lines += lines
    return Code(result, True, True)


def logical(out: Writer, node: nodes.Logical) -> Code:
    combine = "both" if node.conjunction else "either"
    first, *rest = node.parts
    left = expr(out, first)
    for part in rest:
        if not part.effect and not out.module.tracing:  # a trace records only what a lane evaluates
            left = Code(f"{combine}({left.text}, {text(out, part)})")
            continue
        mask, result = out.fresh("m"), out.fresh("t")
        out.emit(f"{result} = {left.text}")
        masks = f"{mask}, {mask}_" if node.conjunction else f"{mask}_, {mask}"
        out.emit(f"{masks} = split({out.mask}, {result})")
        out.emit(f"if {mask} is not False:")
        with out.under(mask) as lines:
            code = text(out, part)
            out.emit(f"{result} = {combine}({result}, {code})")
        out.lines += lines
        left = Code(result, True)
    return left


def access(array: nodes.Expr, how: str, site: str, arguments: str) -> str:
    return f"{how}_through({site}, {arguments})" if array.array_type.view else f"{site}.{how}({arguments})"


ROWS: dict[type[nodes.Expr], Callable[..., Code]] = {
    nodes.Const: const,
    nodes.Nothing: lambda out, node: Code("None"),
    nodes.Static: lambda out, node: Code(out.module.named(node.thing), True, True),
    nodes.Local: local,
    nodes.LoopValue: bound_value,
    nodes.Apply: apply,
    nodes.Cast: converted,
    nodes.Saved: save,
    nodes.After: after,
    nodes.MakeTuple: make_tuple,
    nodes.Item: item,
    nodes.Load: load,
    nodes.MakeView: view,
    nodes.Store: store,
    nodes.Atomic: atomic,
    nodes.Select: select,
    nodes.Logical: logical,
    nodes.Allocate: allocate,
    nodes.Frozen: frozen,
    CallDevice: call_device,
    nodes.CallWarp: call_warp,
    nodes.StartCopy: copy,
    nodes.Elementwise: elementwise,
    nodes.Meet: meet,
}
