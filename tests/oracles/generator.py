"""Random kernels, as source text, that end, stay inside their arrays and have no race.

A dialect is a table of rules: what may stand for each name, as forms whose parts in braces are drawn one after another.
The dialects:

    typed      every mixture of types, wrap-around, division by zero: numba's simulator types differently
    plain      int64 and float64 in small ranges, where Python's arithmetic and numba's agree
    unsafe     one type, and accesses that may break every rule
    counted    every loaded value is used and nothing is stored twice, so that a compiler drops no access
    complex    complex numbers of both sizes beside real ones
    effects    calls that write down who called them, in every place where an expression may stand
    choices    variables that hold another array in each thread, or None

A kernel's parameters are, where it is typed or plain, F, D, I, L, U, B (1-D, of several types), A (2-D), OUT_D, OUT_L
and COUNT (results, the last one for atomics). Of the integer variables i0 stays signed and i1 unsigned: numba joins
int64 and uint64, to which a loop may compute with both, to float64, which is no index. The numbers f0, f1 and f2 take
whatever type numba's rules give them.
"""

import re
from dataclasses import dataclass
from itertools import permutations, product

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
        if self.source.startswith(UNSAFE_HEADER):
            return [np.zeros(threads, np.int32), np.zeros(threads, np.int32)]
        if self.source.startswith(COUNTED_HEADER):
            ints = [rng.integers(0, 100, LENGTH).astype(d) for d in "i4 i8 u4 u1".split()]
            A = np.array(rng.integers(-9, 9, (ROWS, COLUMNS)) / 2, np.float32, order=self.order)
            return [some("f4"), *ints, A, np.zeros((threads, 300), np.float32), np.zeros((threads, 300), np.int64)]
        if self.source.startswith(CHOICES_HEADER):
            A, B, M = (rng.integers(-9, 9, shape) / 2 for shape in (LENGTH, 17, (5, 7)))
            return [A, B, M, np.zeros((threads, 4)), np.zeros(threads)]
        if self.source.startswith(EFFECTS_HEADER):
            return [np.zeros((threads, MOST_CALLERS + 2), np.int64), np.zeros((threads, 4), np.int64)]
        lowest = {"i": -20, "u": 0}
        return [
            some("f4"), some("f8"), *(rng.integers(lowest[d[0]], 100, LENGTH).astype(d) for d in "i4 i8 u4 u1".split()),
            np.array(rng.integers(-9, 9, (ROWS, COLUMNS)) / 2, np.float32, order=self.order),
            np.zeros((threads, SLOTS)), np.zeros((threads, SLOTS), np.int64), np.zeros(6, np.int64),
        ]  # fmt: skip

    def __repr__(self):
        body = self.source[self.source.index("def kernel") :]
        return f"kernel[{self.grid}, {self.block}], seed {self.seed}, order {self.order}:\n{body}"


class FormWriter:
    """Writes what a rule of a dialect stands for, drawing every choice.

    A part in braces is another rule's name, perhaps with a depth; a number of a range, `{0..9}`; or one of several
    words, `{a|b}`. A name that begins with @ is new in each form. A line `+rule: form` adds a form to a rule for what
    follows in this form, up to a line `-`; `{name: part}` draws the part once, and gives it that name there.
    A rule with a "leaf" beside it takes that at depth 0, and its own forms are one deeper.
    """

    def __init__(self, draw, rules):
        self.draw, self.rules, self.names = draw, rules, 0

    def rule(self, name, depth):
        """Write one of the rule's forms."""
        deeper = f"{name} leaf" in self.rules
        forms = self.rules[f"{name} leaf" if deeper and depth <= 0 else name]
        return self.form(self.draw(st.sampled_from(forms)), depth - deeper)

    def form(self, text, depth):
        known, lines = self.rules, []
        self.names += "@" in text
        for line in re.sub(r"@(\w*)", rf"\g<1>{self.names}", text).split("\n"):
            start = line.strip()
            if start.startswith("+"):
                name, form = start[1:].split(": ", 1)
                self.rules = {**self.rules, name: [*self.rules[name], form]}
            elif start == "-":
                self.rules = known
            elif (done := re.sub(r"\{([^{}]*)\}", lambda part: self.part(part[1], depth), line)).strip():
                lines.append(done.replace("\n", "\n" + line[: len(line) - len(line.lstrip())]))
        self.rules = known
        return "\n".join(lines)

    def part(self, text, depth):
        if named := re.fullmatch(r"(\w+): (.+)", text):
            chosen = self.part(named[2], depth)
            self.rules = {**self.rules, named[1]: [chosen]}
            return chosen
        if bounds := re.fullmatch(r"(\d+)\.\.(\d+)", text):
            return str(self.draw(st.integers(*map(int, bounds.groups()))))
        if "|" in text:
            return self.draw(st.sampled_from(text.split("|")))
        name, given = re.fullmatch(r"(.*?)(?: (\d+))?", text).groups()
        return self.rule(name, int(given or depth))


