"""The arguments that a kernel stores to; only those are checked for races."""

from ..language import nodes
from ..language.program import Assign, CallDevice, Function, expressions, statements
from ..language.types import ArrayType, RecordsType, TupleType

#: Names of parameters; None: any of them.
Names = frozenset[str] | None


def written(function: Function, known: dict[Function, Names]) -> Names:
    """The array parameters that ``function``, or one that it calls, stores to."""
    if function not in known:
        aliases = _aliases(function)
        result: Names = frozenset()
        for node in expressions(function.body.body):
            if isinstance(node, (nodes.Store, nodes.Atomic, nodes.Elementwise)):
                result = _union(result, _roots(node.array, aliases))
            elif isinstance(node, nodes.StartCopy):
                result = _union(result, _roots(node.target, aliases))
            elif isinstance(node, CallDevice):
                inner = written(node.function, known)
                for (name, kind), argument in zip(node.function.parameters, node.args, strict=True):
                    if inner is None or name in inner:
                        found: Names = None if isinstance(kind, (TupleType, RecordsType)) else frozenset()
                        result = _union(result, _roots(argument, aliases) if isinstance(kind, ArrayType) else found)
        known[function] = result
    return known[function]


def _aliases(function: Function) -> dict[str, Names]:
    """The array parameters that each variable may refer to."""
    aliases: dict[str, Names] = {
        name: frozenset({name}) for name, kind in function.parameters if isinstance(kind, ArrayType)
    }
    assigned = [
        s for s in statements(function.body.body) if isinstance(s, Assign) and isinstance(s.value.type, ArrayType)
    ]
    changed = True
    while changed:
        changed = False
        for statement in assigned:
            before = aliases.get(statement.name, frozenset())
            after = _union(before, _roots(statement.value, aliases))
            if after != before or statement.name not in aliases:
                aliases[statement.name] = after
                changed = True
    return aliases


def _roots(value: nodes.Expr, aliases: dict[str, Names]) -> Names:
    match value:
        case nodes.Local():
            return aliases.get(value.name, frozenset())
        case nodes.Allocate() | nodes.Frozen():
            return frozenset()
        case nodes.Saved() | nodes.Cast() | nodes.After():
            return _roots(value.value, aliases)
        case nodes.MakeView():
            return _roots(value.array, aliases)
        case nodes.Apply() if isinstance(value.args[0].type, ArrayType):  # transposed
            return _roots(value.args[0], aliases)
        case nodes.Select():
            return _union(_roots(value.yes, aliases), _roots(value.no, aliases))
    return None


def _union(a: Names, b: Names) -> Names:
    return None if a is None or b is None else a | b
