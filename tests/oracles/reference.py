"""A kernel, run one thread at a time and one expression at a time, with a record of every access.

    record = run(kernel, grid, block, *args)     # arrays are changed in place

Each thread is a greenlet that walks the kernel's syntax tree and stops at barriers, shuffles and votes.
Everything is then counted from the list of accesses in the most obvious way. For small sizes only.

A warp request is what the lanes of a warp do together: accesses of one warp, at one place in the source, in the
same iteration of every loop around it (and from the same call, in a device function).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import math
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache, reduce

import numpy as np
from greenlet import getcurrent, greenlet
from numba.core import types as numba_types
from numba.np.numpy_support import as_dtype

from oracles import numba_typing as typing
from oracles import scalar
from oracles.merges import Literal, Merges, range_type, unify, without_constant

WARP = 32
INT32, INT64, BOOL = (np.dtype(n) for n in ("int32", "int64", "bool"))
VARYING = object()


class Divergence(Exception):
    """Raised if the threads of a block cannot meet at a barrier."""


@dataclass(frozen=True)
class Access:
    op: str
    array: str
    space: str
    line: int
    block: tuple
    thread: int
    request: tuple
    word: tuple  # which element of which array, for races
    address: int  # bytes from the array's base
    itemsize: int
    epoch: tuple  # (barriers passed by the block, syncwarps passed by the warp)


@dataclass
class Array:
    data: np.ndarray
    name: str
    space: str
    owner: tuple  # () for global, the block for shared, block and thread for local
    written: set = None

    @property
    def kind(self):
        return ArrayKind(self.data.dtype, self.data.ndim)


@dataclass(frozen=True)
class ArrayKind:
    dtype: np.dtype
    ndim: int


@dataclass
class Record:
    """The record of a launch. `accesses` is in the order of execution, thread by thread."""

    grid: tuple
    block: tuple
    accesses: list = field(default_factory=list)
    uninitialized: list = field(default_factory=list)  # (array, line) of every such access, as the next two
    negative: list = field(default_factory=list)  # wrapped into the array; beyond that, out of bounds
    out_of_bounds: list = field(default_factory=list)  # the access is not performed, a load gives 0

    def select(self, **want):
        """Return the accesses with these fields, of `space`, `op`, `array`, `line`."""
        return [a for a in self.accesses if all(getattr(a, k) == v for k, v in want.items())]

    def counts(self, **want):
        """Return accesses, requests, bytes, sectors (global) and wavefronts (shared) of a selection."""
        return count(self.select(**want))

    def per_thread(self, **want):
        """Return the accesses of each thread, shape grid × block in the dimensions given at the launch."""
        result = np.zeros(self.grid + self.block, int)
        for access in self.select(**want):
            thread = thread_index(access.thread, self.block)
            result[access.block[: len(self.grid)] + thread] += 1
        return result

    def rows(self):
        """Return {(line, array, space, op): counts}."""
        rows = {}
        for access in self.accesses:
            rows.setdefault((access.line, access.array, access.space, access.op), []).append(access)
        return {key: count(accesses) for key, accesses in rows.items()}

    def races(self):
        """Return {(array, frozenset of the two lines)} of the pairs of accesses that no barrier orders."""
        words = {}
        for access in self.accesses:
            if access.space != "local":
                words.setdefault(access.word, []).append(access)
        found = set()
        for accesses in words.values():
            for one, two in itertools.combinations(accesses, 2):
                if conflict(one, two):
                    found.add((one.array, frozenset((one.line, two.line))))
        return found


def count(accesses):
    """Return the totals of a list of accesses."""
    requests = {}
    for access in accesses:
        requests.setdefault(access.request, []).append(access)
    return {
        "accesses": len(accesses),
        "requests": len(requests),
        "bytes": sum(a.itemsize for a in accesses),
        "sectors": sum(sectors(lanes) for lanes in requests.values() if lanes[0].space == "global"),
        "wavefronts": sum(wavefronts(lanes) for lanes in requests.values() if lanes[0].space == "shared"),
        "rounds": sum(max(Counter(lane.address for lane in lanes).values()) for lanes in requests.values()),
    }


def conflict(one, two):
    """Return whether two accesses to one word race."""
    if (one.block, one.thread) == (two.block, two.thread):
        return False
    if {one.op, two.op} in ({"load"}, {"atomic"}):
        return False
    if one.block != two.block:
        return True
    if one.epoch[0] != two.epoch[0]:
        return False
    same_warp = one.thread // WARP == two.thread // WARP
    return not (same_warp and one.epoch[1] != two.epoch[1])


def sectors(lanes):
    """Return the distinct 32-byte sectors that the lanes of one request touch."""
    touched = set()
    for a in lanes:
        for byte in range(a.address, a.address + a.itemsize):
            touched.add((a.array, byte // 32))
    return len(touched)


def wavefronts(lanes):
    """Return the passes that one request to shared memory needs.

    32 banks of 4 bytes; one pass serves one 4-byte word of each bank, and any number of lanes that request that word.
    Elements of 8 bytes go in two halves of the warp, those of 16 in four quarters (a hypothesis until it is measured),
    each half with an active lane costing its own passes.
    """
    group = {8: 16, 16: 8}.get(lanes[0].itemsize, WARP)
    parts = {}
    for a in lanes:
        words = parts.setdefault(a.thread % WARP // group, {})
        for byte in range(a.address, a.address + a.itemsize):
            words.setdefault(byte // 4 % 32, set()).add(byte // 4)
    return sum(max(len(distinct) for distinct in banks.values()) for banks in parts.values())


def thread_index(thread, block):
    """Return the thread's index in a block of 1 to 3 dimensions, x fastest."""
    index = []
    for extent in block:
        index.append(thread % extent)
        thread //= extent
    return tuple(index)


