"""Remarks that do not affect the grade, but are useful on a GPU."""

import ast

from .mistakes.variables import added_to
from .source import Submission


def remarks_on_text(source: Submission, alone: bool = False) -> tuple[str, ...]:
    """Remarks that do not affect the grade, but are useful on a GPU; ``alone``: one thread, as on the host."""
    remarks = []
    if not source.decorated and not alone:
        remarks.append("this is a plain Python function; for a GPU, put @cuda.jit on the line above its def.")
    nodes = list(ast.walk(source.tree)) if source.tree else []
    if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "print" for node in nodes):
        remarks.append("check shows nothing that a kernel prints: launch it with simulate to read it.")
    for node in nodes:
        match node:
            case ast.Assign([ast.Name(name), *_], ast.Constant(float(value))):
                remarks.append(
                    f"line {node.lineno}: {name} = {value} is a double-precision number (float64), and so is every sum "
                    f"with it; float32({value:g}) keeps the arithmetic in single precision."
                )
    return tuple(remarks)


def remark_on_float64(source: Submission, line: int | None, message: str) -> str:
    """What made a line compute in float64: a sum that begins as an integer, or else the finding's message."""
    kernel = source.kernel
    node = kernel.statement(line) if kernel else None
    sum = added_to(node) if node else ""
    for begun in kernel.nodes_of(ast.Assign) if kernel else ():
        match begun:
            case ast.Assign([ast.Name(name)], ast.Constant(value)) if type(value) is int and name == sum:
                return (
                    f"line {begun.lineno}: {name} = {value} is an integer, and the sum of an integer and a float32 is "
                    f"computed in float64; begin with float32({value})."
                )
    return f"line {line}: {message}"
