"""The Python that an executed answer may use: functions that are no kernels, such as lesson 14's.

A kernel is never executed: the simulator compiles its text. Of the other functions everything is on a list: kinds of
statements, built-in functions, and the attributes of modules and values. None of them reaches a file, a frame, a module
beyond NumPy's arithmetic, or the text of a class.
"""

import ast
import builtins
import contextlib
import importlib
from collections.abc import Iterator, Set

import numpy as np

#: The modules that an answer may import, or import from.
MODULES = ("numpy", "math", "statistics", "numba", "numba.cuda", "numba.types", "numpy.linalg")

_NODES = """
    FunctionDef arguments arg Lambda Return Assign AugAssign AnnAssign NamedExpr Expr For While If IfExp Pass Break
    Continue Assert Raise Try ExceptHandler BoolOp BinOp UnaryOp Compare Call keyword Attribute Subscript Slice Name
    Constant Tuple List Dict Set Starred JoinedStr FormattedValue ListComp SetComp DictComp GeneratorExp comprehension
""".split()

_BUILTINS = """
    abs all any bool complex dict divmod enumerate filter float frozenset int isinstance iter len list map max min next
    pow print range repr reversed round set slice sorted str sum tuple zip True False None
    ArithmeticError AssertionError Exception IndexError KeyError OverflowError RuntimeError TypeError ValueError
    ZeroDivisionError NotImplementedError StopIteration
""".split()
#: What stands for ``builtins`` where an answer is executed.
BUILTINS = {name: getattr(builtins, name) for name in _BUILTINS}

#: The attributes of NumPy, math, statistics and their values that compute, and nothing else.
ATTRIBUTES = frozenset(
    """
    T abs absolute add all allclose amax amin any append arange argmax argmin argsort around array array_equal asarray
    astype atleast_1d average bincount bool_ broadcast_to ceil clip column_stack concatenate copy copysign count
    count_nonzero cumsum delete diff divide divmod dot dtype e eps equal exp expand_dims extend eye
    fabs finfo flat flatten float16 float32 float64 floor floor_divide fmod fmean fsum full full_like gcd geometric_mean
    greater greater_equal harmonic_mean hstack hypot identity imag inf index inf insert int16 int32 int64 int8 integer
    isclose isfinite isinf isnan isqrt item items itemsize keys lcm ldexp less less_equal linalg linspace log log10
    log1p log2 logical_and logical_not logical_or logical_xor matmul max maximum mean median median_high median_low min
    minimum mod multimode multiply nan nan_to_num nanmax nanmean nanmedian nanmin nansum nbytes ndim negative nonzero
    norm not_equal number ones ones_like outer partition percentile pi pop pow power prod ptp quantile quantiles ravel
    real reciprocal remainder remove repeat reshape reverse rint round shape sign size sort split sqrt square squeeze
    stack std stdev subtract sum swapaxes take tile tolist trace transpose tril triu true_divide trunc uint16 uint32
    uint64 uint8 unique values var variance vdot vstack where zeros zeros_like add extend setdefault get update
""".split()
)


def import_parts() -> None:
    """Import all that a call may use, also what a function of NumPy is the first to use: a call reads no file."""
    for name in MODULES:
        importlib.import_module(name)
    sample = np.ones((2, 2))
    for name in sorted(ATTRIBUTES):
        for function in (getattr(sample, name, None), getattr(np, name, None), getattr(np.linalg, name, None)):
            for arguments in ((), (sample,), (sample, sample)):
                with contextlib.suppress(Exception):
                    function(*arguments)  # type: ignore[misc]


def refusals(function: ast.FunctionDef, known: Set[str]) -> Iterator[str]:
    """Yield why the function is not executed, in sentences; ``known`` are the names defined beside it."""
    nodes = list(ast.walk(function))
    bound = {*known, *BUILTINS, *(node.arg for node in nodes if isinstance(node, ast.arg))}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {str(node.name) for node in nodes if isinstance(node, ast.FunctionDef | ast.ExceptHandler)}
    for node in nodes:
        if isinstance(node, ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop):
            continue
        where = f"line {getattr(node, 'lineno', function.lineno)}"
        if type(node).__name__ not in _NODES:
            yield f"{where}: the grader does not execute `{type(node).__name__.lower()}` in an answer; leave it out."
        elif isinstance(node, ast.FunctionDef) and node.decorator_list:
            yield f"{where}: the grader does not execute a decorator inside an answer; leave it out."
        elif isinstance(node, ast.Attribute) and node.attr not in ATTRIBUTES:
            yield f"{where}: the grader does not execute `.{node.attr}` in an answer; write it out with arithmetic."
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield f"{where}: an answer must not assign to `.{node.attr}`; use a variable."
        elif isinstance(node, ast.Name) and (node.id not in bound or node.id.startswith("__")):
            yield f"{where}: the grader knows no {node.id} in an answer; define it in the function, or leave it out."