def three_dimensions(dims):
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    return dims, dims + (1,) * (3 - len(dims))


def run(kernel, grid, block, *args):
    """Run `kernel` (a dispatcher or a plain function) on this grid and return the Record."""
    grid_given, grid3 = three_dimensions(grid)
    block_given, block3 = three_dimensions(block)
    record = Record(grid_given, block_given)
    function = Function.of(getattr(kernel, "py_func", kernel))
    values = []
    for name, arg in zip(function.parameters, args, strict=True):
        values.append(Array(arg, name, "global", ()) if isinstance(arg, np.ndarray) else scalar.literal(arg))
    for z, y, x in itertools.product(*(range(extent) for extent in grid3[::-1])):
        Block(record, (x, y, z), grid3, block3).run(function, values)
    return record


class Block:
    """The threads of one block, each run up to its next barrier, in order."""

    def __init__(self, record, index, grid, block):
        self.record, self.index, self.grid, self.dims = record, index, grid, block
        self.shared = {}

    def run(self, function, values):
        count = math.prod(self.dims)
        threads = [Thread(self, number) for number in range(count)]
        running = {t.number: (t, greenlet(lambda _, t=t: t.call(function, values))) for t in threads}
        waiting, answers = {}, {}
        while running:
            for number in list(running):
                if number not in waiting:
                    steps = running[number][1]
                    event = steps.switch(answers.pop(number, None))
                    if steps.dead:
                        del running[number]
                    else:
                        waiting[number] = event
            if self.release_warps(running, waiting, answers):
                continue
            self.release_block(running, waiting, answers)

    def release_warps(self, running, waiting, answers):
        released = False
        for warp in {number // WARP for number in waiting}:
            lanes = [n for n in running if n // WARP == warp]
            events = {}
            for n in lanes:
                if waiting[n][0] != "syncthreads":
                    events.setdefault(waiting[n][:2], []).append(n)
            for (name, _), members in events.items():
                mask = waiting[members[0]][2] & 0xFFFFFFFF
                expected = [n for n in lanes if mask >> (n % WARP) & 1]
                if set(expected) <= set(members):
                    for n, value in warp_results(name, members, waiting).items():
                        answers[n] = value
                        running[n][0].warp_epoch += name == "syncwarp"
                    for n in members:
                        del waiting[n]
                    released = True
        return released

    def release_block(self, running, waiting, answers):
        if not running:
            return
        places = {waiting[n][1] for n in running}
        if len(places) > 1 or len(running) < math.prod(self.dims):
            raise Divergence(f"block {self.index}: {len(running)} threads at {len(places)} barriers")
        votes = [waiting[n][3] for n in running]
        for n in list(running):
            answers[n] = {
                "count": np.int32(sum(votes)), "and": np.int32(all(votes)), "or": np.int32(any(votes)), None: None
            }[waiting[n][2]]  # fmt: skip
            running[n][0].epoch += 1
            del waiting[n]


def warp_results(name, members, waiting):
    """Return what each lane gets from a shuffle, a vote or a syncwarp in which `members` take part."""
    arguments = {n % WARP: waiting[n][3:] for n in members}
    results = {}
    for n in members:
        lane = n % WARP
        if name == "syncwarp":
            results[n] = None
        elif name.startswith("shfl"):
            offset = int(arguments[lane][1])
            source = {
                "shfl_sync": offset % WARP, "shfl_up_sync": lane - offset,
                "shfl_down_sync": lane + offset, "shfl_xor_sync": lane ^ offset,
            }[name]  # fmt: skip
            if not 0 <= source < WARP:
                source = lane
            if source not in arguments:
                raise Divergence(f"lane {lane} shuffles from lane {source}, which takes no part")
            results[n] = arguments[source][0]
        else:
            truths = {other: bool(args[0]) for other, args in arguments.items()}
            results[n] = {
                "all_sync": np.bool_(all(truths.values())),
                "any_sync": np.bool_(any(truths.values())),
                "eq_sync": np.bool_(len(set(truths.values())) == 1),
                "ballot_sync": scalar.cast(np.int64(sum(1 << k for k, t in truths.items() if t)), INT32),
            }[name]
    return results


class ReturnReached(Exception):
    pass


class BreakReached(Exception):
    pass


class ContinueReached(Exception):
    pass


class Function:
    """A kernel or device function: its syntax tree, parameters and the constants it can see."""

    def __init__(self, function):
        source, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(source)))
        ast.increment_lineno(tree, first - 1)
        self.node = tree.body[0]
        self.parameters = [a.arg for a in self.node.args.args]
        closure = inspect.getclosurevars(function)
        self.constants = {**vars(builtins), **function.__globals__, **closure.nonlocals}
        self.merged = {}

    @staticmethod
    @lru_cache(500)
    def of(function):
        return Function(function)

    def merges(self, kinds):
        """Return the types where paths meet, and those of expressions, for arguments of these kinds."""
        if kinds not in self.merged:
            kind_of = Kinds(self)
            environment = dict(zip(self.parameters, kinds, strict=True))
            self.merged[kinds] = (Merges(self.node.body, environment, kind_of), kind_of)
        return self.merged[kinds]

    def constant(self, node):
        """Return the Python object that a name or dotted name stands for."""
        if isinstance(node, ast.Name):
            return self.constants[node.id]
        if isinstance(node, ast.Attribute):
            return getattr(self.constant(node.value), node.attr)
        raise LookupError(ast.dump(node))


