"""Refusals that several translations share: of a construct, a type, or the arguments of a call."""

import ast
from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import NoReturn

from ..source.errors import refuse
from ..tables.unsupported_features import CONSTRUCTS
from ..types.value_types import Type, describe_type


def mistyped(node: ast.AST, kind: Type, text: str) -> NoReturn:
    """Refuse ``node`` because its value has the type ``kind``; ``text`` says what is needed."""
    refuse(node, f"{ast.unparse(node)} is {describe_type(kind)}; {text}")


def check_arguments(node: ast.Call, takes: str, *counts: int) -> None:
    """Refuse a call with named arguments, or with another number of them than one of ``counts``, if there are any."""
    if node.keywords or counts and len(node.args) not in counts:
        refuse(node, f"{ast.unparse(node.func)}() takes {takes}{', without names' * bool(node.keywords)}")


def bind_arguments(
    node: ast.Call, name: str, parameters: Sequence[str], optional: int = 0, rest: str = ""
) -> dict[str, ast.expr]:
    """The arguments of a call by parameter, in the order written, without those that ``rest`` takes.

    The last parameters are ``optional``. Refuses other arguments.
    """
    if any(keyword.arg is None for keyword in node.keywords):
        refuse(node, f"** cannot unpack in a kernel; write out the arguments of {name}")
    needed = len(parameters) - optional
    takes = [
        Parameter(each, Parameter.POSITIONAL_OR_KEYWORD, default=Parameter.empty if i < needed else None)
        for i, each in enumerate(parameters)
    ]
    if rest:
        takes.append(Parameter(rest, Parameter.VAR_POSITIONAL))
    named = {str(keyword.arg): keyword.value for keyword in node.keywords}
    try:
        Signature(takes).bind(*node.args, **named)
    except TypeError as error:
        needs = [*parameters[:needed], *(f"{each} (may be left out)" for each in parameters[needed:])]
        refuse(node, f"{name} takes {', '.join(needs) or 'no arguments'}; {error}")
    return dict(zip(parameters, node.args, strict=False)) | named


def refuse_construct(node: ast.AST) -> NoReturn:
    name = type(node).__name__
    advice = f"{name}; write assignments, arithmetic, comparisons, calls, if, for and while"
    refuse(node, f"a kernel cannot hold {CONSTRUCTS.get(name, advice)}")
