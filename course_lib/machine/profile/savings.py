"""Rows for what makes a kernel slower: constants of double precision, and tiles whose columns are read."""

import ast
from typing import Any

from ...simulator.edits import expression
from ...simulator.findings import Finding
from ...simulator.hardware import BANKS
from ...simulator.repairs.bounds import lines_of
from ...simulator.repairs.kernel_syntax import Kernel
from ...simulator.repairs.table import Candidates, MakeCandidate, Texts, row
from .costs import Cost

#: Elements that are added to a row of a tile.
PADDINGS = (1, 2, 4, 8)
#: Where half a warp reads a row and half of it the next one, the two are in different banks if a row has as many
#: elements as half of the banks hold, or so many more than all hold. Where a quarter reads a row, half of that will do.
HALVES = (BANKS // 2, BANKS // 4)


@row("float64", float32=Texts("write {new} in {lines}{imported}"))
def constants(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """float32(...) around constants, or around one operand of the line.

    The constants are those of the line; or all that are float, as the 0.0 with which a sum begins; or these and the
    whole numbers with which such lines compute, or that divide.
    """
    numbers = [n for n in kernel.nodes if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
    inside = {n for s in kernel.nodes if isinstance(s, ast.Subscript) for n in ast.walk(s.slice)}
    numbers = [n for n in numbers if n not in inside and _is_operand(kernel, n)]
    floats = [n for n in numbers if type(n.value) is float]
    divisors = [n.right for n in kernel.nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    wholes = [n for n in numbers if type(n.value) is int and (n.lineno in kernel.wide or n in divisors)]
    node = kernel.statement(finding.line)
    head = [n for n in ast.walk(node) if getattr(n, "lineno", 0) == finding.line] if node is not None else []
    names = [n for n in head if isinstance(n, ast.Name | ast.Attribute | ast.Subscript) and _is_operand(kernel, n)]
    names = [n for n in names if not _is_stored(kernel, n)]  # a conversion there comes after the arithmetic
    groups: list[list[ast.expr]] = [[n for n in floats if n.lineno == finding.line], [*floats], [*floats, *wholes]]
    groups += [[n] for n in (*wholes, *names) if n.lineno == finding.line]
    if not kernel.float32:
        return
    for chosen in [group for place, group in enumerate(groups) if group and group not in groups[:place]]:
        chosen = sorted(chosen, key=lambda n: (n.lineno, n.col_offset))
        changes = [(n, ast.Call(expression(kernel.float32), [n], [])) for n in chosen]
        words = " and ".join(dict.fromkeys(ast.unparse(new) for _, new in changes))
        if len(chosen) > 3:
            words = f"{kernel.float32}(...) around the constants"
        values = {"new": words, "lines": lines_of(chosen), "imported": kernel.imported}
        yield make("float32", chosen[0], *changes, **values)


def _is_operand(kernel: Kernel, part: ast.AST) -> bool:
    """Whether a value is computed with, assigned or passed on."""
    above = kernel.parents.get(part)
    if isinstance(above, ast.Call):
        return part in above.args and not ast.unparse(above.func).endswith(("array", "range", "grid", kernel.float32))
    return isinstance(above, ast.BinOp | ast.UnaryOp | ast.Assign | ast.AugAssign | ast.IfExp) and isinstance(
        getattr(part, "ctx", ast.Load()), ast.Load
    )


def _is_stored(kernel: Kernel, part: ast.AST) -> bool:
    """Whether a value is all that an assignment stores to an element."""
    above = kernel.parents.get(part)
    return isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Subscript)


@row("wavefronts", padded_tile=Texts("give {name} the shape {shape} in line {at}"))
def padded(make: MakeCandidate, kernel: Kernel, cost: Cost) -> Candidates:
    """A longer row for a tile whose columns are read."""
    for node in kernel.statements:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as call) if name == cost.array:
                shape = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "shape"), None)
                if not isinstance(shape, ast.Tuple):
                    continue
                most: list[Any] = [
                    part.value if isinstance(part, ast.Constant) else kernel.constant(ast.unparse(part))
                    for part in shape.elts
                ]
                if not all(isinstance(size, int) for size in most):
                    continue
                last = most.pop()
                halves = [last + (half - last) % (2 * half) for half in HALVES]
                for longer in dict.fromkeys([*(last + more for more in PADDINGS), *halves]):
                    new = ast.Tuple([*shape.elts[:-1], ast.Constant(longer)], ast.Load())
                    yield make("padded-tile", node, (shape, new), name=name, shape=(*most, longer), at=node.lineno)


ROWS = (constants, padded)
