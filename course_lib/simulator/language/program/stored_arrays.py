"""The arguments that a kernel stores to; only those are checked for races."""

from functools import reduce

from ..types.value_types import ArrayType, RecordsType, TupleType
from . import nodes
from .statement_nodes import CallDevice, Function

#: Names of parameters; None: any of them.
Names = frozenset[str] | None


def stored_parameters(function: Function, results: dict[Function, Names]) -> Names:
    """The array parameters that ``function``, or one that it calls, stores to."""
    if function not in results:
        aliases = _aliases(function)
        result: Names = frozenset()
        for array in function.stored:
            result = _union(result, _roots(array, aliases))
        for call in function.called:
            inner = stored_parameters(call.function, results)
            for (name, kind), argument in zip(call.function.parameters, call.args, strict=True):
                if inner is None or name in inner:
                    found: Names = None if isinstance(kind, (TupleType, RecordsType)) else frozenset()
                    result = _union(result, _roots(argument, aliases) if isinstance(kind, ArrayType) else found)
        results[function] = result
    return results[function]


def _aliases(function: Function) -> dict[str, Names]:
    """The array parameters that each variable may refer to."""
    aliases: dict[str, Names] = {
        name: frozenset({name}) for name, kind in function.parameters if isinstance(kind, ArrayType)
    }
    before: dict[str, Names] | None = None
    while before != aliases:
        before = dict(aliases)
        for name, value in function.array_assignments:
            aliases[name] = _union(aliases.get(name, frozenset()), _roots(value, aliases))
    return aliases


def _roots(value: nodes.Expr, aliases: dict[str, Names]) -> Names:
    match value:
        case nodes.Local():
            return aliases.get(value.name, frozenset())
        case nodes.Allocate() | nodes.ConstantArray():
            return frozenset()
        case CallDevice():
            return None
    arrays = [_roots(operand, aliases) for operand in value.operands if isinstance(operand.type, ArrayType)]
    return reduce(_union, arrays) if arrays else None


def _union(a: Names, b: Names) -> Names:
    return None if a is None or b is None else a | b