def write_case(draw, header, rules, grid, block):
    """Return a Case of the rule "kernel"."""
    body = FormWriter(draw, rules).rule("kernel", 2).replace("\n", "\n    ")
    return Case(f"{header}    {body}\n", grid, block, draw(st.integers(0, 99)), draw(st.sampled_from("CF")))


def repeated_forms(part, least, most, end=""):
    """Return the forms that repeat a part on lines of their own."""
    return ["\n".join([part] * n) + end for n in range(least, most + 1)]


def loop_form(head):
    """Return the form of a loop; what its head names @k is an integer in the body, and @x a number."""
    names = dict.fromkeys(re.findall(r"@[kx]\w*", head))
    known = "".join(f"+{'name' if name[1] == 'k' else 'value'}: {name}\n" for name in names)
    return f"{head}\n{known}+jump: {{leave}}\n    {{block}}\n-\n{{loop's else}}"


def exchange_form(types, value, touch, repeated, stride):
    """Return the form in which the threads of a block exchange values of these types through shared memory."""
    element = f"@s[{stride} * (({{integer 1}}) % {{threads}})]"
    body = f"""@s[{stride} * t] = {{{value} 1}}{touch.format(stride)}
cuda.syncthreads()
+shared: {element}
{{result}} = {element}
{{statement 1}}
{{read}}
cuda.syncthreads()"""
    if repeated:
        body = "for @r in range({1..3}):\n" + "\n".join("    " + line for line in body.split("\n"))
    return f"@s = cuda.shared.array({{size{stride}}}, {types})\n{body}\n{{phases}}"


def exchange_forms(*types):
    touches = ["", "", "\nif {{condition 1}}: @s[{} * t] += 1"]
    return [exchange_form(*each, *how) for each in types for how in product(touches, [False, False, True], [1, 1, 2])]


LOOP_HEADS = ["@k in {integers}", "@x in {scales}", "@k, @x in enumerate({scales})",
            "@k, @x in zip({integers}, {scales})", "@k, @x in zip(range(({integer 1}) % 4), {scales})",
            "@k, (@kb, @x) in enumerate(zip({integers}, {scales}), ({integer 1}) % 9)"]  # fmt: skip
