"""Where all threads of a block pass equally often, whatever the launch: a barrier may be there."""

import ast
import re

#: What has a value of its own in each thread, and what has one value in a block.
_PER_THREAD = ("threadIdx", "laneid")
_PER_BLOCK = ("blockIdx", "blockDim", "gridDim", "warpsize", "shape", "size", "ndim", "strides")
#: A call that only computes with its arguments.
_PURE_CALL = re.compile(
    r"(math|np|numpy)\.\w+|(cuda\.)?gridsize|min|max|abs|bool|range|len|round|(\w+\.)*(u?int|float)\d*"
)

#: A body of statements.
Body = list[ast.stmt]


def uniform_bodies(tree: ast.FunctionDef) -> list[Body]:
    """Return the bodies of statements that all threads of a block run equally often. What is not known is left out.

    None, if some threads may return while others go on.
    """
    return _bodies_and_names(tree)[0]


def varying_names(tree: ast.FunctionDef) -> set[str]:
    """Return the names whose values may differ between the threads of a block."""
    return _bodies_and_names(tree)[1]


def _bodies_and_names(tree: ast.FunctionDef) -> tuple[list[Body], set[str]]:
    varying: set[str] = set()
    while True:  # names only become varying
        known = len(varying)
        uniform = list[Body]()
        if not _visit(tree.body, True, varying, uniform):
            uniform = []
        if len(varying) == known:
            return uniform, varying


def _visit(body: Body, same: bool, varying: set[str], uniform: list[Body]) -> bool:
    """Note which names vary in a body; ``same``: all threads run it. Return whether none of them leaves by itself."""
    if same and body:
        uniform.append(body)
    none_leaves = True
    for node in body:
        inside = same
        match node:
            case ast.Return() | ast.Raise():
                none_leaves = none_leaves and same
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                _assign(node, same and has_one_value(value, varying), varying)
            case ast.AugAssign(target, _, value):
                _assign(node, same and has_one_value(target, varying) and has_one_value(value, varying), varying)
            case ast.For() | ast.While():
                # after a break or a continue iterations differ
                leaves = any(isinstance(part, ast.Break | ast.Continue | ast.Return) for part in ast.walk(node))
                over = node.iter if isinstance(node, ast.For) else node.test
                inside = same and not leaves and has_one_value(over, varying)
                _assign(node, inside, varying, only=getattr(node, "target", None))
            case ast.If(test):
                inside = same and has_one_value(test, varying)
            case ast.Match() | ast.With() | ast.Try() | ast.FunctionDef():
                inside = False
                _assign(node, False, varying)
        for part in ("body", "orelse"):
            none_leaves = _visit(getattr(node, part, []), inside, varying, uniform) and none_leaves
    return none_leaves


def _assign(node: ast.stmt, same: bool, varying: set[str], only: ast.expr | None = None) -> None:
    if same or isinstance(node, ast.While):
        return
    stored = (part for part in ast.walk(only or node) if isinstance(part, ast.Name | ast.NamedExpr))
    varying |= {part.id for part in stored if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def has_one_value(value: ast.AST, varying: set[str]) -> bool:
    """Whether an expression has one value in all threads of a block."""
    match value:
        case ast.Name(name):
            return name not in varying and name not in _PER_THREAD
        case ast.Attribute(owner, name):
            if name in _PER_THREAD:
                return False
            return name in _PER_BLOCK or has_one_value(owner, varying)
        case ast.Subscript(ast.Attribute(_, "shape" | "strides")):
            return True
        case ast.Subscript() | ast.Lambda() | ast.NamedExpr() | ast.Starred():
            return False
        case ast.Call(function, arguments, keywords) if not _PURE_CALL.fullmatch(ast.unparse(function)):
            return False
        case ast.Call(function, arguments, keywords):
            return all(has_one_value(part, varying) for part in (*arguments, *(word.value for word in keywords)))
    return all(has_one_value(part, varying) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