def dotted(node):
    """Return "cuda.threadIdx.x" for that expression, "" for anything that is not dotted names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return base and f"{base}.{node.attr}"
    return ""


SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.Gt: ">", ast.GtE: ">=",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip
ATOMICS = {
    "add": lambda old, v: old + v, "sub": lambda old, v: old - v, "and_": lambda old, v: old & v,
    "or_": lambda old, v: old | v, "xor": lambda old, v: old ^ v, "exch": lambda old, v: v,
    "max": lambda old, v: v if v > old else old, "min": lambda old, v: v if v < old else old,
    "nanmax": np.fmax, "nanmin": np.fmin,
}  # fmt: skip


def conjugated(node):
    """Return whether a call is that of the method conjugate."""
    return isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate"


def exponent_literal(node):
    """Return the value of an exponent written as an int literal, else None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = exponent_literal(node.operand)
        return None if value is None else -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def as_numpy(dtype):
    """Return the NumPy dtype for float32, np.float32, numba.float32 or "float32"."""
    return as_dtype(dtype) if isinstance(dtype, numba_types.Type) else np.dtype(dtype)


def shuffled(dtype):
    """Return the type in which a shuffle moves a value: one of four; uint64 goes as float64."""
    if dtype == np.dtype("uint64"):
        return np.dtype("float64")
    if dtype.kind == "f":
        return np.dtype("float32") if dtype.itemsize == 2 else dtype
    return INT64 if dtype.itemsize == 8 or dtype == np.dtype("uint32") else INT32


