"""The simulator's scalar types are numba's: its own typer is asked, operator by operator and kernel by kernel."""

import itertools
import math
import operator

import numpy as np
import pytest
from nightly import NIGHTLY, every
from numba import cuda, int8, typeof, types, uint8
from numba.core.typeconv.rules import default_type_manager
from numba.cuda import libdevice  # noqa: F401 - a module of cuda once it is imported
from oracles import numba_typing as oracle
from oracles.expressions import BODIES, HALF_FUNCTIONS, REFUSED, TUPLES, arguments, kernel_with, threads

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator.language.source.packages import NUMBA
from course_lib.simulator.language.tables.functions import CUDA, MATH
from course_lib.simulator.language.tables.package_gaps import LACKS
from course_lib.simulator.language.types import typing_rules
from course_lib.simulator.language.types.unification import unify
from course_lib.simulator.language.types.value_types import COMPLEX, TypingError

PAIRS = list(itertools.product(oracle.SCALARS, repeat=2))
BINARY = {
    "+": "Add", "-": "Sub", "*": "Mult", "/": "Div", "//": "FloorDiv", "%": "Mod", "**": "Pow",
    "&": "BitAnd", "|": "BitOr", "^": "BitXor", "<<": "LShift", ">>": "RShift",
}  # fmt: skip


def rule(function, *arguments):
    """Return what a rule says, None where it refuses."""
    try:
        return function(*arguments)
    except TypingError:
        return None


@pytest.mark.parametrize("symbol", BINARY)
def test_binary_operators(symbol):
    """The type of `a op b`, and of `a op= b`, for every pair of scalars."""
    for a, b in PAIRS:
        found = rule(typing_rules.binary, BINARY[symbol], a.name, b.name)
        for functions in (oracle.BINARY, oracle.INPLACE):
            wanted = oracle.oracle_call(functions[symbol], a, b)
            assert found == (wanted and wanted.name), f"{a} {symbol} {b}"


def test_comparisons_lose_nothing_that_numba_keeps():
    """Two values are compared in numba's common type, or in one in which these types compare alike."""
    exact = {
        frozenset(pair)
        for pair in (("uint16", "float32"), ("uint16", "float16"), ("uint8", "float16"), ("uint16", "complex64"))
    }
    for a, b in PAIRS:
        for function, order in ((operator.lt, True), (operator.ge, True), (operator.eq, False)):
            wanted = oracle.oracle_operands(function, a, b)
            found = rule(typing_rules.comparison, a.name, b.name, order)
            same = wanted == (found and (np.dtype(found),) * 2)
            assert same or wanted and frozenset((a.name, b.name)) in exact, f"{function} of {a} and {b}"


@pytest.mark.parametrize(("symbol", "name"), [("-", "USub"), ("+", "UAdd"), ("~", "Invert"), ("not", "Not")])
def test_unary_operators(symbol, name):
    for a in oracle.SCALARS:
        found = rule(typing_rules.unary, name, a.name)
        wanted = oracle.oracle_unary(symbol, a)
        assert (found and found[0]) == (wanted and wanted.name), f"{symbol} {a}"


def test_versions_of_a_variable_unify():
    """Where paths meet, a variable has the smallest type that holds both; min and max return the same one."""
    for a, b in PAIRS:
        assert unify(a.name, b.name) == oracle.oracle_unify(a, b).name, f"{a} and {b}"
        quality = default_type_manager.check_compatible(oracle.from_dtype(a), oracle.from_dtype(b))
        assert typing_rules.conversion(a.name, b.name) == (quality and quality.name), f"{a} to {b}"
    plain = [p for p in PAIRS if not {d.name for d in p} & {"float16", *COMPLEX}]
    # numba takes a while over each of these, and needs a GPU for the others
    for a, b in plain[:: 9 if NIGHTLY else 27]:
        assert unify(a.name, b.name) == oracle.oracle_call(min, a, b).name
        assert unify(a.name, b.name) == oracle.oracle_call(max, b, a).name


def test_parts_and_complex_numbers():
    """The types of complex(a) and complex(a, b)."""
    for arguments_ in [*((a,) for a in oracle.SCALARS), *PAIRS]:
        wanted = oracle.oracle_call(complex, *arguments_)
        if len(arguments_) == 2 and {a.kind for a in arguments_} & {"c"}:
            wanted = None  # numba types it, and has no code for it
        assert rule(typing_rules.complex_result, *(a.name for a in arguments_)) == (wanted and wanted.name), arguments_


#: The functions of one home, by their names in the simulator's tables: what computes them, for Python.
FUNCTIONS = {name: getattr(math, name, None) for name in MATH} | {
    name: operator.attrgetter(name)(cuda) for name, row in CUDA.items()
}
#: Numba takes these of any number, and cuts it off; here a float is refused, and a bool.
WHOLE = ("popc", "brev", "clz", "ffs")


def types_to_ask(name, count):
    """Combinations of types: those that a warp computes together get int32 for their masks and lanes."""
    for chosen in itertools.product(oracle.SCALARS, repeat=count):
        whole = [chosen[0], *chosen[2:]] if name.endswith("_sync") else []
        if all(d == "int32" for d in whole) and (whole or count < 3 or chosen[1] == chosen[2]):
            yield chosen


LACKED = LACKS[NUMBA]


@pytest.mark.parametrize(
    "name", [n for n in FUNCTIONS if n != "exp2" and not n.startswith("fp16") and f"math.{n}" not in LACKED]
)
def test_functions(name):
    """The type of every function's result is numba's, for all types of its arguments, and it refuses what numba does.

    It refuses complex numbers everywhere.
    """
    row = MATH.get(name) or CUDA[name]
    for count in row.arity:
        for chosen in types_to_ask(name, count):
            if "c" in {d.kind for d in chosen} or (name in WHOLE and chosen[0].kind in "bf"):
                continue
            found = rule(row.rule, *(d.name for d in chosen))
            wanted = oracle.oracle_call(FUNCTIONS[name], *chosen)
            assert (found and found[0]) == (wanted and wanted.name), f"{name} of {', '.join(d.name for d in chosen)}"


@pytest.mark.parametrize("expression", REFUSED)
def test_what_numba_refuses_is_refused(expression, tmp_path):
    kernel, launch = kernel_with(f"v = {expression}", tmp_path), arguments()
    assert oracle.oracle_variable(kernel, [typeof(a) for a in launch], "v") is None
    with pytest.raises(UnsupportedKernelError, match=r"^line \d+: "):
        simulate(kernel)[1, 32](*launch)


@pytest.mark.parametrize(
    "body",
    [
        *(f"v = {expression}" for expression in TUPLES),
        *every(12, [*BODIES, *(f"v = cuda.fp16.{call}" for call in HALF_FUNCTIONS)]),
    ],
)
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
