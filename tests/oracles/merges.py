"""Types of variables where paths of control flow meet, found by running a function on types alone.

Numba gives each assignment a type of its own; where two paths meet, the versions that arrive are converted to one type.
`Merges(function, argument_types, …).after[node]` maps the variables alive after the statement `node` to that type,
`.head[node]` those at the head of a loop. A type here is a NumPy dtype, a tuple of them, or None for anything that is
not a scalar.
"""

import ast
from dataclasses import dataclass

import numpy as np

from oracles import numba_typing as typing

INT64 = np.dtype("int64")


@dataclass(frozen=True)
class Literal:
    """The type of a variable that holds a constant, which numba knows when it drops branches."""

    kind: np.dtype
    value: object


def without_constant(kind):
    """Return a type without the constant."""
    return kind.kind if isinstance(kind, Literal) else kind


def unify(a, b):
    """Return the common type of two versions; None if one is not a scalar."""
    if a is b:
        return a
    a, b = without_constant(a), without_constant(b)
    if a == b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(map(unify, a, b))
    if not isinstance(a, np.dtype) or not isinstance(b, np.dtype):
        return None
    return typing.oracle_unify(a, b)


def merge_environments(*environments):
    """Merge the environments of several paths; None is a path that never arrives."""
    arriving = [e for e in environments if e is not None]
    if not arriving:
        return None
    merged = dict(arriving[0])
    for other in arriving[1:]:
        for name, kind in other.items():
            merged[name] = unify(merged[name], kind) if name in merged else kind
    return merged


class Merges:
    """Runs the statements of `body` on types.

    `expression(node, environment)` gives the type of an expression, `expression.iterated(node, environment)` that of
    what a for loop over it binds, `expression.constant` its value if numba knows it, and `expression.decided` the
    outcome of a condition by which numba drops a branch.
    """

    def __init__(self, body, environment, expression):
        self.after, self.head = {}, {}
        self.expression = expression
        self.loops = []  # (environments that break, environments that continue)
        self.end = self.block(body, dict(environment))

    def block(self, statements, environment):
        for statement in statements:
            if environment is None:
                return None
            environment = getattr(self, type(statement).__name__, self.leave_unchanged)(statement, environment)
        return environment

    def leave_unchanged(self, statement, environment):
        return environment

    def Assign(self, statement, environment):
        given = statement.value
        kind = self.expression(given, environment)
        for target in statement.targets:
            both = isinstance(target, ast.Tuple) and isinstance(given, ast.Tuple)
            pairs = zip(target.elts, given.elts, strict=True) if both else [(target, given)]
            values = [(to, self.expression.constant(part, environment)) for to, part in pairs]
            self.bind(target, kind, environment)
            for to, value in values:
                if isinstance(to, ast.Name) and value is not None:
                    environment[to.id] = Literal(environment[to.id], value)
        return environment

    def AugAssign(self, statement, environment):
        if isinstance(statement.target, ast.Name):
            name = ast.Name(statement.target.id, ast.Load())
            value = ast.BinOp(name, statement.op, statement.value)
            environment[statement.target.id] = self.expression(value, environment)
        return environment

    def bind(self, target, kind, environment):
        if isinstance(target, ast.Name):
            environment[target.id] = kind
        elif isinstance(target, ast.Tuple):
            kinds = kind if isinstance(kind, tuple) else (None,) * len(target.elts)
            for element, one in zip(target.elts, kinds, strict=True):
                self.bind(element, one, environment)

    def Return(self, statement, environment):
        return None

    def Break(self, statement, environment):
        self.loops[-1][0].append(environment)

    def Continue(self, statement, environment):
        self.loops[-1][1].append(environment)

    def If(self, statement, environment):
        outcome = self.expression.decided(statement.test, environment)
        then = None if outcome is False else self.block(statement.body, dict(environment))
        otherwise = None if outcome else self.block(statement.orelse, dict(environment))
        self.after[statement] = merged = merge_environments(then, otherwise)
        return None if merged is None else dict(merged)

    def For(self, statement, environment):
        return self.loop(statement, environment, self.expression.iterated(statement.iter, environment))

    def While(self, statement, environment):
        return self.loop(statement, environment, None)

    def loop(self, statement, environment, induction):
        stored = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        head = {name: without_constant(kind) if name in stored else kind for name, kind in environment.items()}
        outcome = self.expression.decided(statement.test, head) if isinstance(statement, ast.While) else None
        breaks = []
        while outcome is not False:
            inside = dict(head)
            if induction is not None:
                self.bind(statement.target, induction, inside)
            self.loops.append(([], []))
            end = self.block(statement.body, inside)
            breaks, continues = self.loops.pop()
            again = merge_environments(head, end, *continues)
            if again == head:
                break
            head = again
        self.head[statement] = head
        normal = None if outcome else self.block(statement.orelse, dict(head))
        self.after[statement] = merged = merge_environments(normal, *breaks)
        return None if merged is None else dict(merged)


def range_type(kinds):
    """Return the dtype of the loop variable of range(*kinds)."""
    return typing.oracle_operands(range, *kinds)[0]
