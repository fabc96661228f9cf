"""Numba's own type inference, called for one scalar operation at a time.

Everything here uses the typing context of numba's CUDA target, which needs no GPU. Types are given and returned as
NumPy dtypes; an operation that numba refuses returns None. Values of Python literals count as int64, float64 and bool,
as they do in a kernel (an int exponent excepted: see `oracle_binop`).
"""

import operator
from contextlib import contextmanager
from functools import lru_cache
from unittest.mock import patch

import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.cuda.descriptor import cuda_target
from numba.np.numpy_support import as_dtype, from_dtype

NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
SCALARS = tuple(map(np.dtype, NAMES.split()))
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
INPLACE = {symbol: getattr(operator, "i" + function.__name__.strip("_")) for symbol, function in BINARY.items()}
COMPARE = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq,
    "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}


@lru_cache(1)
def _context():
    context = cuda_target.typing_context
    context.refresh()
    return context


def _numba_type(dtype):
    return dtype if isinstance(dtype, types.Type) else from_dtype(np.dtype(dtype))


class _Device:
    """Stands in for the GPU that numba asks for its compute capability when it types shuffles and votes."""

    compute_capability = (7, 5)


@contextmanager
def _on_a_device():
    with (
        patch("numba.cuda.dispatcher.get_current_device", _Device),
        patch("numba.cuda.compiler.get_current_device", _Device),
    ):
        yield


@lru_cache(None)
def _resolve(function, *argument_types):
    try:
        with _on_a_device():
            return _context().resolve_function_type(function, argument_types, {})
    except NumbaError:
        return None


def compiles(kernel, argument_types):
    """Does numba type and lower this kernel for these types?"""
    from numba.cuda.compiler import compile_cuda

    with _on_a_device():
        try:
            compile_cuda(kernel, types.void, tuple(argument_types), cc=_Device.compute_capability)
        except NumbaError:
            return False
    return True


def launches(dispatcher, argument_types):
    """Let numba compile a decorated kernel with its options, as a launch does before it looks for a GPU's linker."""
    with _on_a_device():
        dispatcher.compile(tuple(argument_types))


@lru_cache(None)
def oracle_call(function, *dtypes):
    """Return the dtype of function(*dtypes): an operator, a builtin, a math function. None: refused."""
    argument_types = [_numba_type(d) for d in dtypes]
    try:
        signature = _resolve(function, *argument_types)
    except NotImplementedError:  # int() and round() are compiled to be typed, and only a GPU has a float16
        signature = _resolve(function, *(types.float32 if t == types.float16 else t for t in argument_types))
    if signature is None or not isinstance(signature.return_type, (types.Number, types.Boolean)):
        return None
    return as_dtype(signature.return_type)


@lru_cache(None)
def oracle_operands(function, *dtypes):
    """Return the dtypes to which numba converts the arguments before it computes. None: refused."""
    signature = _resolve(function, *(_numba_type(d) for d in dtypes))
    return None if signature is None else tuple(as_dtype(a) for a in signature.args)


def oracle_binop(op, a, b):
    """Return the dtype of `a op b`; `b` may be a Python int, which then is a literal (matters for `**`)."""
    function = {**BINARY, **COMPARE}[op]
    b = types.literal(b) if type(b) is int else b
    return oracle_call(function, a, b)


def oracle_unary(op, a):
    """Return the dtype of `op a`."""
    return oracle_call(UNARY[op], a)


@lru_cache(None)
def oracle_unify(*dtypes):
    """Return the dtype of a variable that was assigned values of these dtypes on paths that meet."""
    unified = _context().unify_types(*(_numba_type(d) for d in dtypes))
    return None if unified is None else as_dtype(unified)


PARTS = {np.dtype("complex64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("float64")}


def oracle_variable(kernel, argument_types, name):
    """Return the dtype that numba gives the last version of a variable when it compiles a whole kernel.

    `argument_types` are numba types. None when numba refuses the kernel. No code is generated: without a CUDA
    driver only typing and lowering to LLVM take place.
    """
    from numba.cuda.compiler import compile_cuda

    with _on_a_device():
        try:
            compiled = compile_cuda(kernel, types.void, tuple(argument_types), cc=_Device.compute_capability)
        except NumbaError:
            return None
    versions = {k: t for k, t in compiled.type_annotation.typemap.items() if k.split(".")[0] == name}
    last = versions[max(versions, key=lambda k: int((k.split(".") + ["0"])[1]))]
    return as_dtype(types.unliteral(last))
