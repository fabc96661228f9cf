"""Types of variables where paths of control flow meet, found by running a function on types alone.

Numba gives each assignment a type of its own; where two paths meet, the versions that arrive are converted to one type.
`Merges(function, argument_types, …).after[node]` maps the variables alive after the statement `node` to that type,
`.head[node]` those at the head of a loop. A type here is a NumPy dtype, a tuple of them, or None for anything that is
not a scalar.
"""

import ast

import numpy as np

from oracles import numba_typing as typing

INT64 = np.dtype("int64")


def unify(a, b):
    """Return the common type of two versions; None if one is not a scalar."""
    if a == b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(map(unify, a, b))
    if not isinstance(a, np.dtype) or not isinstance(b, np.dtype):
        return None
    return typing.oracle_unify(a, b)


def meet(*environments):
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
    what a for loop over it binds.
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
            environment = getattr(self, type(statement).__name__, self.other)(statement, environment)
        return environment

    def other(self, statement, environment):
        return environment

    def Assign(self, statement, environment):
        kind = self.expression(statement.value, environment)
        for target in statement.targets:
            self.bind(target, kind, environment)
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
        then = self.block(statement.body, dict(environment))
        otherwise = self.block(statement.orelse, dict(environment))
        self.after[statement] = merged = meet(then, otherwise)
        return None if merged is None else dict(merged)

    def For(self, statement, environment):
        return self.loop(statement, environment, self.expression.iterated(statement.iter, environment), False)

    def While(self, statement, environment):
        endless = isinstance(statement.test, ast.Constant) and bool(statement.test.value)
        return self.loop(statement, environment, None, endless)

    def loop(self, statement, environment, induction, endless):
        head = dict(environment)
        while True:
            inside = dict(head)
            if induction is not None:
                self.bind(statement.target, induction, inside)
            self.loops.append(([], []))
            end = self.block(statement.body, inside)
            breaks, continues = self.loops.pop()
            again = meet(head, end, *continues)
            if again == head:
                break
            head = again
        self.head[statement] = head
        normal = None if endless else self.block(statement.orelse, dict(head))
        self.after[statement] = merged = meet(normal, *breaks)
        return None if merged is None else dict(merged)


def range_type(kinds):
    """Return the dtype of the loop variable of range(*kinds)."""
    return typing.oracle_operands(range, *kinds)[0]
