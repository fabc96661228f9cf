"""Barriers, fences and pauses."""

import ast

from ..program import builders, nodes
from ..source.names import GRID_GROUP
from ..types.value_types import NONE, TypingError, is_int
from . import conditions
from .refusals import check_arguments
from .translation import Translation

FENCE, BLOCK_FENCE = (f"warp.report('fence', {{mask}}, {block_only})" for block_only in (False, True))


def _barrier(
    translation: Translation,
    node: ast.Call,
    args: tuple[nodes.Expr, ...] = (),
    reduction: str = "None",
    grid: bool = False,
) -> nodes.Expr:
    """A barrier of the block, or of the whole ``grid``; ``reduction`` names what it does with ``args``."""
    translation.function.barriers = True
    arrival = "{program_point}, line={line}, enclosing_line={enclosing_line}, mask={mask}"
    code = f"(yield Barrier({arrival}, reduction={reduction}, grid={grid}))"
    return nodes.Apply(code=code, args=args, type="int32" if args else NONE, line=node.lineno)


def syncthreads(translation: Translation, node: ast.Call, used: bool, grid: bool = False) -> nodes.Expr:
    """A barrier of the block, or ``cg.this_grid().sync()``."""
    check_arguments(node, "no arguments", 0)
    translation.facts.cooperative |= grid
    return _barrier(translation, node, grid=grid)


def grid_group(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """``cg.this_grid()``: an object with one method."""
    check_arguments(node, "no arguments", 0)
    return nodes.CompileTimeObject(obj=GRID_GROUP)


def reduction(name: str, translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    (value,) = translation.arguments(node, (1,), f"cuda.{name}")
    if not is_int(str(value.type)):
        raise TypingError(f"cuda.{name} takes an integer, not {value.type}; write int({ast.unparse(node.args[0])})")
    return _barrier(translation, node, (conditions.truth(translation, value, node.lineno),), f"({name!r}, {{0}})")


def syncwarp(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    check_arguments(node, "at most 1 mask", 0, 1)
    members = translation.scalar(node.args[0]) if node.args else translation.number(0xFFFFFFFF)
    if not is_int(str(members.type)):
        raise TypingError("the mask of a warp operation must be an integer, such as 0xFFFFFFFF")
    translation.facts.syncwarps = True
    translation.facts.partial_syncwarps |= not (
        isinstance(members, nodes.Const) and int(members.value) in (0xFFFFFFFF, -1)
    )
    return nodes.Apply(code="warp.syncwarp({0}, {mask}, {line})", args=(members,), line=node.lineno)


def fence(translation: Translation, node: ast.Call, used: bool, code: str = FENCE) -> nodes.Expr:
    check_arguments(node, "no arguments", 0)
    translation.facts.fences = True
    return nodes.Apply(code=code, line=node.lineno)


def nanosleep(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """``cuda.nanosleep(nanoseconds)``."""
    (value,) = translation.arguments(node, (1,), "cuda.nanosleep")
    return builders.after((value,), nodes.Nothing())