class Kinds:
    """The type of an expression, given the types of the variables."""

    def __init__(self, function):
        self.function = function
        self.chosen = {}  # the types of `and`, `or` and choices, for the constants that numba knows
        self.seen = {}  # the types that an operation in a loop had until its variables' types were known, in one

    def __call__(self, node, env):
        return getattr(self, type(node).__name__)(node, env)

    def Constant(self, node, env):
        return scalar.literal(node.value).dtype

    def Tuple(self, node, env):
        return tuple(self(e, env) for e in node.elts)

    def Name(self, node, env):
        if node.id in env:
            return without_constant(env[node.id])
        value = self.function.constants.get(node.id, VARYING)
        return kind_of_value(literal(value)) if isinstance(value, int | float | complex | np.generic | tuple) else None

    def Attribute(self, node, env):
        name = dotted(node)
        if name.startswith("cuda."):
            return INT32
        if isinstance(node.value, ast.Name) and isinstance(env.get(node.value.id), ArrayKind):
            return (INT64,) * env[node.value.id].ndim if node.attr == "shape" else INT64
        if node.attr in ("real", "imag"):
            kind = self(node.value, env)
            return typing.PARTS.get(kind, kind)
        return scalar.literal(self.function.constant(node)).dtype

    def Subscript(self, node, env):
        base = self(node.value, env)
        if isinstance(base, ArrayKind):
            return base.dtype
        if isinstance(node.slice, ast.Slice):
            return base[slice_of(node.slice)]
        constant = python_value(node.slice)
        return base[0 if constant is None else constant]  # items that are chosen at run time have one type

    def iterated(self, node, env):
        """Return the type of the items that a for loop iterates over."""
        target = self.function.constant(node.func) if isinstance(node, ast.Call) else None
        if target is range:
            return range_type([self(a, env) for a in node.args])
        if target is enumerate:
            return INT64, self.iterated(node.args[0], env)
        if target is zip:
            return tuple(self.iterated(a, env) for a in node.args)
        kind = self(node, env)
        return kind.dtype if isinstance(kind, ArrayKind) else kind[0]

    def BinOp(self, node, env):
        constant = python_value(node)
        if constant is not None:
            return scalar.literal(constant).dtype
        a, b = self(node.left, env), self(node.right, env)
        if isinstance(a, tuple):
            return a + b
        symbol, literal = SYMBOLS[type(node.op)], exponent_literal(node.right)
        kind = typing.oracle_binop(symbol, a, literal if symbol == "**" and literal is not None else b)
        self.seen[node] = kind = unify(self.seen.get(node, kind), kind)
        return kind

    def UnaryOp(self, node, env):
        constant = python_value(node)
        if constant is not None:
            return scalar.literal(constant).dtype
        return typing.oracle_unary(SYMBOLS[type(node.op)], self(node.operand, env))

    def Compare(self, node, env):
        return BOOL

    def BoolOp(self, node, env):
        kinds = [self(v, env) for v in self.outcomes(node, {True, False}, env)]
        self.chosen[node] = merged = reduce(unify, reversed(kinds))
        return merged

    def IfExp(self, node, env):
        outcome = self.decided(node.test, env)
        kinds = [
            self(side, env) for side, taken in ((node.body, True), (node.orelse, False)) if outcome in (None, taken)
        ]
        self.chosen[node] = merged = reduce(unify, kinds)
        return merged

    def outcomes(self, node, wanted, env):
        """Return the operands of `and` and `or` that can be the result when its truth is one of `wanted`.

        The value of x is never that of `x and y or z`, and Python's compiler does not keep it. Nor does numba keep an
        operand that is known to have the wrong truth, or what comes after one that decides.
        """
        if not isinstance(node, ast.BoolOp):
            outcome = self.decided(node, env)
            return [node] if wanted & ({True, False} if outcome is None else {outcome}) else []
        decides, found = isinstance(node.op, ast.Or), []
        for operand in node.values:
            last = operand is node.values[-1] or self.decided(operand, env) is decides
            found += self.outcomes(operand, wanted if last else wanted & {decides}, env)
            if last:
                return found

    def constant(self, node, env):
        """Return the value of a number or a name if numba knows it before it infers types, else None."""
        value = python_value(node)
        if isinstance(node, ast.Name):
            known = env.get(node.id, self.function.constants.get(node.id))
            value = known.value if isinstance(known, Literal) else known
        return value if isinstance(value, int | float | np.generic) else None

    def decided(self, node, env):
        """Return the outcome of a condition if numba drops the other branch, else None."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            outcome = self.decided(node.operand, env)
            return None if outcome is None else not outcome
        if isinstance(node, ast.Compare):
            sides = [self.constant(side, env) for side in (node.left, *node.comparators)]
            links = zip(sides, map(type, node.ops), sides[1:], strict=False)
            known = [None if None in (a, b) else bool(typing.COMPARE[SYMBOLS[op]](a, b)) for a, op, b in links]
            return combined_outcome(known, decides=False)
        if isinstance(node, ast.BoolOp):
            known = [self.decided(operand, env) for operand in node.values]
            return combined_outcome(known, decides=isinstance(node.op, ast.Or))
        value = self.constant(node, env)
        if isinstance(node, ast.BinOp) and value is None:
            sides = [self.constant(side, env) for side in (node.left, node.right)]
            if None not in sides:
                value = scalar.binary(SYMBOLS[type(node.op)], *map(literal, sides), exponent_literal(node.right))
        return None if value is None else bool(value)

    def Call(self, node, env):
        if conjugated(node):
            return self(node.func.value, env)
        name = dotted(node.func)
        kinds = [self(a, env) for a in node.args]
        if name.startswith("cuda."):
            return self.cuda_call(name.removeprefix("cuda."), node, kinds)
        target = self.function.constant(node.func)
        if hasattr(target, "py_func"):
            inner = Function.of(target.py_func)
            return returned_kind(inner, tuple(kinds))
        if target is len:
            return INT64
        if isinstance(target, numba_types.Type) or (isinstance(target, type) and issubclass(target, np.generic)):
            return as_numpy(target)
        return typing.oracle_call(target, *kinds)

    def cuda_call(self, name, node, kinds):
        if name == "grid":
            dims = ast.literal_eval(node.args[0])
            return INT64 if dims == 1 else (INT64,) * dims
        if name in ("shared.array", "local.array"):
            given = {k.arg: k.value for k in node.keywords}
            shape, dtype = (*node.args, *(given[k] for k in ("shape", "dtype") if k in given))[:2]
            shape = self.shape(shape)
            return ArrayKind(as_numpy(self.function_constant(dtype)), len(shape))
        if name.startswith("atomic."):
            return kinds[0].dtype
        if name.startswith("shfl"):
            return shuffled(kinds[1])
        if name in ("all_sync", "any_sync", "eq_sync"):
            return BOOL
        if name in ("syncthreads_count", "syncthreads_and", "syncthreads_or", "ballot_sync"):
            return INT32
        return None

    def function_constant(self, node):
        return node.value if isinstance(node, ast.Constant) else self.function.constant(node)

    def shape(self, node):
        if isinstance(node, ast.Tuple):
            return tuple(int(self.function_constant(e)) for e in node.elts)
        value = self.function_constant(node)
        return tuple(value) if isinstance(value, tuple) else (int(value),)


def combined_outcome(known, decides):
    """Return the outcome of conditions of which one decides if it has this truth; None for one that is not known."""
    if decides in known:
        return decides
    return None if None in known else not decides


@lru_cache(2000)
def python_value(node):
    """Return the value of an expression of literals alone, which Python computes before numba sees it, else None."""
    if any(isinstance(n, ast.expr) and not isinstance(n, ast.Constant | ast.UnaryOp | ast.BinOp)
           for n in ast.walk(node)):  # fmt: skip
        return None
    try:
        return eval(compile(ast.Expression(node), "<constant>", "eval"))
    except ArithmeticError:
        return None


def slice_of(node):
    """Return the slice of literals that stands in `t[1:]`."""
    return slice(*(part if part is None else python_value(part) for part in (node.lower, node.upper, node.step)))


def literal(value):
    """Return a Python constant, or a tuple of them, as numba's."""
    return tuple(map(literal, value)) if isinstance(value, tuple) else scalar.literal(value)


