"""What a kernel is: its code, its device functions, and the values that they read from outside.

To the compiler it is its text, without comments and docstrings (`digest`); to a program, one that it launches, whose
findings belong together (`kernel_key`).
"""

import ast
import copy
import hashlib
import inspect
from collections.abc import Hashable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any

import numpy as np

from ...simulator.findings import UnsupportedKernelError
from ...simulator.language.source.reading import python_function, read
from ...simulator.language.types.stand_in_types import NumbaType

#: The compute capability for which kernels are compiled: that of the GPUs whose measurements come with the course.
HOPPER = (9, 0)
#: Packages whose functions and constants do not change.
_FIXED = ("numba", "numpy", "math")


def functions_of(plain: FunctionType) -> dict[str, FunctionType]:
    """Return a kernel and the Python functions that it calls, directly or not, by their names; the kernel last.

    Of several functions with one name, the later ones are numbered: ``f``, ``f (2)``.
    """
    found = {plain.__name__: plain}

    def visit(function: FunctionType) -> None:
        for value in values_of(function).values():
            called = getattr(value, "py_func", value)
            if isinstance(called, FunctionType) and called not in found.values() and not _is_fixed(called.__module__):
                names = (called.__name__, *(f"{called.__name__} ({n})" for n in range(2, len(found) + 2)))
                found[next(name for name in names if name not in found)] = called
                visit(called)

    visit(plain)
    del found[plain.__name__]
    return {**found, plain.__name__: plain}


def digest(kernel: Any, types: Sequence[Any], options: dict[str, Any]) -> str:
    """Return a key that kernels share which compile to the same code: not their comments, names of files, lines.

    Raises OSError if the text of a function is not known.
    """
    plain = getattr(kernel, "py_func", kernel)
    parts = [f"{HOPPER}", *map(str, types), *(f"{name}={value}" for name, value in options.items())]
    for function in functions_of(plain).values():
        parts.append(_text(function))
        if function is not plain and function.__defaults__:  # a launch fills in no defaults of the kernel
            parts.append(f"{function.__defaults__!r}")
        for name, value in sorted(values_of(function).items()):
            if isinstance(value, int | float | bool | str | np.generic | tuple):
                parts.append(f"{name}={value!r}")
            elif isinstance(value, np.ndarray):
                parts.append(f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}")
            elif (kind := _type_name(value)) not in ("", name.rpartition(".")[2]):  # else the text names it
                parts.append(f"{name}={kind}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _type_name(value: Any) -> str:
    """Return the name of a type of numbers or records, the same for numba's, ours and NumPy's; "" for other values."""
    if isinstance(value, type) and issubclass(value, np.generic):
        return value.__name__
    if isinstance(value, np.dtype):
        return value.name if value.names is None else repr(value)
    return str(value) if isinstance(value, NumbaType) or type(value).__module__.startswith("numba.core.types") else ""


def lines_of(kernel: Any) -> Hashable:
    """Return where the text of a kernel and of its functions stands: the file of each, and the lines that hold code.

    Raises OSError if the text of a function is not known.
    """
    functions = functions_of(getattr(kernel, "py_func", kernel))
    return tuple(
        (function.__code__.co_filename, function.__code__.co_firstlineno, *outline(function))
        for function in functions.values()
    )


class _Itself:
    """A value that is equal to itself alone."""

    def __init__(self, value: Any) -> None:
        self.value = value  # kept: its id belongs to no later object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def kernel_key(kernel: Any) -> Hashable:
    """Return a key that two kernels share if they compute the same, in the same lines of the same file.

    It holds the code and the options of the kernel and of its device functions, and the values that they read from
    outside: closures, globals, attributes of modules, defaults. Functions that a factory makes differ if these do.
    """
    known: dict[FunctionType, int] = {}

    def key(value: Any) -> Hashable:
        plain = getattr(value, "py_func", value)
        if isinstance(plain, FunctionType):
            if plain in known or _is_fixed(plain.__module__):
                return "function", known.get(plain, plain)
            known[plain] = len(known)
            options = repr(sorted(getattr(value, "targetoptions", {}).items(), key=str)), _signature(value)
            read = (part for name, used in sorted(values_of(plain).items()) for part in (name, key(used)))
            return plain.__code__.co_filename, plain.__code__, options, key(plain.__defaults__), *read
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, tuple):
            return type(value), *map(key, value)
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.shape, value.strides, hashlib.sha256(value.tobytes()).digest()
        if isinstance(value, np.generic):
            return value.dtype.str, value.tobytes()
        if isinstance(value, int | float | complex | str | bytes | NoneType | np.dtype) or _is_fixed(
            type(value).__module__
        ):
            return type(value), repr(value)
        return _Itself(value)

    return key(kernel if hasattr(kernel, "py_func") else python_function(kernel))


def _signature(kernel: Any) -> str:
    """Return the types for which a decorator compiles a function; "" if it compiles for any."""
    waiting = getattr(kernel, "waiting_for", None)
    fixed = () if getattr(kernel, "_can_compile", True) else (*getattr(kernel, "overloads", ()),)
    return repr((waiting, fixed)) if waiting or fixed else ""


def values_of(function: FunctionType) -> dict[str, Any]:
    """Return the values of the names that a function takes from outside: of its closure, of its module, of others'.

    Constants of a module have the module's name before theirs. Names without a value yet are left out.
    """
    code = function.__code__
    found = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it gets its value later
            continue
    names = [name for part in _codes(code) for name in part.co_names]
    found |= {name: function.__globals__[name] for name in names if name in function.__globals__}
    modules = [(name, value) for name, value in found.items() if isinstance(value, ModuleType)]
    for path, module in modules:  # grows by the modules in each
        if not _is_fixed(module.__name__) and path.count(".") < 8:
            own = {f"{path}.{name}": getattr(module, name) for name in dict.fromkeys(names) if hasattr(module, name)}
            modules += [(name, value) for name, value in own.items() if isinstance(value, ModuleType)]
            found |= own
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of those that it defines."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def _is_fixed(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _FIXED


def _text(function: FunctionType) -> str:
    """Return a function's source as its syntax tree has it, without decorators and docstring."""
    tree = _tree(function)
    tree.decorator_list = []
    tree.body = tree.body or [ast.Pass()]
    return ast.unparse(tree)


def _tree(function: FunctionType) -> ast.FunctionDef:
    """Return a function's syntax tree without its docstring; raise OSError if its text is not known."""
    inspect.getsourcelines(function)
    try:
        tree = copy.copy(read(function).tree)
    except UnsupportedKernelError as error:
        raise OSError(str(error)) from None
    tree.body = tree.body[ast.get_docstring(tree, clean=False) is not None :]
    return tree


def outline(function: FunctionType) -> list[int]:
    """Return the lines of a function that hold code, counted from its first one: `def`, and its body's lines."""
    tree = _tree(function)
    first = function.__code__.co_firstlineno
    lines = {node.lineno - first for each in tree.body for node in ast.walk(each) if hasattr(node, "lineno")}
    return sorted({0, tree.lineno - first, *lines})