ATOMICS = """@h = cuda.shared.array(8, int64)
for @r in range(t, 8, {threads}): @h[@r] = 0
cuda.syncthreads()
{guard}cuda.atomic.{add|max|min}(@h, ({integer 1}) % 8, ({integer 1}) % 100)
cuda.syncthreads()
{result} = @h[({integer 1}) % 8]
cuda.syncthreads()
cuda.atomic.add(COUNT, ({integer 1}) % 6, 1)
{phases}"""
PLAIN = {
    "name": ["t", "g", "i0", "i1"],
    "value": ["f0", "f1", "f2"],
    "result": ["f0", "f1", "f2"],
    "compare": ["<", "<=", "==", "!=", ">", ">="],
    "load": ["L[({name} + {0..9}) % 24]"],
    "special": ["cuda.threadIdx.x", "cuda.blockIdx.x", "cuda.blockDim.y", "cuda.gridDim.x", "THREE", "F.shape[0]",
                "A.shape[1]", "len(L)", "cuda.grid(1)", "WEIGHTS[({name}) % 3]"],
    "integer leaf": [*["{name}"] * 3, "{0..9}", "{load}", "{special}"],
    "integer": [*["{integer leaf}"] * 4, *[f"({{integer}} {symbol} {{integer}})" for symbol in ("+", "-", "and", "or")],
                "(({integer}) % 50 * (({integer}) % 50))", "(({integer}) {//|%} {1..9})", "(({integer}) {//|%} {1..9})",
                "({integer} if {condition} else {integer})", "abs({integer})"],
    "shared": ["D[({integer 1}) % 24]"],
    "matrix": ["A[({integer 1}) % 5, ({integer 1}) % 7]"],
    "number leaf": ["{value}", "{value}", *["D[({integer 1}) % 24]"] * 2, "{shared}", "{0.5|2.0|1.25}",
                    "float64(({integer 1}) % 100)", "float64({matrix})"],
    "number": [*["{number leaf}"] * 3, *[f"({{number}} {symbol} {{number}})" for symbol in ("+", "-", "and", "or")],
               "({number} * {0.5|0.25|-0.75})", "({number} if {condition} else {number})", "(-{number})",
               "({condition} and {number} or {number})"],
    "condition leaf": [*["{integer 1} {compare} {integer 1}"] * 5, *["{number 1} {compare} {number 1}"] * 2,
                       *["{integer 1} {compare} {integer 1} < {integer 1}"] * 2,
                       "{integer 1} {compare} {integer 1} < {1..20}", "({integer 1} and {integer 1})",
                       "({integer 1} and {number 1})", "not ({integer 1} or {integer 1})",
                       "not ({number 1} or {integer 1})", "{integer 1} in (0, 2, 5)", "{integer 1} not in WEIGHTS"],
    "condition": [*["{condition leaf}"] * 7, "({condition} and {condition})", "({condition} or {condition})",
                  "not ({condition})"],
    "assign": ["{result} = {number 2}"] * 6,
    "augment": ["{result} {+|-}= {number 1}"],
    "set": ["{i0|i1} = ({integer 2}) % 1000"],
    "range": [":", "1:", ":-1", "::2", "::-1", "int({integer 1}) % 3:", ":int({integer 1}) % 4"],
    "jump": ["{assign}"],
    "leave": ["if {condition 1}: {break|continue}"],
    "statement leaf": [
        "{assign}", "{jump}", "{jump}", "{augment}", "{set}", "{v[|OUT_D[g, }{range}] = {number 1}",
        "v[{0..2}] {=|+=|=} {number 1}\n{result} = v[({integer 1}) % 3]", "OUT_D[g, {0..3}] {=|=|+=} {number 1}",
    ],
    "statement": [
        *["{statement leaf}"] * 8, *["if {condition 2}:\n    {block}\n{elif}\n{else}"] * 2, "{for}", "{swap}",
        loop_form("@k = 0\nwhile @k < ({integer 1}) % 4{also}:\n    @k += 1"),
    ],
    "swap": [f"{a}, {b} = {b}, {{number 1}}" for a, b in permutations(["f0", "f1", "f2"], 2)],
    "also": ["", "", " and {condition 1}"],
    "block": repeated_forms("{statement}", 1, 3),
    "elif": ["", "", "elif {condition 1}:\n    {block}"],
    "else": ["", "else:\n    {block}"],
    "loop's else": ["", "", "", "else:\n    {block}"],
    "bounds": ["({integer 1}) % 4", "1, ({integer 1}) % 5", "({integer 1}) % 3, 4", "3, ({integer 1}) % 2, -1", "3",
               "t % 3, 9, 1 + ({integer 1}) % 3"],
    "integers": ["WEIGHTS", "(1, 2, 4)", "(int64({integer 1}), 7)", "A.shape", "WEIGHTS[1:] + (5,)"],
    "scales": ["SCALES", "(1.5, 0.25)", "(float64({number 1}), 2.0)"],
    "for": [*[loop_form("for @k in range({bounds}):")] * 14, *[loop_form(f"for {head}:") for head in LOOP_HEADS]],
    "first": ["0.0", "D[g % 24]"],
    "start": ["0", "t", "7"],
    "kernel": ["v = cuda.local.array(3, float64)\nv[0] = 0\nv[1] = 1\nv[2] = 2\nf0 = {first}\nf1 = {first}\n"
               "f2 = {first}\ni0 = {start}\ni1 = {start}\n{phases}"],
    "guard": ["", "if {condition 1}: "],
    "read": ["", "{result} = {shared}\n{statement 1}"],
    "phase": [*exchange_forms(("float64", "number")), *[ATOMICS] * 14],
    "phases": ["{end}", "{end}", *repeated_forms("{statement 1}", 0, 2, "\n{phase}")],
    "end": repeated_forms("{statement 2}", 1, 6, "\n{out}"),
    "out": ["OUT_D[g, 0] = f0\nOUT_D[g, 1] = f1\nOUT_D[g, 2] = f2\nOUT_L[g, 0] = i0\nOUT_L[g, 1] = i1"],
}  # fmt: skip
PLAIN["end"] = ["+assign: if {condition 1}: return\n" + form for form in PLAIN["end"]]
SIGNED, UNSIGNED, MASK = "int8|int16|int32|int64", "uint8|uint16|uint32", "0xFFFFFFFF"
TYPED = {
    **PLAIN,
    "load": ["{I|L|U|B}[({name} + {0..9}) % 24]"],
    "special": [*PLAIN["special"], "cuda.laneid"],
    "integer": [*["{integer leaf}"] * 10,
                *[f"({{integer}} {symbol} {{integer}})" for symbol in ("+", "+", "-", "*", "&", "|", "^", "//", "%")],
                "(({integer}) {//|%} {1..9})", "(({integer}) {//|%} {1..9})", "(({integer}) {<<|>>} (({integer}) & 7))",
                "(({integer}) {<<|>>} (({integer}) & 7))", "abs({integer})", "(~({integer}))", "(-({integer}))",
                "(({integer}) ** {0..3})", f"{{{SIGNED}|{UNSIGNED}}}({{integer}})",
                # an int64 and a uint64 would be combined as float64
                "(int64({integer}) and int64({integer}))", "(int64({integer}) or int64({integer}))"],
    "shared": ["{F|D}[({integer 1}) % 24]"],
    "number leaf": ["{value}", "{value}", "pick({F|I|D}, {integer 1})", *["{F|D}[({integer 1}) % 24]"] * 2, "{shared}",
                    "{0.5|2.0|1.25|HALF|float32(3)|1|7}", "({integer 1})", "{matrix}"],
    "number": [*["{number leaf}"] * 7,
               *[f"({{number}} {symbol} {{number}})" for symbol in ("+", "-", "*", "and", "or", "/", "//", "%")],
               "({number} if {condition} else {number})", "(-{number})", "({condition} and {number} or {number})",
               "{min|max}({number}, {number})", "math.{sqrt|floor|ceil|fabs}({number})", "{float32|float64}({number})",
               "helper({number}, {number})", "(({number}) ** 2)"],
    "augment": ["{result} {+|-|*|/|//|%}= {number 1}"],
    "set": [f"i0 = {{{SIGNED}}}({{integer 2}})", f"i1 = {{{UNSIGNED}}}({{integer 2}})",
            "i0 {+|-|*|^}= {integer 1} + 1", f"i1 = {{{UNSIGNED}}}(i1 {{+|-|*|^}} ({{integer 1}}))"],
    "bounds": [*PLAIN["bounds"], "{int32|uint8}(({integer 1}) % 4)", "int32(1), int32(({integer 1}) % 5)"],
    "scales": [*PLAIN["scales"], "(HALF, float32(g))"],
    "first": ["0", "1", "F[g % 24]", "float32(0)", "0.0", "I[g % 24]", "U[t % 24]", "float32(1.5)", "B[g % 24]"],
    "start": [*PLAIN["start"], "I[g % 24]", "int32(3)"],
    "unsigned": ["uint8(g)", "B[t % 24]", "U[g % 24]", "uint16(7)"],
    "kernel": [form.replace("i1 = {start}", "i1 = {unsigned}") for form in PLAIN["kernel"]],
    "phase": [*exchange_forms(("{float32|float64}", "number"), ("{int32|int64}", "integer")), *[ATOMICS] * 27],
}  # fmt: skip
WARPS = [f"{{result}} = cuda.shfl_{how})\n{{phases}}" for how in (
    f"sync({MASK}, {{result}}, {{0..31}}", f"xor_sync({MASK}, {{result}}, {{1|2|16|5}}",
    f"down_sync({MASK}, {{result}}, {{1|8|31}}")]  # fmt: skip
