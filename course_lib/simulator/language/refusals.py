"""Refusals: constructs that a kernel cannot contain, and what to write instead."""

import ast
from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import NoReturn

from ..findings import UnsupportedKernelError
from .types import Type, describe_type

#: What no kernel may contain, by the name of its syntax.
CONSTRUCTS = {
    **dict.fromkeys(("Try", "TryStar"), "try/except; check the condition with if"),
    "With": "a with statement; write the statements without it",
    **dict.fromkeys(("AsyncWith", "AsyncFor"), "async code; leave it out"),
    "AsyncFunctionDef": "async code; define a function outside with @cuda.jit(device=True)",
    "ClassDef": "a class; use variables, tuples and arrays",
    "Delete": "a del statement; leave it out",
    **dict.fromkeys(("Import", "ImportFrom"), "an import; import above the function"),
    "Global": "a global statement; it reads globals without one, and cannot assign them",
    "Nonlocal": "a nonlocal statement; it reads outer variables without one, and cannot assign them",
    "List": "a list; use a tuple, or cuda.local.array",
    "Set": "a set; use a tuple",
    "Dict": "a dictionary; use variables, tuples and arrays",
    "ListComp": "a list comprehension; write a loop",
    "SetComp": "a set comprehension; write a loop",
    "DictComp": "a dictionary comprehension; write a loop",
    "GeneratorExp": "a generator expression; write a loop",
    "JoinedStr": 'an f-string; print takes texts and numbers apart, as print("i =", i)',
    "NamedExpr": "the := operator, which numba compiles of names and numbers alone; assign in a statement of its own",
    "Starred": "a * before a value; write the items out",
    "Slice": "a slice; loop over single elements",
    "Await": "await; leave it out",
    "Yield": "yield; write the values to an array",
    "YieldFrom": "yield from; write the values to an array",
}

#: What to write instead of a loop over these.
LOOPS = {
    "reversed": "write range(n - 1, -1, -1)",
    "prange": "write range(...); every thread runs the whole loop",
    "map": "call the function in the loop",
    "filter": "write an if in the loop",
}

BUILTINS = {
    "range": "it belongs in a for statement",
    "enumerate": "it belongs in a for statement",
    "zip": "it belongs in a for statement",
    "any": "use or",
    "all": "use and",
    "list": "use cuda.local.array",
    "set": "use a tuple",
    "sorted": "sort before the launch",
    "str": "compute with numbers",
}
MATH = {
    "comb": "multiply in a loop",
    "perm": "multiply in a loop",
    "factorial": "multiply in a loop",
    "prod": "multiply in a loop",
    "fsum": "add in a loop",
    "sumprod": "add in a loop",
    "dist": "use math.sqrt of the sum of squares",
    "gcd": "write Euclid's algorithm as a loop",
    "lcm": "write Euclid's algorithm as a loop",
    "isqrt": "write int(math.sqrt(x))",
    "isclose": "write abs(a - b) < tolerance",
}
NUMPY = {
    "absolute": "abs",
    "power": "**",
    "zeros": "cuda.local.array",
    "empty": "cuda.local.array",
    "ones": "cuda.local.array",
    "where": "a if condition else b",
    "clip": "min and max",
    "sum": "a loop that adds",
    "dot": "a loop that multiplies and adds",
    "matmul": "a loop that multiplies and adds",
    **dict.fromkeys(
        ("rand", "randn", "randint", "random", "normal", "uniform", "choice", "shuffle", "permutation"),
        "an array of random numbers that the host draws",
    ),
}
#: Functions that one might expect in numba.cuda, but that it lacks.
ABSENT = {"rsqrt": "write 1 / math.sqrt(x)", "random": "write import numba.cuda.random above the kernel"}
BFLOAT16 = "use float32, which holds every bfloat16, and round the arrays before the launch"
CUDA = {
    "atomic": "call one of its functions, such as cuda.atomic.add",
    "shared": "write tile = cuda.shared.array(...)",
    "local": "write v = cuda.local.array(...)",
    "libdevice": "use the functions of math",
    "fp16": "use float32",
    "bf16": BFLOAT16,
    "bfloat16": BFLOAT16,
    "const": "write cuda.const.array_like(ARRAY)",
    "cg": "numba has one group, cuda.cg.this_grid(), with one method, sync()",
    "clock": "leave it out: the simulator counts, and knows no time",
    "clock64": "leave it out: the simulator counts, and knows no time",
}
#: What to write instead of the functions of a module.
MODULES = {
    "numba.cuda._internal.cuda_bf16": BFLOAT16,
    "numba.misc.special": "numba compiles it for no GPU: write a statement for each item",
    "cmath": "write it out with .real and .imag and the functions of math",
}
#: What to write instead of an argument that numba's version of a function does not take.
NOT_TAKEN = {
    "math.log": "; divide by the log of the base",
    "int": "; it converts one number",
}


class UnknownShape(UnsupportedKernelError):
    """The shape of an array is unknown; in a device function it may be an argument that is a literal in the call."""


class SmallerItems(Exception):
    """Dynamic shared memory is an array of smaller elements, too: all of it consists of these."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        super().__init__(dtype)


def refuse(node: ast.AST, text: str) -> NoReturn:
    """Raise UnsupportedKernelError at the line of ``node``."""
    raise UnsupportedKernelError(text, getattr(node, "lineno", None))


def mistyped(node: ast.AST, kind: Type, text: str) -> NoReturn:
    """Refuse ``node`` because its value has the type ``kind``; ``text`` says what is needed."""
    refuse(node, f"{ast.unparse(node)} is {describe_type(kind)}; {text}")


def check_arguments(node: ast.Call, takes: str, *counts: int) -> None:
    """Refuse a call with named arguments, or with another number of them than one of ``counts``, if there are any."""
    if node.keywords or counts and len(node.args) not in counts:
        refuse(node, f"{ast.unparse(node.func)}() takes {takes}{', without names' * bool(node.keywords)}")


def bound(
    node: ast.Call, name: str, parameters: Sequence[str], optional: int = 0, rest: str = ""
) -> dict[str, ast.expr]:
    """The arguments of a call by parameter, in the order written, without those that ``rest`` takes.

    The last parameters are ``optional``. Refuses other arguments.
    """
    if any(keyword.arg is None for keyword in node.keywords):
        refuse(node, f"** cannot unpack in a kernel; write out the arguments of {name}")
    needed = len(parameters) - optional
    takes = [
        Parameter(p, Parameter.POSITIONAL_OR_KEYWORD, default=Parameter.empty if i < needed else None)
        for i, p in enumerate(parameters)
    ]
    if rest:
        takes.append(Parameter(rest, Parameter.VAR_POSITIONAL))
    named = {str(keyword.arg): keyword.value for keyword in node.keywords}
    try:
        Signature(takes).bind(*node.args, **named)
    except TypeError as error:
        needs = [*parameters[:needed], *(f"{p} (may be left out)" for p in parameters[needed:])]
        refuse(node, f"{name} takes {', '.join(needs) or 'no arguments'}; {error}")
    return dict(zip(parameters, node.args, strict=False)) | named


def refuse_construct(node: ast.AST) -> NoReturn:
    name = type(node).__name__
    advice = f"{name}; write assignments, arithmetic, comparisons, calls, if, for and while"
    refuse(node, f"a kernel cannot hold {CONSTRUCTS.get(name, advice)}")
