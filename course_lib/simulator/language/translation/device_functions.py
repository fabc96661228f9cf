"""Calls of device functions, of functions that a kernel defines, and of those that numba overloads."""

import ast
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ..program import builders, nodes
from ..program.builders import cast
from ..program.statement_nodes import CallDevice
from ..source.errors import refuse
from ..source.function import Inner, Source
from ..source.reading import read
from ..types import decorator_signatures, numba_overloads
from ..types.value_types import ArrayType, Type
from .refusals import bind_arguments
from .translated_expression import Translated
from .translation import Translation


def device(translation: Translation, node: ast.Call, obj: object, used: bool) -> nodes.Expr:
    """A call of a device function, which is compiled once for each combination of argument types."""
    source = read(obj)
    translation.facts.lookups.append((read, (obj,), source))
    return _called(translation, node, source, used, decorator_signatures.declared(obj, source))


def overloaded(translation: Translation, node: ast.Call, function: object, used: bool) -> nodes.Expr | None:
    """A call of a function for which numba's ``@overload`` gives another; None if it has none for these types."""
    if not numba_overloads.templates(function):
        return None
    given = [Translated(translation.expr(part), part) for part in node.args]
    named = {str(part.arg): Translated(translation.expr(part.value), part.value) for part in node.keywords}
    kinds = [_kind_of_argument(part.value) for part in given]
    kinds_by_name = {name: _kind_of_argument(part.value) for name, part in named.items()}
    found = numba_overloads.implementation(function, kinds, kinds_by_name)
    if found is None:
        return None
    keywords = [ast.keyword(name, part) for name, part in named.items()]
    translated = ast.copy_location(ast.Call(node.func, [*given], keywords), node)
    return _called(translation, translated, read(found), used)


def _kind_of_argument(value: nodes.Expr) -> Type:
    """The type of an argument for an overload, which may take functions."""
    obj = builders.compile_time(value)
    is_function = obj is not None and (isinstance(obj[0], Inner) or hasattr(obj[0], "py_func"))
    return numba_overloads.FUNCTION if is_function else value.type


def inner(translation: Translation, node: ast.Call, source: Inner, used: bool) -> nodes.Expr:
    """A call of a function that the kernel defines; the variables of the kernel that it reads are arguments too."""
    if node.keywords:
        refuse(node, f"numba takes no names in the call of a function that a kernel defines; give {source.name} values")
    owner: Source | None = translation.source
    while owner is not source.outer and owner is not None:
        owner = owner.outer if isinstance(owner, Inner) else None
    if owner is not None and source.rest:
        refuse(
            node, f"numba compiles no *{source.rest} of a function that a kernel defines and calls; name each argument"
        )
    unknown = [name for name in source.free if name not in source.constants]
    if owner is None and unknown:
        refuse(
            node,
            f"{source.name} reads {', '.join(unknown)} of the function that defines it, and is called outside of "
            "that, where numba knows only constants; pass the values as arguments",
        )
    free: dict[str, nodes.Expr] = {}
    for name in source.free:
        if owner is None:
            free[name] = translation.number(source.constants[name])
        else:
            free[name] = translation.expr(ast.copy_location(ast.Name(name, ast.Load()), node))
    return _called(translation, node, source, used, free=free)


def _called(
    translation: Translation,
    node: ast.Call,
    source: Source,
    used: bool,
    declared: tuple[decorator_signatures.DeclaredSignature, ...] = (),
    *,
    free: Mapping[str, nodes.Expr] = MappingProxyType({}),
) -> nodes.Expr:
    """The call of ``source``; ``free`` are the values of further parameters."""
    if source.key in translation.stack:
        begin = translation.stack.index(source.key)
        cycle = [*map(_name_of, translation.stack[begin:]), source.name]
        refuse(node, f"{', which calls '.join(cycle)}: the simulator does not run recursion; write a loop")
    parameters = source.parameters
    given = {**_values(translation, node, source), **free}
    values = [given[name] for name in parameters]
    result = None
    if declared:
        signature = decorator_signatures.choose(declared, tuple(value.type for value in values), source.name)
        values = [_cast_to(value, kind) for value, kind in zip(values, signature.arguments, strict=True)]
        result = signature.result
    callee = translation.device(node, source, values, result)
    translation.calls = True
    translation.function.barriers = translation.function.barriers or callee.barriers
    translation.function.waits = translation.function.waits or callee.waits
    passed = [name for name in parameters if builders.compile_time(given[name]) is None]
    return CallDevice(
        function=callee,
        args=tuple(value for value in values if builders.compile_time(value) is None),
        evaluation_order=tuple(passed.index(name) for name in given if name in passed),
        used=used,
        type=callee.result,
        line=node.lineno,
        why=callee.result_why,
    )


def _name_of(key: object) -> str:
    """The name of a function that is being translated, by its key."""
    return str(getattr(key, "__name__", getattr(key, "name", "a lambda")))


def _cast_to(value: nodes.Expr, kind: Type) -> nodes.Expr:
    """An argument as a signature declares it: arrays stay as they are."""
    return value if isinstance(kind, ArrayType) else replace(cast(value, kind), why=None)


def _values(translation: Translation, node: ast.Call, source: Source) -> dict[str, nodes.Expr]:
    """The values of a device function's parameters, in the order written: given, then by default."""
    parameters, defaults = source.own, source.defaults
    parts = bind_arguments(node, source.name, parameters, len(defaults), source.rest)
    with_default = parameters[len(parameters) - len(defaults) :]
    default_of = dict(zip(with_default, defaults, strict=True))
    values = {name: translation.expr(part) for name, part in parts.items()}
    for name in parameters:
        if name not in parts:
            values[name] = translation.wrap(default_of[name], node)
    rest = tuple(map(translation.expr, node.args[len(parameters) :]))
    if source.rest:
        values[source.rest] = builders.tuple_of(rest)
    return values
