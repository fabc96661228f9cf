"""Random kernels, as source text, that end, stay inside their arrays and have no race.

A kernel's parameters are always F, D, I, L, U, B (1-D, of several types), A (2-D), OUT_D, OUT_L and COUNT (results,
the last one for atomics). Integer variables i0, i1, … keep a signed or narrow unsigned type, so that they can be
indices; numbers f0, f1, … take whatever type numba's rules give them. The dialects:

    typed      every mixture of types, wrap-around, division by zero: numba's simulator types differently
    plain      int64 and float64 in small ranges, where Python's arithmetic and numba's agree
    careless   one type, and accesses that may break every rule
    counted    every loaded value is used and nothing is stored twice, so that a compiler drops no access
    complex    complex numbers of both sizes beside real ones
    effects    calls that write down who called them, in every place where an expression may stand
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

HEADER = """import math

import numpy as np
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

THREE = 3
WEIGHTS = (3, -1, 2)
SCALES = (0.5, 2.0, -1.25)
HALF = np.float32(0.5)


@cuda.jit(device=True)
def helper(p, q):
    if p > q:
        return p - q
    return q


@cuda.jit(device=True)
def pick(X, k):
    if k % 3 == 0:
        return X[k % 24]
    r = X[(k + 1) % 24]
    return r * r


@cuda.jit
def kernel(F, D, I, L, U, B, A, OUT_D, OUT_L, COUNT):
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
    g = t + b * (cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z)
"""
LENGTH, ROWS, COLUMNS, SLOTS = 24, 5, 7, 4
LAUNCHES = [
    ((1,), (1,)), ((2,), (5,)), ((1,), (32,)), ((1,), (33,)), ((3,), (7,)), ((1,), (48,)), ((2,), (34,)), ((1,), (64,)),
    ((1, 1), (4, 4)), ((2, 2), (3, 2)), ((1, 2), (8, 3)), ((2, 1), (5, 7)), ((1, 1), (3, 13)), ((3, 1), (2, 9)),
    ((1, 1), (33, 1)), ((1, 1, 1), (2, 3, 4)), ((1, 1, 2), (4, 3, 2)), ((2, 1, 1), (3, 1, 5)), ((1, 2, 1), (4, 3, 3)),
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A generated kernel, its launch and the seed of its inputs."""

    source: str
    grid: tuple
    block: tuple
    seed: int
    order: str

    def arguments(self):
        """Return fresh arguments, in the order of the kernel's parameters."""
        rng, threads = np.random.default_rng(self.seed), int(np.prod(self.grid + self.block))

        def some(dtype):
            return (rng.integers(-16, 17, LENGTH) / 4).astype(dtype)

        if self.source.startswith(COMPLEX_HEADER):
            return [some("c8") + 1j * some("f4"), some("c16") * 1j - some("f8"), some("f4"), some("i4"), some("f2"),
                    np.zeros(threads, "c8"), np.zeros(threads, "c16"), np.zeros(threads)]  # fmt: skip
        if self.source.startswith(CARELESS_HEADER):
            return [np.zeros(threads, np.int32), np.zeros(threads, np.int32)]
        if self.source.startswith(COUNTED_HEADER):
            ints = [rng.integers(0, 100, LENGTH).astype(d) for d in "i4 i8 u4 u1".split()]
            A = np.array(rng.integers(-9, 9, (ROWS, COLUMNS)) / 2, np.float32, order=self.order)
            return [some("f4"), *ints, A, np.zeros((threads, 40), np.float32), np.zeros((threads, 40), np.int64)]
        if self.source.startswith(EFFECTS_HEADER):
            return [np.zeros((threads, CALLERS + 2), np.int64), np.zeros((threads, 4), np.int64)]
        lowest = {"i": -20, "u": 0}
        return [
            some("f4"), some("f8"), *(rng.integers(lowest[d[0]], 100, LENGTH).astype(d) for d in "i4 i8 u4 u1".split()),
            np.array(rng.integers(-9, 9, (ROWS, COLUMNS)) / 2, np.float32, order=self.order),
            np.zeros((threads, SLOTS)), np.zeros((threads, SLOTS), np.int64), np.zeros(6, np.int64),
        ]  # fmt: skip

    def __repr__(self):
        body = self.source[self.source.index("def kernel") :]
        return f"kernel[{self.grid}, {self.block}], seed {self.seed}, order {self.order}:\n{body}"


@st.composite
def cases(draw, typed, shared=True):
    """Draw a Case of the typed or the plain dialect."""
    grid, block = draw(st.sampled_from(LAUNCHES))
    threads = 1
    for extent in block:
        threads *= extent
    writer = Writer(draw, typed, threads)
    writer.kernel(shared)
    seed = draw(st.integers(0, 99))
    order = draw(st.sampled_from("CF"))
    return Case(HEADER + "\n".join(writer.lines) + "\n", grid, block, seed, order)