WARPS += [f"if cuda.{{all_sync|any_sync}}({MASK}, {{condition 1}}):\n    {{block 0}}\n{{phases}}"] * 3


@st.composite
def cases(draw, typed, shared=True):
    """Draw a Case of the typed or the plain dialect."""
    grid, block = draw(st.sampled_from(LAUNCHES))
    threads = int(np.prod(block))
    sizes = {f"size{stride}": [str(stride * threads), str(stride * threads + stride % 2)] for stride in (1, 2)}
    rules = {**(TYPED if typed else PLAIN), **sizes, "threads": [str(threads)]}
    if not shared:
        rules["phases"] = ["{end}"]
    elif typed and threads % 32 == 0:
        rules["phase"] = rules["phase"] + 9 * WARPS
    return write_case(draw, HEADER, rules, grid, block)


UNSAFE_HEADER = """from numba import cuda, int32


@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    g = cuda.grid(1)
    a = int32(1)
"""
INDICES = ["{own}", "{own}", "{own}", "({own} + 1) % {extent}", "({own} ^ 1) % {extent}", "0", "{own} // 2 * 2",
          "({own} + 32) % {extent}", "{extent} - 1 - {own}"]  # fmt: skip
ACCESSES = {"load": "a = {}[{}]", "store": "{}[{}] = {{a|1|t}}", "update": "{}[{}] += 1",
            "atomic": "cuda.atomic.add({}, {}, 1)"}  # fmt: skip