@lru_cache(2000)
def returned_kind(function, kinds):
    """Return the type of a device function's result: its returns, merged."""
    results = []
    kind_of = Kinds(function)

    class Collect(Merges):
        def Return(self, statement, environment):
            if statement.value is not None:
                results.append(kind_of(statement.value, environment))

    Collect(function.node.body, dict(zip(function.parameters, kinds, strict=True)), kind_of)
    merged = results[0] if results else None
    for kind in results[1:]:
        merged = unify(merged, kind)
    return merged


def convert(value, kind):
    """Convert a scalar, or a tuple of them, to the type at a meeting of paths."""
    if isinstance(value, tuple) and isinstance(kind, tuple):
        return tuple(map(convert, value, kind))
    if isinstance(value, np.generic) and isinstance(kind, np.dtype) and value.dtype != kind:
        return scalar.cast(value, kind)
    return value


def kind_of_value(value):
    if isinstance(value, tuple):
        return tuple(map(kind_of_value, value))
    return value.kind if isinstance(value, Array) else value.dtype


def pause_thread(*event):
    """Let the other threads run; return the answer to the event that stops this one."""
    return getcurrent().parent.switch(event)


class Thread:
    """One thread: its variables, its place in the loops, and the barriers it has passed."""

    def __init__(self, block, number):
        self.block, self.number = block, number
        self.epoch = self.warp_epoch = 0
        self.path = []
        self.index = thread_index(number, block.dims)

    def call(self, function, values):
        frame = Frame(self, function, values)
        try:
            frame.block(function.node.body)
        except ReturnReached as returned:
            kind = returned_kind(function, tuple(map(kind_of_value, values)))
            return convert(returned.args[0], kind)
        return None

    def special(self, name):
        """Return threadIdx.x and its like."""
        if name in ("laneid", "warpsize"):
            return np.int32({"laneid": self.number % WARP, "warpsize": WARP}[name])
        which, axis = name.split(".")
        values = {
            "threadIdx": self.index, "blockIdx": self.block.index,
            "blockDim": self.block.dims, "gridDim": self.block.grid,
        }[which]  # fmt: skip
        return np.int32(values["xyz".index(axis)])

    def grid(self, dims):
        values = [np.int64(self.block.index[axis] * self.block.dims[axis] + self.index[axis]) for axis in range(dims)]
        return values[0] if dims == 1 else tuple(values)