class Writer:
    """Writes one kernel, drawing every choice."""

    def __init__(self, draw, typed, threads):
        self.draw, self.typed, self.threads = draw, typed, threads
        self.lines, self.indent = [], 1
        self.integers, self.numbers = ["t", "g"], []
        self.loop_variables, self.loop_numbers, self.loops, self.names = [], [], 0, 0
        self.may_return = True
        self.shared = []

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def chance(self, percent):
        return self.draw(st.integers(0, 99)) < percent

    def one(self, *options):
        return self.draw(st.sampled_from(options))

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # expressions

    def index(self, extent):
        return f"({self.integer(1)}) % {extent}"

    def integer(self, depth=2):
        """Return an expression of some integer type, without side effects beyond loads."""
        if depth == 0 or self.chance(35):
            leaf = self.one("name", "name", "literal", "load", "loop", "special")
            if leaf == "load":
                array = self.one("I", "L", "U", "B") if self.typed else "L"
                return f"{array}[({self.one(*self.integers)} + {self.draw(st.integers(0, 9))}) % {LENGTH}]"
            if leaf == "literal":
                return str(self.draw(st.integers(0, 9)))
            if leaf == "loop" and self.loop_variables:
                return self.one(*self.loop_variables)
            if leaf == "special":
                specials = ["cuda.threadIdx.x", "cuda.blockIdx.x", "cuda.blockDim.y", "cuda.gridDim.x", "THREE",
                            "F.shape[0]", "A.shape[1]", "len(L)", "cuda.grid(1)",
                            f"WEIGHTS[({self.one(*self.integers)}) % 3]"]  # fmt: skip
                return self.one(*specials, *(["cuda.laneid"] if self.typed else []))
            return self.one(*self.integers)
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        kinds = ["+", "-", "*", "//", "%", "if", "abs", "and", "or"]
        if self.typed:
            kinds += ["&", "|", "^", "<<", ">>", "~", "neg", "cast", "**", "raw //", "raw %"]
        kind = self.one(*kinds)
        if kind in ("//", "%"):
            return f"(({a}) {kind} {self.draw(st.integers(1, 9))})"
        if kind.startswith("raw"):
            return f"(({a}) {kind.split()[1]} ({b}))"
        if kind in ("<<", ">>"):
            return f"(({a}) {kind} (({b}) & 7))"
        if kind == "if":
            return f"({a} if {self.condition(depth - 1)} else {b})" if not self.typed else f"(({a}) + ({b}))"
        if kind == "cast":
            return f"{self.one('int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32')}({a})"
        if kind == "**":
            return f"(({a}) ** {self.draw(st.integers(0, 3))})"
        if kind in ("abs", "~", "neg"):
            return {"abs": f"abs({a})", "~": f"(~({a}))", "neg": f"(-({a}))"}[kind]
        if kind in ("and", "or") and self.typed:
            return f"(int64({a}) {kind} int64({b}))"  # an int64 and a uint64 would be combined as float64
        if kind == "*" and not self.typed:
            return f"(({a}) % 50 * (({b}) % 50))"
        return f"({a} {kind} {b})"

    def number(self, depth=2):
        """Return an expression of any numeric type."""
        if depth == 0 or self.chance(30):
            leaf = self.one("name", "name", "load", "load", "literal", "integer", "shared", "matrix")
            if leaf == "name" and self.numbers:
                return self.one(*self.numbers, *self.loop_numbers)
            if leaf == "shared" and self.shared:
                return self.one(*self.shared).format(index=self.index(self.threads))
            if leaf == "literal":
                return self.one("0.5", "2.0", "1.25", *(["HALF", "float32(3)", "1", "7"] if self.typed else []))
            if leaf == "integer":
                return f"({self.integer(1)})" if self.typed else f"float64(({self.integer(1)}) % 100)"
            if leaf == "matrix":
                load = f"A[{self.index(ROWS)}, {self.index(COLUMNS)}]"
                return load if self.typed else f"float64({load})"
            if self.typed and self.chance(25):
                return f"pick({self.one('F', 'I', 'D')}, {self.integer(1)})"
            return f"{self.one('F', 'D') if self.typed else 'D'}[{self.index(LENGTH)}]"
        a, b = self.number(depth - 1), self.number(depth - 1)
        kinds = ["+", "-", "*", "if", "neg", "and", "or", "choice"]
        if self.typed:
            kinds += ["/", "//", "%", "min", "math", "cast", "helper", "**"]
        kind = self.one(*kinds)
        if kind == "if":
            return f"({a} if {self.condition(depth - 1)} else {b})"
        if kind == "neg":
            return f"(-({a}))"
        if kind == "choice":
            return f"({self.condition(depth - 1)} and {a} or {b})"
        if kind == "min":
            return f"{self.one('min', 'max')}({a}, {b})"
        if kind == "math":
            return f"math.{self.one('sqrt', 'floor', 'ceil', 'fabs')}({a})"
        if kind == "cast":
            return f"{self.one('float32', 'float64')}({a})"
        if kind == "helper":
            return f"helper({a}, {b})"
        if kind == "**":
            return f"(({a}) ** 2)"
        if kind == "*" and not self.typed:
            return f"({a} * {self.one('0.5', '0.25', '-0.75')})"
        return f"({a} {kind} {b})"

    def condition(self, depth=1):
        if depth > 0 and self.chance(30):
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.one(f"({a} and {b})", f"({a} or {b})", f"not ({a})")
        symbol = self.one("<", "<=", "==", "!=", ">", ">=")
        if self.chance(25):
            last = self.integer(1) if self.chance(50) else self.draw(st.integers(1, 20))
            return f"{self.integer(1)} {symbol} {self.integer(1)} < {last}"
        if self.chance(15):
            a, b = self.integer(1), self.one(self.integer, self.number)(1)
            return self.one(f"({a} and {b})", f"not ({b} or {a})", f"{a} in (0, 2, 5)", f"{a} not in WEIGHTS")
        make = self.one(self.integer, self.integer, self.number)
        return f"{make(1)} {symbol} {make(1)}"

    # statements

    def block(self, depth, size):
        self.indent += 1
        for _ in range(self.draw(st.integers(1, size))):
            self.statement(depth)
        self.indent -= 1

    def statement(self, depth):
        kinds = ["assign", "assign", "augment", "integer", "local", "store", "fill"]
        if depth:
            kinds += ["if", "if", "for", "while", "swap"]
        if self.loops:
            kinds += ["break", "continue"]
        if self.may_return and self.chance(30):
            kinds += ["return"]
        getattr(self, f"do_{self.one(*kinds)}")(depth)

    def do_assign(self, depth):
        self.line(f"{self.one(*self.numbers)} = {self.number()}")

    def do_augment(self, depth):
        operators = ["+", "-", *(["*", "/", "//", "%"] if self.typed else [])]
        self.line(f"{self.one(*self.numbers)} {self.one(*operators)}= {self.number(1)}")

    def do_integer(self, depth):
        name = self.one(*self.integers[2:])
        if self.typed and self.chance(70):
            cast = self.one("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
            self.line(f"{name} = {cast}({self.integer()})")
        elif self.typed:
            self.line(f"{name} {self.one('+', '-', '*', '^')}= {self.integer(1)} + 1")
        else:
            self.line(f"{name} = ({self.integer()}) % 1000")

    def do_swap(self, depth):
        a, b = self.one(*self.numbers), self.one(*self.numbers)
        self.line(f"{a}, {b} = {b}, {self.number(1)}" if a != b else f"{a} = -{b}")

    def do_local(self, depth):
        k = self.draw(st.integers(0, 2))
        self.line(f"v[{k}] {self.one('=', '+=', '=')} {self.number(1)}")
        self.line(f"{self.one(*self.numbers)} = v[{self.index(3)}]")

    def do_store(self, depth):
        self.line(f"OUT_D[g, {self.draw(st.integers(0, SLOTS - 1))}] {self.one('=', '=', '+=')} {self.number(1)}")

    def do_fill(self, depth):
        """Assign a number to a part of an array, perhaps one that differs between threads."""
        part = self.one(":", "1:", ":-1", "::2", "::-1", f"int({self.integer(1)}) % 3:", f":int({self.integer(1)}) % 4")
        self.line(f"{self.one('v[', 'OUT_D[g, ')}{part}] = {self.number(1)}")

    def do_if(self, depth):
        self.line(f"if {self.condition(2)}:")
        self.block(depth - 1, 3)
        if self.chance(30):
            self.line(f"elif {self.condition()}:")
            self.block(depth - 1, 2)
        if self.chance(50):
            self.line("else:")
            self.block(depth - 1, 2)

    def do_for(self, depth):
        if self.chance(30):
            return self.do_for_items(depth)
        k = self.name("k")
        bounds = ["({a}) % 4", "1, ({a}) % 5", "({a}) % 3, 4", "t % 3, 9, 1 + ({a}) % 3", "3, ({a}) % 2, -1", "3"]
        if self.typed:
            bounds += ["int32(({a}) % 4)", "uint8(({a}) % 4)", "int32(1), int32(({a}) % 5)"]
        bounds = self.one(*bounds)
        self.line(f"for {k} in range({bounds.format(a=self.integer(1))}):")
        self.loop(depth, [k], [])

    def do_for_items(self, depth):
        """Write a loop over a tuple, perhaps numbered, or over two at once."""
        k, x = self.name("k"), self.name("x")
        a, b = self.integer(1), self.number(1)
        numbers = self.one("SCALES", "(1.5, 0.25)", f"(float64({b}), 2.0)", *(["(HALF, float32(g))"] * self.typed))
        integers = self.one("WEIGHTS", "(1, 2, 4)", f"(int64({a}), 7)", "A.shape", "WEIGHTS[1:] + (5,)")
        head, ints, floats = self.one(
            (f"{k} in {integers}", [k], []),
            (f"{x} in {numbers}", [], [x]),
            (f"{k}, {x} in enumerate({numbers})", [k], [x]),
            (f"{k}, {x} in zip({integers}, {numbers})", [k], [x]),
            (f"{k}, {x} in zip(range(({a}) % 4), {numbers})", [k], [x]),
            (f"{k}, ({k}b, {x}) in enumerate(zip({integers}, {numbers}), ({a}) % 9)", [k, f"{k}b"], [x]),
        )
        self.line(f"for {head}:")
        self.loop(depth, ints, floats)

    def do_while(self, depth):
        k = self.name("c")
        self.line(f"{k} = 0")
        self.line(f"while {k} < ({self.integer(1)}) % 4{self.one('', '', ' and ' + self.condition())}:")
        self.indent += 1
        self.line(f"{k} += 1")
        self.indent -= 1
        self.loop(depth, [k], [])

    def loop(self, depth, integers, numbers):
        self.loops += 1
        self.loop_variables += integers
        self.loop_numbers += numbers
        self.block(depth - 1, 3)
        self.loop_variables = self.loop_variables[: len(self.loop_variables) - len(integers)]
        self.loop_numbers = self.loop_numbers[: len(self.loop_numbers) - len(numbers)]
        self.loops -= 1
        if self.chance(25):
            self.line("else:")
            self.block(depth - 1, 2)

    def do_break(self, depth):
        self.line(f"if {self.condition()}:")
        self.line("    break")

    def do_continue(self, depth):
        self.line(f"if {self.condition()}:")
        self.line("    continue")

    def do_return(self, depth):
        self.line(f"if {self.condition()}:")
        self.line("    return")

    # the whole

    def kernel(self, shared):
        self.line("v = cuda.local.array(3, float64)")
        for k in range(3):
            self.line(f"v[{k}] = {k}")
        firsts = ["0", "1", "F[g % 24]", "float32(0)", "0.0", "I[g % 24]", "U[t % 24]", "float32(1.5)", "B[g % 24]"]
        for k in range(3):
            name = f"f{k}"
            self.line(f"{name} = {self.one(*firsts) if self.typed else self.one('0.0', 'D[g % 24]')}")
            self.numbers.append(name)
        starts = ["0", "t", "7"]
        if self.typed:
            starts += ["I[g % 24]", "int32(3)", "uint8(g)", "B[t % 24]", "U[g % 24]"]
        for k in range(2):
            self.line(f"i{k} = {self.one(*starts)}")
            self.integers.append(f"i{k}")
        phases = self.draw(st.integers(1, 3)) if shared and self.chance(60) else 0
        self.may_return = not phases
        for _ in range(phases):
            self.phase()
        self.may_return = True
        for _ in range(self.draw(st.integers(1, 6))):
            self.statement(2)
        for k, name in enumerate(self.numbers):
            self.line(f"OUT_D[g, {k}] = {name}")
        for k, name in enumerate(self.integers[2:]):
            self.line(f"OUT_L[g, {k}] = {name}")

    def phase(self):
        """Write statements, then an exchange in which every thread of the block takes part."""
        for _ in range(self.draw(st.integers(0, 2))):
            self.statement(1)
        kinds = ["array", "array", "atomic", *(["shuffle", "vote"] if self.typed and self.threads % 32 == 0 else [])]
        kind = self.one(*kinds)
        if kind == "array":
            self.exchange()
        elif kind == "atomic":
            self.atomics()
        elif kind == "shuffle":
            name = self.one(*self.numbers)
            how = self.one(f"sync(0xFFFFFFFF, {name}, {self.draw(st.integers(0, 31))})",
                           f"xor_sync(0xFFFFFFFF, {name}, {self.one('1', '2', '16', '5')})",
                           f"down_sync(0xFFFFFFFF, {name}, {self.one('1', '8', '31')})")  # fmt: skip
            self.line(f"{self.one(*self.numbers)} = cuda.shfl_{how}")
        else:
            vote = self.one("all_sync", "any_sync")
            self.line(f"if cuda.{vote}(0xFFFFFFFF, {self.condition()}):")
            self.block(0, 2)

    def exchange(self):
        s = self.name("s")
        dtype = self.one("float32", "float64", "int32", "int64") if self.typed else "float64"
        padded = self.one(self.threads, self.threads + 1, 2 * self.threads)
        stride = 2 if padded == 2 * self.threads else 1
        value = self.integer(1) if dtype.startswith("int") else self.number(1)
        self.line(f"{s} = cuda.shared.array({padded}, {dtype})")
        loop = self.chance(30)
        if loop:
            self.line(f"for r{s} in range({self.draw(st.integers(1, 3))}):")
            self.indent += 1
        self.line(f"{s}[{stride} * t] = {value}")
        if self.chance(30):
            self.line(f"if {self.condition()}:")
            self.line(f"    {s}[{stride} * t] += 1")
        self.line("cuda.syncthreads()")
        self.shared.append(f"{s}[{stride} * ({{index}})]")
        for _ in range(self.draw(st.integers(1, 2))):
            self.line(f"{self.one(*self.numbers)} = {s}[{stride} * ({self.index(self.threads)})]")
            self.statement(1)
        self.line("cuda.syncthreads()")
        if loop:
            self.indent -= 1
        else:
            return
        self.shared.pop()

    def atomics(self):
        s = self.name("h")
        self.line(f"{s} = cuda.shared.array(8, int64)")
        self.line("if t < 8:")
        self.line(f"    {s}[t] = 0")
        for k in range(self.threads, 8):
            self.line(f"if t == 0:\n        {s}[{k}] = 0" if self.indent == 1 else f"{s}[{k}] = 0")
        self.line("cuda.syncthreads()")
        how = self.one("add", "max", "min")
        guard = self.chance(50)
        if guard:
            self.line(f"if {self.condition()}:")
        extra = "    " * guard
        self.line(f"{extra}cuda.atomic.{how}({s}, {self.index(8)}, ({self.integer(1)}) % 100)")
        self.line("cuda.syncthreads()")
        self.line(f"{self.one(*self.numbers)} = {s}[{self.index(8)}]")
        self.line("cuda.syncthreads()")
        self.line(f"cuda.atomic.add(COUNT, {self.index(6)}, 1)")


CARELESS_HEADER = """from numba import cuda, int32


@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    g = cuda.grid(1)
    a = int32(1)
"""


@st.composite
def careless_cases(draw):
    """Draw a kernel that may race, diverge at a barrier, leave its arrays or read uninitialized memory.

    Its accesses depend on the thread alone, never on data, so that every order of execution does the same.
    """
    threads = draw(st.sampled_from([8, 32, 40, 64, 70]))
    writer = Careless(draw, threads)
    writer.kernel()
    blocks = draw(st.sampled_from([1, 1, 2, 3]))
    return Case(CARELESS_HEADER + "\n".join(writer.lines) + "\n", (blocks,), (threads,), 0, "C")


class Careless(Writer):
    """Writes kernels of loads, stores, atomics and barriers at indices that are nearly correct."""

    def __init__(self, draw, threads):
        super().__init__(draw, True, threads)
        self.divergent = self.chance(15)
        self.wild = self.chance(25)
        self.arrays = []

    def kernel(self):
        for name in ("s", "r"):
            self.line(f"{name} = cuda.shared.array({self.threads}, int32)")
        self.arrays = ["s", "r", "x", "y"][self.one(0, 1, 2) :]
        if self.chance(60):
            self.line("s[t] = t")
            self.line("r[t] = g")
            self.line("cuda.syncthreads()")
        for _ in range(self.draw(st.integers(2, 7))):
            self.step(2)
        self.line("x[g] = a")

    def place(self, array):
        own = "t" if array in "sr" else "g"
        extent = self.threads if array in "sr" else f"{array}.shape[0]"
        places = [own, own, own, f"({own} + 1) % {extent}", f"({own} ^ 1) % {extent}", "0", f"{own} // 2 * 2",
                  f"({own} + 32) % {extent}", f"{extent} - 1 - {own}"]  # fmt: skip
        if self.wild:
            places += [f"{own} + 1", f"{own} - 1", f"{own} - 40", f"2 * {own}"]
        return self.one(*places)

    def who(self):
        return self.one("t < 5", "t == 0", "t % 2 == 0", "t >= 32", "g == 3", "cuda.blockIdx.x == 0", "t > 60")

    def step(self, depth):
        kinds = ["load", "load", "store", "store", "atomic", "update", "barrier", "barrier", "syncwarp"]
        kinds += ["guard", "guard", "loop", "leave"] if depth else []
        kind = self.one(*kinds)
        array = self.one(*self.arrays)
        place = self.place(array)
        inside = self.indent > 1
        if kind == "load":
            self.line(f"a = {array}[{place}]")
        elif kind == "store":
            self.line(f"{array}[{place}] = {self.one('a', '1', 't')}")
        elif kind == "update":
            self.line(f"{array}[{place}] += 1")
        elif kind == "atomic":
            self.line(f"cuda.atomic.add({array}, {place}, 1)")
        elif kind == "barrier" and (not inside or self.divergent):
            self.line("cuda.syncthreads()")
        elif kind == "guard":
            self.line(f"if {self.who()}:")
            self.several(depth)
        elif kind == "loop":
            self.line(f"for {self.name('k')} in range({self.one('2', 't % 3', '3')}):")
            self.several(depth)
        elif kind == "leave" and self.divergent:
            self.line(f"if {self.who()}:\n{'    ' * (self.indent + 1)}return")
        else:
            self.line("cuda.syncwarp()" if not inside else f"a = {array}[{place}]")

    def several(self, depth):
        self.indent += 1
        for _ in range(self.draw(st.integers(1, 3))):
            self.step(depth - 1)
        self.indent -= 1


COUNTED_HEADER = """from numba import cuda, float32, int32, int64, uint8, uint32, uint64


@cuda.jit
def kernel(F, I, L, U, B, A, OUT, SUM):
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    g = t + (cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y) * (cuda.blockDim.x * cuda.blockDim.y)
"""


@st.composite
def counted_cases(draw):
    """Draw a kernel of which a compiler may merge, widen, narrow, hoist and forward accesses, but drop none."""
    grid, block = draw(st.sampled_from([launch for launch in LAUNCHES if len(launch[0]) < 3]))
    writer = Counted(draw, True, block[0] * (*block, 1)[1])
    writer.kernel()
    return Case(
        COUNTED_HEADER + "\n".join(writer.lines) + "\n",
        grid,
        block,
        draw(st.integers(0, 99)),
        draw(st.sampled_from("CF")),
    )


class Counted(Writer):
    """Writes kernels that add up what they load: numbers in f0 and f1, integers of two types in i0 and i1."""

    def integer(self, depth=1):
        leaf = self.one("name", "literal", "loop", "load", "load") if depth else self.one("name", "literal", "loop")
        if leaf == "load":
            return f"{self.one('I', 'L', 'U', 'B')}[{self.place(24)}]"
        if leaf == "loop" and self.loop_variables:
            return self.one(*self.loop_variables)
        return (
            self.one("t", "g", "cuda.threadIdx.x", "i0", "i1") if leaf == "name" else str(self.draw(st.integers(0, 9)))
        )

    def place(self, extent):
        """Return an index that keeps the low bits of all that it is made of."""
        own = self.one("t", "g", "t", "i0", "i1", *self.loop_variables)
        mask = (1 << extent.bit_length() - 1) - 1
        return f"({self.one('{0}', '{0} + {1}', '3 * {0} + {1}').format(own, self.draw(st.integers(0, 9)))}) & {mask}"

    def number(self, depth=1):
        matrix = f"A[{self.place(ROWS)}, {self.place(COLUMNS)}]"
        return self.one(f"F[{self.place(24)}]", matrix, f"F[{self.place(24)}] * {matrix}", "float32(g)")

    def condition(self, depth=0):
        return self.one(
            f"({self.integer()} + t) & 1 == 0", f"{self.integer()} > {self.one(3, 7)} + t % 3", "t % 5 != 2"
        )

    def statement(self, depth):
        kinds = ["sum", "sum", "total", "total", "several", "store", *["if", "for", "while"] * (depth > 0)]
        getattr(self, f"do_{self.one(*kinds, *['break', 'continue'] * (self.loops > 0))}")(depth)

    def do_sum(self, depth):
        name = self.one("i0", "i1")
        self.line(f"{name} = {self.types[name]}(3 * {name} + {self.integer()})")

    def do_total(self, depth):
        self.line(f"{self.one('f0', 'f1')} += {self.number()}")

    def do_several(self, depth):
        """Add up neighbours, which may be one wide load; some of them twice."""
        array, first = self.one("F", *self.shared), self.one(0, 4)
        for k in self.one((0, 1), (0, 1, 2, 3), (1, 2, 1), (0, 0)):
            self.line(f"f0 += {array}[4 * (t & 1) + {first + k}]")

    def do_store(self, depth):
        """Store to an element that no other statement stores to, or add to it."""
        self.stores += 1
        what = self.one("OUT", "SUM")
        self.line(f"{what}[g, {self.stores}] {self.one('=', '+=')} {self.one('f0', 'f1') if what == 'OUT' else 'i1'}")

    def do_for(self, depth):
        k = self.name("k")
        bounds = self.one("3", "4", "t % 4", "F.shape[0] // 8", "1, 9, 2", "int32(t & 3)", "I[1] & 3")
        self.line(f"for {k} in range({bounds}):")
        self.loop(depth, [k], [])

    def do_while(self, depth):
        k = self.name("c")
        self.line(f"{k} = {self.one('0', 'int32(1)', 'uint32(0)')}")
        self.line(f"while {k} < {self.one('3', 't % 5', 'A.shape[0]')}:\n{'    ' * (self.indent + 1)}{k} += 1")
        self.loop(depth, [k], [])

    def phase(self):
        """Exchange numbers through shared memory, perhaps in a loop."""
        loop = self.chance(40)
        if loop:
            self.line(f"for {self.name('r')} in range({self.one('2', 'A.shape[1] // 3')}):")
            self.indent += 1
        self.line(f"s[t] = {self.one('f0', 'f1', 'F[g & 15]')}")
        if self.chance(40):
            self.line(f"s[{self.threads - 1} - t + {self.threads}] = f1\n{'    ' * self.indent}f1 += s[t]")
        self.line("cuda.syncthreads()")
        for _ in range(self.one(1, 2)):
            self.line(f"f0 += s[(t + {self.draw(st.integers(0, 5))}) % {self.threads}]")
            self.statement(1)
        self.line("cuda.syncthreads()")
        self.indent -= loop

    def kernel(self):
        self.stores, self.types = 0, {"i0": self.one("int32", "int64", "uint32"), "i1": self.one("int32", "int64")}
        phases = self.one(0, 1, 2)
        if phases:
            self.line(f"s = cuda.shared.array({2 * self.threads + 12}, float32)")
            self.line(f"for k in range(t, {2 * self.threads + 12}, {self.threads}):\n        s[k] = float32(k)")
            self.line("cuda.syncthreads()")
            self.shared = ["s"]
        self.line("f0 = float32(0)\n    f1 = float32(g)")
        for name, kind in self.types.items():
            self.line(f"{name} = {kind}({self.one('t', 'g', '5')})")
        for _ in range(phases):
            self.phase()
        for _ in range(self.draw(st.integers(1, 5))):
            self.statement(2)
        self.line("OUT[g, 0] = f0 + f1\n    SUM[g, 0] = i0 + 5 * i1")


COMPLEX_HEADER = """from numba import complex64, complex128, cuda, float32, float64
from numba.types import float16


@cuda.jit
def kernel(C, Z, F, I, H, OUT_C, OUT_Z, OUT_D):
    t = cuda.threadIdx.x
    g = cuda.grid(1)
"""


@st.composite
def complex_cases(draw, gpu):
    """Draw a case of complex numbers, in which every type of number is combined with every other.

    `gpu`: with float16 and shared memory, which numba's code for a CPU does not have.
    """
    threads, blocks = draw(st.sampled_from([5, 32, 40])), draw(st.sampled_from([1, 2]))
    writer = ComplexWriter(draw, gpu, threads)
    writer.kernel()
    return Case(COMPLEX_HEADER + "\n".join(writer.lines) + "\n", (blocks,), (threads,), draw(st.integers(0, 99)), "C")


class ComplexWriter(Writer):
    """Writes one kernel of complex numbers."""

    def __init__(self, draw, gpu, threads):
        super().__init__(draw, True, threads)
        self.gpu, self.variables = gpu, []

    def element(self, *arrays):
        return f"{self.one(*arrays)}[{self.one('g % 24', '(g + 5) % 24', '3 * t % 24', '7')}]"

    def real(self, depth, half=True):
        """Return a real expression; ``half``: possibly of float16, of which numba has no ``complex()``."""
        if depth and self.one(True, False):
            return self.one(
                f"({self.number(depth - 1)}).real",
                f"abs({self.number(depth - 1)})",
                f"({self.number(depth - 1)}).imag",
                f"(-{self.real(depth - 1, half)})",
            )
        return self.one(self.element("F", "I", *"H" * (self.gpu and half)), "float32(1.5)", "2", "0.25")

    def number(self, depth=2):
        """Return an expression that is complex, or nearly always."""
        if not depth:
            return self.one(self.element("C", "Z", "C"), "2j", "(1-0.5j)", "complex64(3)", *self.variables)
        a, b = self.number(depth - 1), self.number(depth - 1)
        kinds = ["({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} * {r})", "({r} + {a})", "(-{a})",
                 "({a}).conjugate()", "complex({w}, 2)", "complex(float32({r}), float32(0.5))", "complex64({a})",
                 "complex128({r})", "({a} / (1.5 - 0.5j))", "({a} / (2 + 1j * {f}))", "({a} if {c} else {b})",
                 "({r} if {c} else {a})", "({a} and {b})", "({c} and {a} or {b})"]  # fmt: skip
        r, w = self.real(depth - 1), self.real(depth - 1, half=False)
        return self.one(*kinds).format(a=a, b=b, r=r, w=w, c=self.condition(), f=self.element("F"))

    def condition(self):
        a, b = self.number(0), self.number(0)
        less = f"({a}).real < {self.real(0)}"
        return self.one(f"{a} == {b}", f"{a} != {b}", less, f"abs({a}) > 2", f"not {a}", "g > 3")

    def statement(self, depth=1):
        kind = self.one("assign", "assign", "augment", "store", "update", *["if"] * depth)
        if kind == "assign":
            self.line(f"{self.one(*self.variables)} = {self.number()}")
        elif kind == "augment":
            self.line(f"{self.one(*self.variables)} {self.one('+', '-', '*')}= {self.number(1)}")
        elif kind == "store":
            self.line(f"{self.one('OUT_C', 'OUT_Z')}[g] = {self.one(self.number, self.real)(2)}")
        elif kind == "update":
            self.line(f"{self.one('OUT_C', 'OUT_Z')}[g] {self.one('+', '*', '-')}= {self.number(1)}")
        else:
            self.line(f"if {self.condition()}:")
            self.indent += 1
            self.statement(0)
            self.indent -= 1

    def kernel(self):
        for name in ("p", "q"):
            self.line(f"{name} = {self.one('0', '1j', 'C[g % 24]', 'Z[t % 24]', 'complex64(0)')}")
            self.variables.append(name)
        for _ in range(self.draw(st.integers(1, 4))):
            self.statement()
        if self.gpu:
            self.line(f"s = cuda.shared.array({self.threads}, {self.one('complex64', 'complex128')})")
            self.line(f"s[t] = {self.number(1)}")
            self.line("cuda.syncthreads()")
            self.line(f"p = s[{self.one(f'{self.threads} - 1 - t', '0', f'(t + 1) % {self.threads}')}] - q")
        self.line("OUT_C[g] = p")
        self.line("OUT_Z[g] += q")
        self.line(f"OUT_D[g] = {self.real(1)}")


#: Its functions write down, in the order of their calls, who called them.
EFFECTS_HEADER = """\
from collections import namedtuple
from numba import cuda

Point = namedtuple("Point", "x y")

@cuda.jit(device=True)
def one(c, i, k):
    c[i, 0] += 1
    c[i, k] = 10 * c[i, k] + c[i, 0]
    return k

@cuda.jit(device=True)
def pair(c, i, k):
    return one(c, i, k), k + 1

@cuda.jit(device=True)
def none(c, i, k):
    c[i, k] = 10 * c[i, k] + one(c, i, k)

@cuda.jit(device=True)
def flag(c, i, k):
    return (one(c, i, k) + i) % 2 == 0

@cuda.jit(device=True)
def same(c, i, k):
    one(c, i, k)
    return c

@cuda.jit
def kernel(c, out):
    i = cuda.grid(1)
"""
CALLERS = 6

CALLER = st.integers(1, CALLERS)
NUMBERS, TUPLES, CONDITIONS = (st.deferred(lambda name=name: globals()[name]) for name in ("NUMBER", "TUPLE", "TRUTH"))


def written(form, *parts):
    return st.builds(lambda *given: form.format(*given), *parts)


ARRAY = written("same(c, i, {})", CALLER)
NUMBER = st.one_of(
    written("one(c, i, {})", CALLER),
    st.integers(0, 3).map(str),
    st.just("i"),
    written("cuda.atomic.add(c, (i, {}), 1)", CALLER),
    written("({})[{}]", TUPLES, st.integers(0, 1)),
    written("({})[:2][-1]", TUPLES),
    written("len({})", TUPLES),
    written("len({})", ARRAY),
    written("{}.ndim", ARRAY),
    written("{}.shape[{}]", ARRAY, st.integers(0, 1)),
    written("{}[i, {}]", ARRAY, CALLER),
    written("Point(y={}, x={}).x", NUMBERS, NUMBERS),
    written("Point({}, {}).y", NUMBERS, NUMBERS),
    written("divmod({}, 3)[{}]", NUMBERS, st.integers(0, 1)),
    written("({} if {} else {})", NUMBERS, CONDITIONS, NUMBERS),
    written("({} + {})", NUMBERS, NUMBERS),
    written("({} {} {})", NUMBERS, st.sampled_from(["and", "or"]), NUMBERS),
    written("max({}, {})", NUMBERS, NUMBERS),
    written("one({}, i, 1 + {} % 5)", ARRAY, NUMBERS),
)
TUPLE = st.one_of(
    written("pair(c, i, {})", CALLER),
    written("({}, {})", NUMBERS, NUMBERS),
    written("({}, {}, {})", NUMBERS, NUMBERS, NUMBERS),
    written("({} + {})", TUPLES, TUPLES),
    written("({} + {})[1:]", TUPLES, TUPLES),
    written("{}.shape", ARRAY),
    written("Point(y={}, x={})", NUMBERS, NUMBERS),
)
TRUTH = st.one_of(
    written("flag(c, i, {})", CALLER),
    written("{} < {}", NUMBERS, NUMBERS),
    written("{} < {} < {}", NUMBERS, NUMBERS, NUMBERS),
    written("{} {} {}", TUPLES, st.sampled_from(["==", "!="]), TUPLES),
    written("{} {} None", st.one_of(NUMBERS, TUPLES), st.sampled_from(["is", "is not"])),
    written("none(c, i, {}) {} None", CALLER, st.sampled_from(["is", "is not"])),
    written("{} in {}", NUMBERS, TUPLES),
    written("(not {})", CONDITIONS),
    written("(not {})", TUPLES),
    written("({} {} {})", CONDITIONS, st.sampled_from(["and", "or"]), CONDITIONS),
)
STATEMENT = st.one_of(
    written("out[i, 0] = {}", NUMBERS),
    written("out[i, {} % 4] += {}", NUMBERS, NUMBERS),
    written("if {}: out[i, 1] += {}", CONDITIONS, NUMBERS),
    written("if {}: one(c, i, {})", TUPLES, CALLER),
    written("for j in range({} % 3): out[i, 2] += {}", NUMBERS, NUMBERS),
    written("for v in {}: out[i, 2] += v", TUPLES),
    written("v, w = ({})[:2]; out[i, 3] = v - w", TUPLES),
    written("v = w = {}; out[i, 3] += v + w", NUMBERS),
    written("v = {}", TUPLES),
    written("len({})", TUPLES),
    written("assert not {} or True", TUPLES),
)


@st.composite
def effect_cases(draw):
    """Draw one to three statements whose expressions have effects, even where the compiler knows their values."""
    statements = draw(st.lists(STATEMENT, min_size=1, max_size=3))
    return Case(EFFECTS_HEADER + "".join(f"    {one}\n" for one in statements), (1,), (4,), 0, "C")
