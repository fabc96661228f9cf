"""Rows for missing synchronization: barriers and atomic operations."""

import ast
import copy
from collections.abc import Iterator
from typing import Any

from ..edits import Change, expression
from ..findings import Finding
from .kernel_syntax import Fill, Kernel, array_of, if_or_loop, in_lines, same_text
from .table import Candidates, MakeCandidate, Texts, row

_READ_LATE = (
    "{array} is {used} in line {use}{next}, and some threads may come there before others have stored their elements "
    "here: a barrier is missing {where}."
)
_WRITTEN_EARLY = (
    "while some threads still {verb} {array} here, others may already store other elements into it in line "
    "{write}{next}: a barrier is missing {where}."
)
_LEAVES = (
    "threads that {leave} here never come to the barrier of line {barrier}, and all threads of the block must: "
    "{advice}."
)
_BARRIER = "put {call} {where}"


@row("race", barrier=Texts(_BARRIER))
def barriers(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """A barrier between the two accesses, or at the end of the body of a loop around both."""
    for line, last, call, where in _places(kernel, finding):
        change = (last, (last, kernel.new_barrier()))
        yield make("barrier", line, change, call=call, where=where, added=call, indent=last.col_offset)


@row(
    "race",
    barrier_before_use=Texts(hint=_READ_LATE),
    barrier_before_overwriting=Texts(hint=_WRITTEN_EARLY),
)
def missing_barriers(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """The same for a reader who is told what is not ordered.

    Which of two accesses is the first in a race is a matter of the warps' order; where the barrier helps is not.
    """
    if finding.other_line is None or "writes" not in finding.verbs or len({*finding.verbs}) == 1:
        return
    (verb,) = {*finding.verbs} - {"writes"}
    lines = dict(zip(finding.verbs, (finding.other_line, finding.line), strict=True))
    use, write = lines[verb], lines["writes"]
    for place, last, _, _ in _places(kernel, finding):
        between = min(use, write) <= place < max(use, write)
        # the access that comes last before the barrier; behind both of them, the other one is in the next iteration
        before_use = (write < use) == between
        id, at = ("barrier-before-use", write) if before_use else ("barrier-before-overwriting", use)
        values = {"use": use, "write": write, "array": finding.array, **_VERBS[verb]}
        values["where"] = _after(kernel, place, last)
        later = "" if between else " of the next iteration"
        yield make(id, at, (last, (last, kernel.new_barrier())), next=later, **values)


#: How it is said that a thread uses an element.
_VERBS = {"reads": {"verb": "read", "used": "read"}, "updates": {"verb": "update", "used": "updated"}}


def _after(kernel: Kernel, line: int, last: ast.stmt) -> str:
    """Where a barrier after a statement belongs, in words: after its last line, and not inside what ends there."""
    where = f"after line {line}"
    if isinstance(last, ast.For | ast.While | ast.If):
        around = kernel.loops_around(last)[:1]
        where += f", outside the {if_or_loop(last)} of line {last.lineno}"
        where += "".join(f" and inside the loop of line {loop.lineno}" for loop in around)
    return where


def _places(kernel: Kernel, finding: Finding) -> Iterator[tuple[int, ast.stmt, str, str]]:
    """Where a barrier may be: (line, the statement before it, the call, the place in words)."""
    one, other = (kernel.statement(line) for line in (finding.other_line or finding.line, finding.line))
    if one is None or other is None or len({block for block, _ in finding.threads}) > 1:
        return
    others = {id(body): i for body, i, _ in kernel.enclosing_bodies(other)}
    for body, i, owner in kernel.enclosing_bodies(one):
        if id(body) not in others or id(body) not in kernel.bodies:
            continue
        low, high = sorted((i, others[id(body)]))
        places = [high] if low != high else []
        if isinstance(owner, ast.For | ast.While):
            places.append(len(body))
        for place in places:
            last = body[place - 1]
            line = last.end_lineno or last.lineno
            if not isinstance(owner, ast.For | ast.While) or place < len(body):
                where = f"between lines {line} and {body[place].lineno}"
            else:
                where = f"after line {line}, at the end of the body of the loop in line {owner.lineno}"
            yield line, last, kernel.barrier, where
    if any(isinstance(owner, ast.For | ast.While) for _, _, owner in kernel.enclosing_bodies(one)):
        yield from _ends_of_ifs(kernel, one, other)


def _ends_of_ifs(kernel: Kernel, one: ast.stmt, other: ast.stmt) -> Iterator[tuple[int, ast.stmt, str, str]]:
    """The ends of ifs around one of two statements alone, which all threads enter: there a barrier costs less."""
    for node, beside in ((one, other), (other, one)):
        around = {id(body) for body, _, _ in kernel.enclosing_bodies(beside)}
        for body, _, owner in kernel.enclosing_bodies(node):
            if isinstance(owner, ast.If) and id(body) in kernel.bodies and id(body) not in around:
                last = body[-1]
                line = last.end_lineno or last.lineno
                yield line, last, kernel.barrier, f"after line {line}, at the end of the if of line {owner.lineno}"


@row(
    "race",
    barrier_of_a_warp=Texts(
        hint="{written} waits for the threads of one warp only, and a block has several: {call} waits for all of them."
    ),
)
def warp_barriers(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """A barrier of a warp where one of the block is needed."""
    found = [each for each in kernel.nodes_of(ast.Expr) if ast.unparse(each.value).endswith("syncwarp()")]
    for chosen in [[node] for node in found] + ([found] if len(found) > 1 else []):
        changes = [(node, kernel.new_barrier()) for node in chosen]
        values = {"written": ast.unparse(chosen[0]), "call": kernel.barrier}
        yield make("barrier-of-a-warp", chosen[0], *changes, more_lines=tuple(each.lineno for each in chosen), **values)


@row("race", read_barrier_write=Texts("{change}"))
def split(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """All threads read, then all write: a barrier between, also where only some threads take part."""
    one, other = (kernel.statement(line) for line in (finding.other_line or finding.line, finding.line))
    if one is None or other is None or kernel.parents[one] is not kernel.parents[other]:
        return
    (body, low, owner), (other_body, high, _) = kernel.enclosing_bodies(one)[0], kernel.enclosing_bodies(other)[0]
    if body is not other_body:
        return
    low, high = min(low, high), max(low, high)
    parts = None
    if one is other and isinstance(one, ast.Assign | ast.AugAssign):
        target = one.target if isinstance(one, ast.AugAssign) else one.targets[0]
        if not isinstance(target, ast.Subscript) or (isinstance(one, ast.Assign) and len(one.targets) > 1):
            return
        used = {node.id for node in kernel.nodes_of(ast.Name)}
        name = next(n for n in ("value", "new_value", "value_before_the_barrier") if n not in used)
        value = one.value
        if isinstance(one, ast.AugAssign):
            value = ast.BinOp(ast.Subscript(target.value, target.slice, ast.Load()), one.op, one.value)
        parts = [ast.Assign([ast.Name(name, ast.Store())], value)], [ast.Assign([target], ast.Name(name, ast.Load()))]
        text = f"write line {one.lineno} in two: {name} = {ast.unparse(value)}, {kernel.barrier}, "
        text += f"{ast.unparse(target)} = {name}"
        first, second = [*body[:low], *parts[0]], [*parts[1], *body[low + 1 :]]
        old: ast.AST = one
    elif low < high:
        first, second, old = body[:high], body[high:], owner
        text = f"put {kernel.barrier} between lines {body[high - 1].lineno} and {body[high].lineno}"
    else:
        return
    if id(body) in kernel.bodies and parts:
        change: Change = (old, (*parts[0], kernel.new_barrier(), *parts[1]))
        yield make("read-barrier-write", one, change, change=text)
    elif isinstance(owner, ast.If) and body is owner.body and not owner.orelse:
        if id(kernel.enclosing_bodies(owner)[0][0]) in kernel.bodies and not _reads_memory(owner.test):
            new = (
                ast.If(owner.test, first, []),
                kernel.new_barrier(),
                ast.If(copy.deepcopy(owner.test), second, []),
            )
            text += f", with an if as in line {owner.lineno} around each part, and none around the barrier"
            yield make("read-barrier-write", one, (owner, new), change=text)


_EACH_THREAD = (
    "`{test}` differs between the threads of a block. All of them must come to {these}, and store what {stores} into "
    "shared memory: a condition around these lines must be the same for all threads of a block."
)


@row("barrier-divergence", condition_of_each_thread=Texts(hint=_EACH_THREAD))
def each_thread(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """A barrier and stores to shared memory in an if that not all threads enter: what differs must go."""
    for owner in _around_barriers(kernel, finding):
        test = _same_for_all(kernel, owner.test)
        values = _under(kernel, owner)
        if values["stores"] and test is not None and test is not owner.test:
            yield make("condition-of-each-thread", owner, (owner.test, test), **values)


def _under(kernel: Kernel, owner: ast.If) -> dict[str, Any]:
    """The values for texts about an if: its barriers, and its stores to shared memory, or "" without any."""
    inside = {*ast.walk(owner)}
    fills = {fill.statement.lineno for fill in kernel.fills if fill.statement in inside}
    waits = [node.lineno for node in kernel.barriers() if node in inside]
    return {
        "test": ast.unparse(owner.test),
        "owner": owner.lineno,
        "these": f"the barriers of {in_lines(waits)}" if len(waits) > 1 else f"the barrier of {in_lines(waits)}",
        "stores": f"{in_lines(fills)} store{'s' * (len(fills) == 1)}" if fills else "",
    }


def _around_barriers(kernel: Kernel, finding: Finding) -> Iterator[ast.If]:
    """The innermost ifs around the barriers of a finding, that threads enter for whom the test holds."""
    for line in (finding.line, finding.other_line):
        node = kernel.statement(line)
        if node is not None and ast.unparse(node).endswith("syncthreads()"):
            body, _, owner = kernel.enclosing_bodies(node)[0]
            if isinstance(owner, ast.If) and body is owner.body:
                yield owner


def _same_for_all(kernel: Kernel, part: ast.expr) -> ast.expr | None:
    """A condition, or a part of one, without what differs between the threads of a block; None if nothing is left."""
    if kernel.is_uniform(part):
        return part
    match part:
        case ast.BoolOp(op, values):
            kept = [each for value in values if (each := _same_for_all(kernel, value))]
            return ast.BoolOp(op, kept) if len(kept) > 1 else next(iter(kept), None)
        case ast.Compare(left, ops, others):
            sides = [side for each in (left, *others) if (side := _same_for_all(kernel, each))]
            return ast.Compare(sides[0], ops, sides[1:]) if len(sides) == len(others) + 1 else None
        case ast.BinOp(left, ast.Add(), right):
            return _same_for_all(kernel, left) or _same_for_all(kernel, right)
    return None


@row(
    "uninitialized-read",
    stored_by_some_threads=Texts(
        hint="only the threads for which {tests} {hold} store their element of {array}{stored}, and all elements "
        "are read: where there is no element to copy, it must hold 0."
    ),
)
def stored_by_some(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """Elements of a shared array that stay without a value, since the if around their store has no else."""
    owners: dict[ast.If, list[Fill]] = {}
    for fill in kernel.fills:
        _, _, owner = kernel.enclosing_bodies(fill.statement)[0]
        if isinstance(owner, ast.If) and not owner.orelse and not kernel.is_uniform(owner.test):
            owners.setdefault(owner, []).append(fill)
    own = [owner for owner, fills in owners.items() if finding.array in {array_of(fill.target) for fill in fills}]
    for chosen in [*([owner] for owner in own), *([own, [*owners]] if len(owners) > 1 else [])]:
        changes = []
        for owner in chosen:
            zeros: list[ast.stmt] = [ast.Assign([fill.target], ast.Constant(0)) for fill in owners[owner]]
            changes.append((owner, ast.If(owner.test, owner.body, zeros)))
        tests = " and ".join(f"`{ast.unparse(owner.test)}` (line {owner.lineno})" for owner in chosen)
        lines = {fill.statement.lineno for owner in chosen for fill in owners[owner]}
        arrays = " and ".join(dict.fromkeys(array_of(fill.target) for owner in chosen for fill in owners[owner]))
        stored = f" in {in_lines(lines)}" if len(lines) > 1 else ""
        values = {"tests": tests, "hold": "hold" if len(chosen) > 1 else "holds", "array": arrays, "stored": stored}
        yield make("stored-by-some-threads", min(lines), *changes, **values)


@row(
    "barrier-divergence",
    condition_of_each_thread=Texts(hint=_EACH_THREAD),
    barrier_in_an_if=Texts(
        hint="only the threads for which `{test}` holds (line {owner}) come to {these}, and all threads of the block "
        "must: {advice}."
    ),
)
def in_an_if(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """A barrier inside an if that not all threads enter: the finding itself shows it."""
    for owner in _around_barriers(kernel, finding):
        if owner.lineno in (finding.line, finding.other_line):
            values = _under(kernel, owner)
            id, at = ("condition-of-each-thread", owner) if values["stores"] else ("barrier-in-an-if", finding.line)
            if id == "barrier-in-an-if" and not owner.orelse:
                lines = f"{owner.body[0].lineno} to {owner.end_lineno}"
                advice = f"take line {owner.lineno} away, and let all of them do lines {lines}"
                yield make(id, at, (owner, owner.body), advice=_conditions(kernel, owner) + advice, **values)
            advice = "put only their loads and stores into the if"
            yield make(id, at, certain=True, advice=advice, **values)


def _conditions(kernel: Kernel, owner: ast.If) -> str:
    """That loads and stores of global memory have conditions beside that of an if, in words; empty if none has."""
    lines = set()
    for place in kernel.nodes_of(ast.Subscript):
        around = [
            node for node in kernel.ancestors(place) if isinstance(node, ast.If | ast.IfExp) and node is not owner
        ]
        if array_of(place) in kernel.arrays and around:
            lines.add(place.lineno)
    have = "has a condition of its own" if len(lines) == 1 else "have conditions of their own"
    return f"{in_lines(lines)} {have}, so " if lines else ""


def _reads_memory(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Subscript | ast.Call) for node in ast.walk(test))


@row(
    "barrier-divergence",
    barrier_out_of_an_if=Texts(
        "move {call} of line {at} {where}",
        "only the threads for which `{test}` holds (line {owner}) come to this barrier, and all threads of the block "
        "must: {place}.",
    ),
)
def out_of_an_if(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """A barrier inside an if: before and after it the if goes on, without it."""
    node = kernel.statement(finding.line)
    if node is None or not ast.unparse(node).endswith("syncthreads()"):
        return
    (body, i, owner), *around = kernel.enclosing_bodies(node)
    if not isinstance(owner, ast.If) or body is not owner.body:
        return
    if owner.orelse or _reads_memory(owner.test):
        return
    if id(around[0][0]) not in kernel.bodies:
        return
    before, after = (
        [ast.If(copy.deepcopy(owner.test), part, [])] if part else [] for part in (body[:i], body[i + 1 :])
    )
    values = {
        "call": ast.unparse(node),
        "at": node.lineno,
        "where": f"{'out of' if after else 'after'} the if in line {owner.lineno}",
        "place": _outside(owner.lineno, bool(before), bool(after)),
        "test": ast.unparse(owner.test),
        "owner": owner.lineno,
    }
    yield make("barrier-out-of-an-if", node, (owner, (*before, node, *after)), **values)


def _outside(line: int, before: bool, after: bool) -> str:
    """How a barrier gets out of the if of a line, in words, with other statements before or after it."""
    if before and after:
        return f"end the if of line {line} before the barrier, and begin another one with its condition after it"
    if before or after:
        side = "after" if before else "before"
        return f"the barrier belongs {side} the if of line {line}, no deeper than the if itself"
    return f"take the barrier out of the if of line {line}, which holds nothing else"


_LEAVE = {ast.Return: "return", ast.Continue: "skip the rest of this iteration", ast.Break: "leave the loop"}


@row("barrier-divergence", leaves_before_a_barrier=Texts(hint=_LEAVES))
def leaves(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """A return or a continue past which other threads of the block still wait: the finding itself shows it."""
    lines = [line for line in (finding.line, finding.other_line) if line is not None]
    for line in lines:
        others = [other for other in lines if other != line]
        for node in kernel.nodes_of(ast.Return, ast.Continue, ast.Break) if others else ():
            loop = kernel.loops_around(node)[:1]
            at = {node.lineno, *(each.lineno for each in loop if not isinstance(node, ast.Return))}
            if line in at and node.lineno < others[0]:
                values = {"leave": _LEAVE[type(node)], "barrier": others[0]}
                owner = kernel.parents[node]
                if isinstance(owner, ast.If) and owner.body == [node] and not owner.orelse:
                    both = in_lines((owner.lineno, node.lineno))
                    advice = f"{_conditions(kernel, owner)}{both} can go"
                    yield make("leaves-before-a-barrier", node, (owner, ()), advice=advice, **values)
                advice = "put only loads and stores into an if, and let all threads come to the barrier"
                yield make("leaves-before-a-barrier", node, certain=True, advice=advice, **values)


@row(
    "race",
    atomic=Texts(
        "write {call} in line {at}",
        "several threads add to the same element of {array} at once, and a thread may come between another one's load "
        "and its store: cuda.atomic.add does both in one step.",
    ),
)
def atomics(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """A sum to which many threads add at once."""
    for line in dict.fromkeys((finding.line, finding.other_line)):
        node = kernel.statement(line)
        match node:
            case ast.AugAssign(ast.Subscript() as target, ast.Add(), value):
                pass
            case ast.Assign([ast.Subscript() as target], ast.BinOp(left, ast.Add(), right)):
                if not same_text(target, left) and not same_text(target, right):
                    continue
                value = right if same_text(target, left) else left
            case _:
                continue
        if not any(same_text(part, target) for part in ast.walk(value) if isinstance(part, ast.expr)):
            call = ast.Call(expression(f"{kernel.cuda}.atomic.add"), [target.value, target.slice, value], [])
            values = {"call": ast.unparse(call), "at": node.lineno, "array": ast.unparse(target.value)}
            yield make("atomic", node, (node, ast.Expr(call)), **values)


ROWS = (
    warp_barriers,
    missing_barriers,
    barriers,
    split,
    atomics,
    leaves,
    each_thread,
    stored_by_some,
    out_of_an_if,
    in_an_if,
)
