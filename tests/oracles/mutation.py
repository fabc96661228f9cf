"""Mutants of a kernel: one barrier, guard, bound or index term changed at a time."""

import ast
import copy
from dataclasses import dataclass
from itertools import islice

from oracles.reference import dotted


@dataclass(frozen=True)
class Mutant:
    """A changed module: what was changed, in which line (its number and its code), and the new source."""

    what: str
    line: int
    text: str
    source: str

    def __str__(self):
        return f"line {self.line}: {self.what}"


def mutants(source, every=1):
    """Yield a Mutant for each place, or for every n-th (`every`), in the module's kernels and device functions."""
    count = sum(1 for _ in places(ast.parse(source)))
    known, lines = set(), source.splitlines()
    for number in range(0, count, every):
        node, what, change = next(islice(places(tree := ast.parse(source)), number, None))
        before = ast.unparse(node)
        change()
        changed = ast.unparse(ast.fix_missing_locations(tree))
        if changed not in known:
            known.add(changed)
            yield Mutant(what.format(before), node.lineno, lines[node.lineno - 1].partition("  #")[0].strip(), changed)


def places(tree):
    """Yield (node, description, a function that makes the change) for each mutation of what runs on the GPU."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(is_cuda_jit(d) for d in node.decorator_list):
            yield from places_in(node)


def is_cuda_jit(decorator):
    return dotted(decorator.func if isinstance(decorator, ast.Call) else decorator) in ("cuda.jit", "_capped")


def places_in(function):
    for parent in ast.walk(function):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from statements(parent, field, value)
        if isinstance(parent, ast.If):
            yield from guards(parent)
        if isinstance(parent, ast.Call) and dotted(parent.func) == "range":
            yield parent, "one iteration fewer: {}", lambda p=parent: shorten(p)
        if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Tuple):
            yield parent, "swap the last two indices of {}", lambda p=parent: swap(p.slice.elts)
            yield from terms(parent.slice)
        if isinstance(parent, ast.Assign) and not isinstance(parent.targets[0], ast.Subscript):
            yield from terms(parent.value)
        if isinstance(parent, ast.Attribute) and dotted(parent).startswith("cuda.") and parent.attr in "xy":
            yield parent, "the other axis than {}", lambda p=parent: setattr(p, "attr", "yx"["xy".index(p.attr)])


def statements(parent, field, body):
    for position, statement in enumerate(body):
        call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        store = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)
        again = isinstance(statement, ast.Assign | ast.AugAssign) and isinstance(parent, ast.For)
        if call or store or again:
            new = [*body[:position], ast.copy_location(ast.Pass(), statement), *body[position + 1 :]]
            yield statement, "delete {}", lambda n=new: setattr(parent, field, n)


def guards(node):
    tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    for position, test in enumerate(tests):
        true = ast.copy_location(ast.Constant(True), test)
        replaced = [*tests[:position], true, *tests[position + 1 :]]
        new = copy.copy(node.test) if len(tests) > 1 else true
        if len(tests) > 1:
            new = ast.copy_location(ast.BoolOp(ast.And(), replaced), node.test)
        yield test, "without the guard {}", lambda n=new: setattr(node, "test", n)
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Lt):
            yield test, "<= in {}", lambda t=test: setattr(t, "ops", [ast.LtE()])


def terms(root):
    for node in ast.walk(root):
        for field, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            for position, child in enumerate(children):
                if not isinstance(child, ast.BinOp):
                    continue
                for side in ("left", "right"):
                    kept = child.left if side == "right" else child.right
                    new = [*children[:position], kept, *children[position + 1 :]] if isinstance(value, list) else kept
                    yield child, f"drop the {side} of {{}}", lambda o=node, f=field, n=new: setattr(o, f, n)
    if isinstance(root, ast.BinOp):
        for side in ("left", "right"):
            yield root, f"drop the {side} of {{}}", lambda s=side: drop(root, s)


def drop(node, side):
    """Make `a op b` mean a or b alone, in place."""
    neutral = 1 if isinstance(node.op, ast.Mult) else 0
    if isinstance(node.op, ast.Sub):
        node.op = ast.Add()
    setattr(node, side, ast.copy_location(ast.Constant(neutral), node))


def shorten(call):
    stop = min(len(call.args) - 1, 1)
    call.args[stop] = ast.copy_location(ast.BinOp(call.args[stop], ast.Sub(), ast.Constant(1)), call)


def swap(elements):
    elements[-1], elements[-2] = elements[-2], elements[-1]
