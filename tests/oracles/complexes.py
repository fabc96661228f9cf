"""Kernels of complex numbers, written by Hypothesis: every type of number meets every other."""

import numpy as np
from hypothesis import strategies as st

from oracles.generator import Case

LENGTH = 24
HEADER = """from numba import complex64, complex128, cuda, float32, float64
from numba.types import float16


@cuda.jit
def kernel(C, Z, F, I, H, OUT_C, OUT_Z, OUT_D):
    t = cuda.threadIdx.x
    g = cuda.grid(1)
"""


@st.composite
def complex_cases(draw, gpu):
    """Draw a case. `gpu`: with float16 and shared memory, which numba's code for a CPU has not."""
    threads, blocks = draw(st.sampled_from([5, 32, 40])), draw(st.sampled_from([1, 2]))
    writer = ComplexWriter(draw, gpu)
    writer.kernel(threads)
    return Case(HEADER + "\n".join(writer.lines) + "\n", (blocks,), (threads,), draw(st.integers(0, 99)), "C")


def inputs(case):
    """Return fresh arrays, in the order of the parameters."""
    rng = np.random.default_rng(case.seed)
    total = case.grid[0] * case.block[0]

    def some(dtype):
        return (rng.integers(-16, 17, LENGTH) / 4).astype(dtype)

    return [some("c8") + 1j * some("f4"), some("c16") * 1j - some("f8"), some("f4"), some("i4"), some("f2"),
            np.zeros(total, "c8"), np.zeros(total, "c16"), np.zeros(total)]  # fmt: skip


class ComplexWriter:
    """Writes one kernel, line by line."""

    def __init__(self, draw, gpu):
        self.draw, self.gpu = draw, gpu
        self.lines, self.indent, self.variables = [], 1, []

    def one(self, *choices):
        return self.draw(st.sampled_from(choices))

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def element(self, *arrays):
        return f"{self.one(*arrays)}[{self.one('g % 24', '(g + 5) % 24', '3 * t % 24', '7')}]"

    def real(self, depth, half=True):
        """A real expression; ``half``: perhaps of float16, of which numba has no ``complex()``."""
        if depth and self.one(True, False):
            return self.one(
                f"({self.number(depth - 1)}).real",
                f"abs({self.number(depth - 1)})",
                f"({self.number(depth - 1)}).imag",
                f"(-{self.real(depth - 1, half)})",
            )
        return self.one(self.element("F", "I", *"H" * (self.gpu and half)), "float32(1.5)", "2", "0.25")

    def number(self, depth=2):
        """An expression that is complex, or nearly always."""
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

    def kernel(self, threads):
        for name in ("p", "q"):
            self.line(f"{name} = {self.one('0', '1j', 'C[g % 24]', 'Z[t % 24]', 'complex64(0)')}")
            self.variables.append(name)
        for _ in range(self.draw(st.integers(1, 4))):
            self.statement()
        if self.gpu:
            self.line(f"s = cuda.shared.array({threads}, {self.one('complex64', 'complex128')})")
            self.line(f"s[t] = {self.number(1)}")
            self.line("cuda.syncthreads()")
            self.line(f"p = s[{self.one(f'{threads} - 1 - t', '0', f'(t + 1) % {threads}')}] - q")
        self.line("OUT_C[g] = p")
        self.line("OUT_Z[g] += q")
        self.line(f"OUT_D[g] = {self.real(1)}")