OUT_OF_BOUNDS = ["{own} + 1", "{own} - 1", "{own} - 40", "2 * {own}"]
UNSAFE = {
    "who": ["t < 5", "t == 0", "t % 2 == 0", "t >= 32", "g == 3", "cuda.blockIdx.x == 0", "t > 60"],
    "step leaf": [*["{load}", "{store}"] * 2, "{atomic}", "{update}", *["cuda.syncthreads()"] * 2, "cuda.syncwarp()"],
    "step": [*["{step leaf}"] * 9, *["if {who}:\n    {block}"] * 2, "for @k in range({2|t % 3|3}):\n    {block}",
             "{leave}"],
    "inner leaf": [*["{load}", "{store}"] * 2, "{atomic}", "{update}", "{meet}", "{meet}", "{load}"],
    "inner": [*["{inner leaf}"] * 9, *["if {who}:\n    {block}"] * 2, "for @k in range({2|t % 3|3}):\n    {block}",
              "{leave}"],
    "block": repeated_forms("{inner}", 1, 3),
    "init": ["", "s[t] = t\nr[t] = g\ncuda.syncthreads()"],
    "kernel": repeated_forms("{step}", 2, 7, "\nx[g] = a"),
}  # fmt: skip


@st.composite
def unsafe_cases(draw):
    """Draw a kernel that may race, diverge at a barrier, leave its arrays or read uninitialized memory.

    Its accesses depend on the thread alone, never on data, so that every order of execution does the same.
    """
    threads, blocks = draw(st.sampled_from([8, 32, 40, 64, 70])), draw(st.sampled_from([1, 1, 2, 3]))
    divergent, out_of_bounds = (draw(st.integers(0, 99)) < percent for percent in (15, 25))
    start = "".join(f"{name} = cuda.shared.array({threads}, int32)\n" for name in "sr") + "{init}\n"
    rules = {
        **UNSAFE,
        "meet": ["cuda.syncthreads()" if divergent else "{load}"],
        "leave": ["if {who}: return" if divergent else "{load}"],
        "kernel": [start + form for form in UNSAFE["kernel"]],
    }
    at = [
        (array, place.format(own=own, extent=extent))
        for array, own, extent in (
            ("s", "t", threads), ("r", "t", threads), ("x", "g", "x.shape[0]"), ("y", "g", "y.shape[0]")
        )[draw(st.integers(0, 2)) :]
        for place in INDICES + OUT_OF_BOUNDS * out_of_bounds
    ]  # fmt: skip
    for kind, form in ACCESSES.items():
        rules[kind] = [form.format(*each) for each in at]
    return write_case(draw, UNSAFE_HEADER, rules, (blocks,), (threads,))


