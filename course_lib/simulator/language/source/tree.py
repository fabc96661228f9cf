"""What syntax trees contain: their nodes and names."""

import ast


def names_in(tree: ast.AST) -> list[str]:
    return [node.id for node in nodes(tree) if isinstance(node, ast.Name)]


def occurs(tree: ast.AST, name: str, context: type[ast.expr_context] = ast.Load) -> bool:
    names = (node for node in nodes(tree) if isinstance(node, ast.Name) and node.id == name)
    return any(isinstance(node.ctx, context) for node in names)


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
    """The names that statements assign or define, without those inside functions that they define."""
    names: set[str] = set()
    for statement in body:
        for node in nodes(statement, inside=False):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.FunctionDef):
                names.add(node.name)
    return names
