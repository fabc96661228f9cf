"""The simulator's scalar types are numba's: its own typer is asked, operator by operator and kernel by kernel."""

import itertools
import operator

import numpy as np
import pytest
from numba import cuda, int8, typeof, types, uint8
from oracles import numba_typing as oracle
from oracles.expressions import BODIES, arguments, kernel_with, threads

from course_lib import simulate
from course_lib.simulator import typing_rules as rules

PAIRS = list(itertools.product(oracle.SCALARS, repeat=2))
BINARY = {
    "+": "Add", "-": "Sub", "*": "Mult", "/": "Div", "//": "FloorDiv", "%": "Mod", "**": "Pow",
    "&": "BitAnd", "|": "BitOr", "^": "BitXor", "<<": "LShift", ">>": "RShift",
}  # fmt: skip


def rule(function, *arguments):
    """Return what a rule says, None where it refuses."""
    try:
        return function(*arguments)
    except rules.TypingError:
        return None


@pytest.mark.parametrize("symbol", BINARY)
def test_binary_operators(symbol):
    """The type of `a op b`, and of `a op= b`, for every pair of scalars."""
    for a, b in PAIRS:
        found = rule(rules.binary, BINARY[symbol], a.name, b.name)
        for functions in (oracle.BINARY, oracle.INPLACE):
            wanted = oracle.oracle_call(functions[symbol], a, b)
            assert (found and found[0]) == (wanted and wanted.name), f"{a} {symbol} {b}"


def test_comparisons_lose_nothing_that_numba_keeps():
    """Two values are compared in numba's common type, or in one in which these types compare alike."""
    for a, b in PAIRS:
        left, right = oracle.oracle_operands(operator.lt, a, b)
        found = np.dtype(rules.comparison(a.name, b.name))
        exact = {left, right} == {np.dtype("float64")} and {a.name, b.name} == {"uint16", "float32"}
        assert found == left == right or (exact and found == np.dtype("float32")), f"{a} < {b}"


@pytest.mark.parametrize(("symbol", "name"), [("-", "USub"), ("+", "UAdd"), ("~", "Invert"), ("not", "Not")])
def test_unary_operators(symbol, name):
    for a in oracle.SCALARS:
        found = rule(rules.unary, name, a.name)
        wanted = oracle.oracle_unary(symbol, a)
        assert (found and found[0]) == (wanted and wanted.name), f"{symbol} {a}"


def test_versions_of_a_variable_unify():
    """Where paths meet, a variable has the smallest type that holds both; min and max return the same one."""
    for a, b in PAIRS:
        assert rules.unify(a.name, b.name) == oracle.oracle_unify(a, b).name, f"{a} and {b}"
    for a, b in PAIRS[::9]:  # numba takes a while over each of these
        assert rules.unify(a.name, b.name) == oracle.oracle_call(min, a, b).name
        assert rules.unify(a.name, b.name) == oracle.oracle_call(max, b, a).name


@pytest.mark.parametrize("body", BODIES)
def test_variables(body, tmp_path):
    """The last value of v in a kernel has the type that numba's compiler infers for it."""
    kernel, launch = kernel_with(body + "\nend = v", tmp_path), arguments()
    wanted = oracle.oracle_variable(kernel, [typeof(a) for a in launch], "end")
    assert wanted is not None, "numba refuses this kernel"
    run = simulate(kernel, strict=False, trace=True)[1, threads(body)](*launch)
    values = [step.variables["end"] for step in run.trace.steps if "end" in step.variables]
    assert values[-1].dtype == wanted


@cuda.jit
def joined_after_a_break(x, end):
    t = cuda.threadIdx.x
    v = uint8(t)
    for k in range(3):
        if x[0] > 2:
            v = int8(t)
        elif not (k or v):
            break
    end = v >> (k & 7)
    x[t] = end


def test_numba_also_counts_the_types_that_its_inference_left_behind():
    """A known difference: numba looks at the last line while v is still uint8, so that the result is uint64, and again
    when v has become int16, so that it is int64, and joins both to float64. Here the operands' final types decide.
    """
    assert oracle.oracle_variable(joined_after_a_break, [types.float64[::1], types.int64], "end") == np.float64
    run = simulate(joined_after_a_break, trace=True)[1, 1](np.zeros(1), 0)
    assert [s.variables["end"].dtype for s in run.trace.steps if "end" in s.variables] == [np.int64]