COUNTED_HEADER = """from numba import cuda, float32, int32, int64, uint8, uint32, uint64


@cuda.jit
def kernel(F, I, L, U, B, A, OUT, SUM):
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    g = t + (cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y) * (cuda.blockDim.x * cuda.blockDim.y)
"""
EXCHANGED = """s[t] = {f0|f1|F[g & 15]}
{mirror}
cuda.syncthreads()
f0 += s[(t + {0..5}) % {threads}]
{statement 1}
{again}
cuda.syncthreads()"""
SUMS = """f0 = float32(0)
f1 = float32(g)
i0 = {type0: int32|int64|uint32}({t|g|5})
i1 = {type1: int32|int64}({t|g|5})
{phases}
{sums}
OUT[g, 0] = f0 + f1
SUM[g, 0] = i0 + 5 * i1"""
COUNTED = {
    "name": ["t", "g", "t", "i0", "i1"],
    "integer leaf": ["{name}", "{name}", "cuda.threadIdx.x", "{0..9}"],
    "integer": [*["{integer leaf}"] * 3, *["{I|L|U|B}[({place}) & 15]"] * 2],
    # an index keeps the low bits of all that it is made of
    "place": ["{name}", "{name} + {0..9}", "3 * {name} + {0..9}"],
    "matrix": ["A[({place}) & 3, ({place}) & 3]"],
    "number": ["F[({place}) & 15]", "{matrix}", "F[({place}) & 15] * {matrix}", "float32(g)"],
    "condition": ["({integer 1} + t) & 1 == 0", "{integer 1} > {3|7} + t % 3", "t % 5 != 2"],
    "sum": ["i0 = {type0}(3 * i0 + {integer 1})", "i1 = {type1}(3 * i1 + {integer 1})"],
    "array": ["F"],
    # neighbours, which may be one wide load; some of them twice
    "neighbours": ["\n".join(f"f0 += {{a{': array' * (n == 0)}}}[4 * (t & 1) + {first + k}]" for n, k in enumerate(ks))
                   for first in (0, 4) for ks in ((0, 1), (0, 1, 2, 3), (1, 2, 1), (0, 0))],
    "jump": ["{sum}"],
    "leave": ["if {condition 1}: {break|continue}\n{sum}"],  # without a sum after it, nothing may need the condition
    # an element that no other statement stores to
    "store": ["OUT[g, @] {=|+=} {f0|f1}", "SUM[g, @] {=|+=} i1"],
    "statement leaf": ["{jump}", "{jump}", *["{f0|f1} += {number}"] * 2, "{neighbours}", "{store}"],
    "statement": [
        *["{statement leaf}"] * 6, "if {condition}:\n    {block}\n{else}",
        loop_form("for @k in range({3|4|t % 4|F.shape[0] // 8|1, 9, 2|int32(t & 3)|I[1] & 3}):"),
        loop_form("@k = {0|int32(1)|uint32(0)}\nwhile @k < {3|t % 5|A.shape[0]}:\n    @k += 1"),
    ],
    **{name: PLAIN[name] for name in ("block", "else", "loop's else")},
    "mirror": ["", "s[{threads} - 1 - t + {threads}] = f1\nf1 += s[t]"],
    "again": ["", "f0 += s[(t + {0..5}) % {threads}]\n{statement 1}"],
    "phase": [EXCHANGED, EXCHANGED, "for @r in range({2|A.shape[1] // 3}):\n    " + EXCHANGED.replace("\n", "\n    ")],
    "phases": repeated_forms("{phase}", 1, 2),
    "sums": repeated_forms("{statement 2}", 1, 5),
    "shared": ["s = cuda.shared.array({size}, float32)\nfor k in range(t, {size}, {threads}): s[k] = float32(k)\n"
               "cuda.syncthreads()"],
    "kernel": [SUMS.replace("{phases}\n", ""), *["{shared}\n+array: s\n" + SUMS] * 2],
}  # fmt: skip


@st.composite
def counted_cases(draw):
    """Draw a kernel of which a compiler may merge, widen, narrow, hoist and forward accesses, but drop none."""
    grid, block = draw(st.sampled_from([launch for launch in LAUNCHES if len(launch[0]) < 3]))
    threads = int(np.prod(block))
    rules = {**COUNTED, "threads": [str(threads)], "size": [str(2 * threads + 12)]}
    return write_case(draw, COUNTED_HEADER, rules, grid, block)


COMPLEX_HEADER = """from numba import complex64, complex128, cuda, float32, float64
from numba.types import float16


@cuda.jit
def kernel(C, Z, F, I, H, OUT_C, OUT_Z, OUT_D):
    t = cuda.threadIdx.x
    g = cuda.grid(1)
"""
COMPLEX = {
    "at": ["g % 24", "(g + 5) % 24", "3 * t % 24", "7"],
    "real leaf": ["F[{at}]", "I[{at}]", "float32(1.5)", "2", "0.25"],
    "real": [*["{real leaf}"] * 4, "({number}).real", "abs({number})", "({number}).imag", "(-{real})"],
    # not of float16, of which numba has no complex()
    "wide leaf": ["F[{at}]", "I[{at}]", "float32(1.5)", "2", "0.25"],
    "wide": [*["{wide leaf}"] * 4, "({number}).real", "abs({number})", "({number}).imag", "(-{wide})"],
    "number leaf": ["{C|Z|C}[{at}]", "2j", "(1-0.5j)", "complex64(3)", "p", "q"],
    "number": ["({number} + {number})", "({number} - {number})", "({number} * {number})", "({number} * {real})",
               "({real} + {number})", "(-{number})", "({number}).conjugate()", "complex({wide}, 2)",
               "complex(float32({real}), float32(0.5))", "complex64({number})", "complex128({real})",
               "({number} / (1.5 - 0.5j))", "({number} / (2 + 1j * F[{at}]))", "({number} and {number})",
               "({number} if {condition} else {number})", "({real} if {condition} else {number})",
               "({condition} and {number} or {number})"],
    "condition": ["{number 0} == {number 0}", "{number 0} != {number 0}", "({number 0}).real < {real 0}",
                  "abs({number 0}) > 2", "not {number 0}", "g > 3"],
    "statement leaf": ["{p|q} = {number 2}", "{p|q} = {number 2}", "{p|q} {+|-|*}= {number 1}",
                       "{OUT_C|OUT_Z}[g] = {either}", "{OUT_C|OUT_Z}[g] {+|*|-}= {number 1}"],
    "either": ["{number 2}", "{real 2}"],
    "statement": [*["{statement leaf}"] * 5, "if {condition}:\n    {statement}"],
    "statements": repeated_forms("{statement 1}", 1, 4),
    "start": ["0", "1j", "C[g % 24]", "Z[t % 24]", "complex64(0)"],
    "exchange": [""],
    "kernel": ["p = {start}\nq = {start}\n{statements}\n{exchange}\nOUT_C[g] = p\nOUT_Z[g] += q\nOUT_D[g] = {real 1}"],
}  # fmt: skip
EXCHANGE = """s = cuda.shared.array({threads}, {complex64|complex128})
s[t] = {number 1}
cuda.syncthreads()
p = s[{other}] - q"""


