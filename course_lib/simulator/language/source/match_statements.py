"""``match`` as ``if`` and ``elif``: numba compiles patterns that are values, alternatives of them, and names."""

import ast

from .errors import refuse

ONLY = "numba compiles patterns of values, | between them, names and _ alone; write if/elif/else"


class Matches(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.subject, (ast.Name, ast.Constant)):
            return _chain(node.cases, node.subject)
        subject = ast.copy_location(ast.Name(f"subject_{node.lineno}", ast.Load()), node.subject)
        target = ast.copy_location(ast.Name(subject.id, ast.Store()), node.subject)
        return [ast.copy_location(ast.Assign([target], node.subject), node), *_chain(node.cases, subject)]


def _chain(cases: list[ast.match_case], subject: ast.expr) -> list[ast.stmt]:
    """The statements of the first case that fits."""
    if not cases:
        return []
    case, *rest = cases
    names: list[ast.expr] = []
    test = _test(case.pattern, subject, names)
    if case.guard is not None:
        guard = _Renamed({name.id for name in names if isinstance(name, ast.Name)}, subject).visit(case.guard)
        test = guard if test is None else ast.copy_location(ast.BoolOp(ast.And(), [test, guard]), case.pattern)
    binds: list[ast.stmt] = [ast.copy_location(ast.Assign([name], subject), case.pattern) for name in names]
    body = binds + case.body
    if test is None:
        return body
    return [ast.copy_location(ast.If(test, body, _chain(rest, subject)), case.pattern)]


def _test(pattern: ast.pattern, subject: ast.expr, names: list[ast.expr]) -> ast.expr | None:
    """The condition of a pattern, None if any value fits; the names that it binds are added to ``names``."""
    match pattern:
        case ast.MatchValue():
            made: ast.expr = ast.Compare(subject, [ast.Eq()], [pattern.value])
        case ast.MatchSingleton():
            value = ast.copy_location(ast.Constant(pattern.value), pattern)
            made = ast.Compare(subject, [ast.Is()], [value])
        case ast.MatchOr():
            tests = [_test(part, subject, names) for part in pattern.patterns]
            if names:
                refuse(pattern, ONLY)
            if None in tests:
                return None
            made = ast.BoolOp(ast.Or(), [test for test in tests if test is not None])
        case ast.MatchAs():
            test = None if pattern.pattern is None else _test(pattern.pattern, subject, names)
            if pattern.name is not None:
                names.append(ast.copy_location(ast.Name(pattern.name, ast.Store()), pattern))
            return test
        case _:
            refuse(pattern, f"{ast.unparse(pattern)}: {ONLY}")
    return ast.copy_location(made, pattern)


class _Renamed(ast.NodeTransformer):
    """Replaces the names that a pattern binds in its guard, which runs before they are assigned."""

    def __init__(self, names: set[str], subject: ast.expr) -> None:
        self.names, self.subject = names, subject

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.subject if node.id in self.names else node