class Frame:
    """One call of a function by one thread: statements and expressions, each a method named as its node."""

    def __init__(self, thread, function, values):
        self.thread, self.function = thread, function
        self.env = dict(zip(function.parameters, values, strict=True))
        self.merges, self.kinds = function.merges(tuple(map(kind_of_value, values)))

    def merge_types(self, types):
        for name, kind in (types or {}).items():
            if name in self.env:
                self.env[name] = convert(self.env[name], kind)

    # statements

    def block(self, statements):
        for statement in statements:
            getattr(self, type(statement).__name__)(statement)

    def Pass(self, node):
        pass

    def Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def Return(self, node):
        value = None
        if node.value is not None:
            value = self.value(node.value)
        raise ReturnReached(value)

    def Break(self, node):
        raise BreakReached

    def Continue(self, node):
        raise ContinueReached

    def If(self, node):
        test = self.value(node.test)
        self.block(node.body if test else node.orelse)
        self.merge_types(self.merges.after[node])

    def For(self, node):
        values = self.iterator(node.iter)

        def advance():
            for value in values:
                self.bind(node.target, value)
                return True
            return False

        self.loop(node, advance)

    def iterator(self, node):
        target = self.function.constant(node.func) if isinstance(node, ast.Call) else None
        if target is zip:
            return zip(*map(self.iterator, node.args), strict=False)
        if target is enumerate:
            items = self.iterator(node.args[0])
            first = self.value(node.args[1]) if node.args[1:] else 0
            return ((np.int64(int(first) + count), item) for count, item in enumerate(items))
        if target is range:
            bounds = [self.value(argument) for argument in node.args]
            dtype = range_type([b.dtype for b in bounds])
            return (scalar.cast(np.int64(value), dtype) for value in range(*(int(b) for b in bounds)))
        value = self.value(node)
        if isinstance(value, Array):
            return (self.load(value, (np.int64(k),), node) for k in range(len(value.data)))
        return iter(value)

    def While(self, node):
        self.loop(node, lambda: self.value(node.test))

    def loop(self, node, advance):
        self.thread.path.append([node, 0])
        try:
            ended_by_break = self.run_iterations(node, advance)
        finally:
            self.thread.path.pop()
        if not ended_by_break:  # the threads of a warp that ran to the end meet here again
            self.block(node.orelse)
        self.merge_types(self.merges.after[node])

    def run_iterations(self, node, advance):
        while True:
            self.merge_types(self.merges.head[node])
            if not advance():
                return False
            try:
                self.block(node.body)
            except BreakReached:
                return True
            except ContinueReached:
                pass
            self.thread.path[-1][1] += 1

    def Assign(self, node):
        value = self.value(node.value)
        for target in node.targets:
            if isinstance(value, Array) and isinstance(target, ast.Name) and value.space != "global":
                value.name = target.id
            if isinstance(target, ast.Subscript):
                self.store(target, value)
            else:
                self.bind(target, value)

    def AugAssign(self, node):
        symbol = SYMBOLS[type(node.op)]
        if isinstance(node.target, ast.Subscript):
            array, index = self.place(node.target)
            old = self.load(array, index, node.target)
            value = self.value(node.value)
            self.write(array, index, node.target, scalar.binary(symbol, old, value, exponent_literal(node.value)))
        else:
            value = self.value(node.value)
            old = self.env[node.target.id]
            self.env[node.target.id] = scalar.binary(symbol, old, value, exponent_literal(node.value))

    def bind(self, target, value):
        if isinstance(target, ast.Tuple):
            for element, one in zip(target.elts, value, strict=True):
                self.bind(element, one)
        else:
            self.env[target.id] = value

    # memory

    def place(self, node):
        array = self.value(node.value)
        index = self.value(node.slice)
        return array, index if isinstance(index, tuple) else (index,)

    def store(self, node, value):
        """Store in an element, or in each element of a part: the k-th of every thread is one request."""
        array = self.value(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        places = []
        for part, extent in itertools.zip_longest(parts, array.data.shape, fillvalue=ast.Slice()):
            if isinstance(part, ast.Slice):
                bounds = [bound and int(self.value(bound)) for bound in (part.lower, part.upper, part.step)]
                places.append(range(*slice(*bounds).indices(extent)))
            else:
                places.append(self.value(part))
        if not any(isinstance(place, range) for place in places):
            return self.write(array, tuple(places), node, value)
        for numbers in itertools.product(*(range(len(p)) if isinstance(p, range) else [0] for p in places)):
            index = [p[k] if isinstance(p, range) else p for p, k in zip(places, numbers, strict=True)]
            self.thread.path.append([node, numbers])
            self.write(array, tuple(index), node, value)
            self.thread.path.pop()

    def write(self, array, index, node, value):
        position = self.record_access("store", array, index, node)
        if position is not None:
            array.data[position] = scalar.cast(value, array.data.dtype)

    def load(self, array, index, node):
        position = self.record_access("load", array, index, node)
        return array.data.dtype.type(0) if position is None else array.data[position]

    def record_access(self, op, array, index, node):
        """Record an access, with the loops around it; return the element's position, None if the index is outside."""
        thread, record = self.thread, self.thread.block.record
        if len(index) != array.data.ndim:
            raise TypeError(f"{array.name} has {array.data.ndim} dimensions")
        position = []
        for one, extent in zip(index, array.data.shape, strict=True):
            wrapped = int(one) + extent if one < 0 else int(one)
            if not 0 <= wrapped < extent:
                record.out_of_bounds.append((array.name, node.lineno))
                return None
            if one < 0:
                record.negative.append((array.name, node.lineno))
            position.append(wrapped)
        word = (array.name, array.owner, *position)
        if array.written is not None:
            if op != "store" and tuple(position) not in array.written:
                record.uninitialized.append((array.name, node.lineno))
            if op != "load":
                array.written.add(tuple(position))
        address = sum(i * s for i, s in zip(position, array.data.strides, strict=True))
        path = tuple((id(loop), count) for loop, count in thread.path)
        warp = thread.number // WARP
        record.accesses.append(
            Access(
                op, array.name, array.space, node.lineno, thread.block.index, thread.number,
                (thread.block.index, warp, path, id(node), op), word, address, array.data.itemsize,
                (thread.epoch, thread.warp_epoch),
            )
        )  # fmt: skip
        return tuple(position)

    # expressions

    def value(self, node):
        return getattr(self, type(node).__name__)(node)

    def Constant(self, node):
        return None if node.value is None else scalar.literal(node.value)

    def Name(self, node):
        if node.id in self.env:
            return self.env[node.id]
        return literal(self.function.constants[node.id])

    def Attribute(self, node):
        name = dotted(node)
        if name.startswith("cuda."):
            return self.thread.special(name.removeprefix("cuda."))
        if isinstance(node.value, ast.Name) and isinstance(self.env.get(node.value.id), Array):
            value = getattr(self.env[node.value.id].data, node.attr)
            return tuple(map(np.int64, value)) if isinstance(value, tuple) else np.int64(value)
        if node.attr in ("real", "imag"):
            return getattr(self.value(node.value), node.attr)
        return scalar.literal(self.function.constant(node))

    def Tuple(self, node):
        return tuple(self.value(element) for element in node.elts)

    def Subscript(self, node):
        base = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            return base[slice_of(node.slice)]
        index = self.value(node.slice)
        if isinstance(base, tuple):
            return base[int(index)]
        return self.load(base, index if isinstance(index, tuple) else (index,), node)

    def BinOp(self, node):
        constant = python_value(node)
        if constant is not None:
            return scalar.literal(constant)
        a = self.value(node.left)
        b = self.value(node.right)
        if isinstance(a, tuple):
            return a + b
        symbol, literal = SYMBOLS[type(node.op)], exponent_literal(node.right)
        value = scalar.binary(symbol, a, b, literal)
        if (kind := self.kinds.seen.get(node, value.dtype)) != value.dtype:
            if symbol in ("&", "|", "^", "<<", ">>"):  # of integers alone
                return scalar.cast(value, kind)
            return scalar.binary(symbol, scalar.cast(a, kind), scalar.cast(b, kind), literal)
        return value

    def UnaryOp(self, node):
        constant = python_value(node)
        if constant is not None:
            return scalar.literal(constant)
        value = self.value(node.operand)
        return scalar.unary(SYMBOLS[type(node.op)], value)

    def Compare(self, node):
        left = self.value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            if isinstance(op, ast.Is):
                true = left is right  # None
            elif isinstance(left, tuple):
                true = isinstance(op, ast.Eq) == (len(left) == len(right) and all(
                    scalar.compare("==", a, b) for a, b in zip(left, right, strict=True)))  # fmt: skip
            elif isinstance(op, ast.In | ast.NotIn):
                true = any(scalar.compare("==", left, item) for item in right) == isinstance(op, ast.In)
            else:
                true = scalar.compare(SYMBOLS[type(op)], left, right)
            if not true:
                return np.bool_(False)
            left = right
        return np.bool_(True)

    def BoolOp(self, node):
        kind = self.chosen(node)
        for operand in node.values:
            value = self.value(operand)
            if bool(value) == isinstance(node.op, ast.Or):
                break
        return convert(value, kind)

    def chosen(self, node):
        """Return the type of `and`, `or` or a choice."""
        if node not in self.kinds.chosen:
            return self.kinds(node, {name: kind_of_value(v) for name, v in self.env.items()})
        return self.kinds.chosen[node]

    def IfExp(self, node):
        kind = self.chosen(node)
        test = self.value(node.test)
        value = self.value(node.body if test else node.orelse)
        return convert(value, kind)

    def Call(self, node):
        name = dotted(node.func)
        if name in ("cuda.shared.array", "cuda.local.array"):
            return self.allocate(name.split(".")[1], node)
        if conjugated(node):
            return self.value(node.func.value).conjugate()
        values = [self.value(argument) for argument in node.args]
        if name.startswith("cuda.atomic."):
            return self.atomic(name.split(".")[-1], node, values)
        if name.startswith("cuda."):
            return self.cuda_call(name.removeprefix("cuda."), node, values)
        target = self.function.constant(node.func)
        if hasattr(target, "py_func"):
            self.thread.path.append([node, 0])
            result = self.thread.call(Function.of(target.py_func), values)
            self.thread.path.pop()
            return result
        if target is len:
            return np.int64(len(getattr(values[0], "data", values[0])))
        if isinstance(target, numba_types.Type) or (isinstance(target, type) and issubclass(target, np.generic)):
            return scalar.cast(values[0], as_numpy(target))
        return scalar.call(target, *values)

    def allocate(self, space, node):
        kind = self.kinds(node, {})
        given = {k.arg: k.value for k in node.keywords}
        shape = self.kinds.shape(node.args[0] if node.args else given["shape"])
        block = self.thread.block
        if space == "shared":
            if node not in block.shared:
                data = np.full(shape, 77, kind.dtype)
                block.shared[node] = Array(data, "", "shared", (*block.index, id(node)), set())
            return block.shared[node]
        data = np.full(shape, 77, kind.dtype)
        return Array(data, "", "local", (*block.index, self.thread.number, id(node)), set())

    def atomic(self, name, node, values):
        array, index, *operands = values
        index = index if isinstance(index, tuple) else (index,)
        position = self.record_access("atomic", array, index, node)
        dtype = array.data.dtype
        if position is None:
            return dtype.type(0)
        old = array.data[position]
        operands = [scalar.cast(v, dtype) for v in operands]
        with np.errstate(all="ignore"):
            if name == "cas":
                new = operands[1] if old == operands[0] else old
            else:
                new = ATOMICS[name](old, operands[0])
        array.data[position] = new
        return old

    def cuda_call(self, name, node, values):
        path = tuple((id(loop), count) for loop, count in self.thread.path)
        place = (id(node), path)
        if name == "grid":
            return self.thread.grid(int(values[0]))
        if name.startswith("syncthreads"):
            kind = name.removeprefix("syncthreads").removeprefix("_") or None
            return pause_thread("syncthreads", place, kind, bool(values[0]) if values else False)
        if name == "syncwarp":
            return pause_thread("syncwarp", place, int(values[0]) if values else 0xFFFFFFFF)
        if name.startswith("shfl"):
            value = scalar.cast(values[1], shuffled(values[1].dtype))
            return pause_thread(name, place, int(values[0]), value, values[2])
        return pause_thread(name, place, int(values[0]), values[1])