@st.composite
def complex_cases(draw, gpu):
    """Draw a case of complex numbers, in which every type of number is combined with every other.

    `gpu`: with float16 and shared memory, which numba's code for a CPU does not have.
    """
    threads, blocks = draw(st.sampled_from([5, 32, 40])), draw(st.sampled_from([1, 2]))
    rules = COMPLEX
    if gpu:
        others = [f"{threads} - 1 - t", "0", f"(t + 1) % {threads}"]
        real = [*COMPLEX["real leaf"], "H[{at}]"]
        rules = {**COMPLEX, "threads": [str(threads)], "other": others, "real leaf": real, "exchange": [EXCHANGE]}
    return write_case(draw, COMPLEX_HEADER, rules, (blocks,), (threads,))


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
MOST_CALLERS = 6
EFFECTS = {
    "array": ["same(c, i, {1..6})"],
    "number leaf": ["one(c, i, {1..6})", "one(c, i, {1..6})", "{0..3}", "i", "cuda.atomic.add(c, (i, {1..6}), 1)"],
    "number": [
        *["{number leaf}"] * 4, "({tuple})[{0|1}]", "({tuple})[:2][-1]", "len({tuple})", "len({array})", "{array}.ndim",
        "{array}.shape[{0|1}]", "{array}[i, {1..6}]", "Point(y={number}, x={number}).x", "Point({number}, {number}).y",
        "divmod({number}, 3)[{0|1}]", "({number} if {truth} else {number})", "({number} + {number})",
        "({number} {and|or} {number})", "max({number}, {number})", "one({array}, i, 1 + {number} % 5)",
    ],
    "tuple leaf": ["pair(c, i, {1..6})", "{array}.shape"],
    "tuple": ["{tuple leaf}", "{tuple leaf}", "({number}, {number})", "({number}, {number}, {number})",
              "({tuple} + {tuple})", "({tuple} + {tuple})[1:]", "Point(y={number}, x={number})"],
    "truth leaf": ["flag(c, i, {1..6})", "none(c, i, {1..6}) {is|is not} None"],
    "truth": ["{truth leaf}", "{truth leaf}", "{number} < {number}", "{number} < {number} < {number}",
              "{tuple} {==|!=} {tuple}", "{number} {is|is not} None", "{tuple} {is|is not} None", "{number} in {tuple}",
              "(not {truth})", "(not {tuple})", "({truth} {and|or} {truth})"],
    "statement": [
        "out[i, 0] = {number}", "out[i, {number} % 4] += {number}", "if {truth}: out[i, 1] += {number}",
        "if {tuple}: one(c, i, {1..6})", "for j in range({number} % 3): out[i, 2] += {number}",
        "for v in {tuple}: out[i, 2] += v", "v, w = ({tuple})[:2]; out[i, 3] = v - w",
        "v = w = {number}; out[i, 3] += v + w", "v = {tuple}", "len({tuple})", "assert not {tuple} or True",
    ],
    "kernel": repeated_forms("{statement}", 1, 3),
}  # fmt: skip


@st.composite
def effect_cases(draw):
    """Draw one to three statements whose expressions have effects, even where the compiler knows their values."""
    return write_case(draw, EFFECTS_HEADER, EFFECTS, (1,), (4,))


