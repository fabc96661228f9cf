"""Where a thread is in the grid."""

import ast

from ..program import builders, nodes
from ..source.errors import refuse
from .translation import Translation


def _dimensions(translation: Translation, node: ast.Call, name: str) -> int:
    argument = translation.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    if (count := builders.literal_integer(argument)) is not None and 1 <= count <= 3:
        return count
    refuse(node, f"cuda.{name}() takes a literal number of dimensions: 1, 2 or 3")


def grid(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    count = _dimensions(translation, node, "grid")
    items = tuple(nodes.Apply(code=f"warp.global_id({d})", type="int64", line=node.lineno) for d in range(count))
    return items[0] if count == 1 else builders.tuple_of(items)


def gridsize(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    count, launch = _dimensions(translation, node, "gridsize"), translation.facts.launch
    translation.facts.uses_grid_size = True
    items = tuple(translation.number(launch.grid[d] * launch.block[d], literal=False) for d in range(count))
    return items[0] if count == 1 else builders.tuple_of(items)