CHOICES_HEADER = """\
from numba import cuda, float64


@cuda.jit(device=True)
def pick(X, k):
    return X[k % len(X)]


@cuda.jit
def kernel(A, B, M, W, OUT):
    t = cuda.threadIdx.x
    g = cuda.grid(1)
    v = cuda.local.array(3, float64)
    u = cuda.local.array(5, float64)
    for i in range(3): v[i] = i
    for i in range(5): u[i] = -i
    x = 0.0
    p = A
    q = B
    w = v
    n = 1.5 if g % 3 else None
    r = B if g % 2 else None
"""
#: What a thread stores to is its own, but in `UNORDERED_CHOICES`; `{own}` are arrays of the thread, or parts of them.
CHOICES = {
    "integer": ["t", "g", "t % 3", "g // 2", "{0..9}", "(t + {0..9})", "({integer leaf} * {integer leaf})"],
    "integer leaf": ["t", "g", "{1..5}"],
    "condition": ["({integer}) % {2|3} == {0|1}", "t < {1..40}", "g % 5 > {integer leaf}", "x > {0..3}",
                  "p.shape[0] > 6"],
    "array": ["A", "B", "A[{1..4}:]", "B[::2]", "A[: 3 + ({integer}) % 4]", "M[({integer}) % 5]", "M[{0..4}, 1:]",
              "{p|q}", "({array} if {condition} else {array})", "{p|q}[1:] if len({p|q}) > 4 else {array leaf}"],
    "array leaf": ["A", "B", "M[({integer}) % 5]", "p", "q"],
    "own": ["v", "u", "W[g]", "s[4 * t : 4 * t + 4]", "u[1:]", "({own} if {condition} else {own})"],
    "own leaf": ["v", "u", "W[g]", "s[4 * t : 4 * t + 4]"],
    "element": ["p[({integer}) % len(p)]", "q[({integer}) % q.shape[0]]", "w[({integer}) % w.size]",
                "pick({p|q|w}, {integer})", "M[({integer}) % 5, {0..6}]", "u[{0..4}]"],
    "statement leaf": [*["x += {element}"] * 3, "x = {element} * {2|0.5} - {element}", "w[{0..2}] += {number}",
                       "w[({integer}) % len(w)] = {number}", "OUT[g] += {element}", "x += {p|q|w}.shape[0]"],
    "number": ["x", "{element}", "{0..3}"],
    "statement": [
        *["{statement leaf}"] * 4, *["{p|q} = {array 2}"] * 4, "w = {own 1}", "p, q = q, p",
        *["if {condition}:\n    {block}\n{else}"] * 3, "{loop}",
        "if {condition}:\n    w = cuda.local.array({3..6}, float64)\n    for @j in range(len(w)): w[@j] = x\n"
        "    w[2] = {number}\nelse:\n    w = {own leaf}\n    {statement}",
        "n = {number}", "n = None", "n = {number} if {condition} else None", "r = {array 1}", "r = None",
        "if n is not None:\n    {x|n} += n\n    {statement}\n{else}", "if n is None:\n    n = {number}\nx += n",
        "if r is not None:\n    x += r[({integer}) % len(r)] + r.shape[0]\n{else}",
    ],
    "loop": [f"for @j in range({stop}):\n    {{block}}" for stop in ("{2..3}", "{integer} % 4")],
    "block": repeated_forms("{statement 1}", 1, 3),
    "else": ["", "else:\n    {block}", "else:\n    {block}"],
    "phase": ["{block}\ncuda.syncthreads()\n{block}", "{block}"],
    "kernel": ["s = cuda.shared.array({size}, float64)\nfor i in range(4): s[4 * t + i] = t\n{phase}\n{block}\n"
               "{block}\nOUT[g] += x + w[1] + p[0] + q[1]"],
}  # fmt: skip
#: The arrays of each other thread, too, so that some kernels race.
UNORDERED_CHOICES = {
    **CHOICES,
    "own": [*CHOICES["own"], "W[g // 2]", "s", "W[0]"],
    "own leaf": [*CHOICES["own leaf"], "s"],
}


@st.composite
def choice_cases(draw, unordered=False):
    """Draw a kernel whose threads choose between arrays, parts of arrays, and arrays that they make.

    `unordered`: a thread may store to what others store to, so that its values depend on the order.
    """
    threads, blocks = draw(st.sampled_from([5, 32, 40, 64])), draw(st.sampled_from([1, 2, 3]))
    rules = {**(UNORDERED_CHOICES if unordered else CHOICES), "size": [str(4 * threads)]}
    return write_case(draw, CHOICES_HEADER, rules, (blocks,), (threads,))
