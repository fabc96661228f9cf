"""The writer of one function's code, and the generated module of all functions."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ...runtime.memory import FieldArray, GlobalArray
from ..types.value_types import DTYPE, NONE, SCALARS, ArrayType, OptionalType, RecordsType, TupleType, Type

#: What generated code reports: nothing, each iteration of the kernel's loops, or also statements, variables and tests.
Tracing = Literal["", "loops", "values"]


class Code(NamedTuple):
    """Code of a value; ``name``: it is a single name; ``final``: that name is never assigned again."""

    text: str
    name: bool = False
    final: bool = False


class Written(Protocol):
    """An expression of the typed program."""

    def write(self, out: Any) -> Code: ...


class Module:
    """The generated module of a launch: the code of its functions, what it names, and what it accesses.

    ``patient``: after each iteration of a while loop, other warps can run. ``chooses``: threads of a warp may choose
    different arrays for one variable; ``finds_choices`` says whether the code that was written lets them. A function of
    another file than the kernel is generated for each line that calls it, because its events are reported there.

    Attributes:
        functions: the name of each of the program's functions, for the line of its calls (0: its events have its own).
        sites: (line, op, elements a lane, variable that is indexed).
        arrays: the numbers of the shared and local arrays.
        shared: the shared arrays by number: (name, bytes, elements, line).
        together: the operations of whole warps, by line and name.
    """

    def __init__(self, tracing: Tracing, patient: bool = False, chooses: bool = False):
        self.tracing, self.patient, self.chooses = tracing, patient, chooses
        self.constants: dict[str, object] = {}
        self.functions: dict[tuple[Any, int], str] = {}
        self.sites: list[tuple[int, str, int, str]] = []
        self.arrays: dict[Any, int] = {}
        self.shared: dict[int, tuple[str, int, int, int]] = {}
        self.together: dict[tuple[int, str], Callable[..., object]] = {}
        self.outside: dict[tuple[str, int], tuple[GlobalArray, str]] = {}
        self.finds_choices = False
        self._by_value: dict[tuple[type, bytes], str] = {}

    def constant(self, value: np.generic) -> str:
        """The name of a NumPy scalar in the generated code."""
        key = (type(value), value.tobytes())
        if key not in self._by_value:
            self._by_value[key] = self.named(value)
        return self._by_value[key]

    def named(self, obj: object) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = obj
        return name

    def frozen(self, name: str, array: np.ndarray, field: str) -> str:
        """The name of a constant array, or of a field of records, in the generated code."""
        key = (name, id(array))
        if key not in self.outside:
            made = FieldArray(name, array, field) if field else GlobalArray(name, array)
            made.space = "constant"
            self.outside[key] = made, self.named(made)
        return self.outside[key][1]

    def dtype(self, name: str) -> str:
        self.constants[f"d_{name}"] = DTYPE[name]
        return f"d_{name}"

    def name(self, function: Any, call: int) -> str:
        """The name of a function in the generated code, for calls on line ``call``."""
        key = function, call if function.in_other_file else 0
        return self.functions.setdefault(key, f"f{len(self.functions)}_{function.source.name}")

    def yields(self, function: Any) -> bool:
        """Whether the code of ``function`` is a generator: if it has barriers, or may wait for other threads."""
        return bool(function.barriers or (self.patient and function.waits))


class Writer:
    def __init__(self, module: Module, function: Any, call: int):
        self.module, self.function, self.call = module, function, call
        self.counter = self.position = 0
        self.lines: list[str] = []
        self.indent = 2
        self.mask = "m"
        self.region_masks = {self.function.body.region: "a"}
        self.loops: list[str] = []  # the lists of the lanes in each open loop
        self.path: list[str] = []
        self.branches: list[int] = []
        self.sites: list[str] = []
        self.versions: set[str] = set()
        self.evaluated: dict[Written, Code] = {}
        self.own_arrays: list[int] = []
        self.bound = ""

    def expr(self, node: Written) -> Code:
        return node.write(self)

    def text(self, node: Written) -> str:
        return self.expr(node).text

    def items(self, nodes: Iterable[Written]) -> str:
        """Code of the tuple of these values."""
        return f"({''.join(f'{self.text(node)}, ' for node in nodes)})"

    def emit(self, code: str) -> None:
        self.lines.append("    " * self.indent + code + "\n")

    def fresh(self, letter: str) -> str:
        self.counter += 1
        return f"{letter}{self.counter}"

    def at(self, line: int) -> int:
        """The line that is reported: that of the call in a function of another file."""
        return self.call if self.function.in_other_file else line

    def branch(self) -> int | str:
        """Code of the line of the innermost enclosing if or loop; in a function, of the one around its call."""
        return self.branches[-1] if self.branches else "None" if self.function.kernel else "b"

    def version(self, name: str, kind: Type) -> str:
        """Name, and declare, the Python variable of the version of ``name`` with type ``kind``."""
        version = f"v_{name}_{tag(kind)}"
        self.versions.add(version)
        return version

    def site(self, line: int, op: str, width: int = 1, variable: str = "") -> str:
        self.sites.append(f"S{len(self.module.sites)}")
        self.module.sites.append((self.at(line), op, width, variable))
        return self.sites[-1]

    def assigned(self, code: str) -> Code:
        """Assign a value to a new name."""
        name = self.fresh("t")
        self.emit(f"{name} = {code}")
        return Code(name, True, True)

    @contextmanager
    def under(self, mask: str) -> Iterator[None]:
        """Write for the lanes of ``mask``, if there are any."""
        outer = self.lines, self.mask
        self.lines, self.mask = [], mask
        with self.deeper():
            yield
        inside, (self.lines, self.mask) = self.lines, outer
        if inside:
            self.emit(f"if {mask} is not False:")
            self.lines += inside

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.indent += 1
        yield
        self.indent -= 1

    def blended(self, mask: str, new: str, old: str, kind: Type) -> str:
        """Code of ``new`` in the lanes of ``mask`` and ``old`` in the others, both of type ``kind``."""
        if kind in SCALARS:
            return f"blend({mask}, {new}, {old})"
        self.module.finds_choices |= holds_arrays(kind)
        return f"choose({mask}, {new}, {old})"

    def cast(self, code: str, have: Type, want: Type) -> str:
        """Code of a value converted from ``have`` to ``want``."""
        if have == want:
            return code
        if isinstance(have, TupleType) and isinstance(want, TupleType):
            pairs = enumerate(zip(have.items, want.items, strict=True))
            return "(" + "".join(self.cast(f"{code}[{i}]", a, b) + ", " for i, (a, b) in pairs) + ")"
        if isinstance(want, OptionalType):  # does it have a value, and which
            if have == NONE:
                return f"(np.False_, {self.module.constant(DTYPE[want.of].type(0)) if want.of in SCALARS else None})"
            if isinstance(have, OptionalType):
                return f"({code}[0], {self.cast(f'{code}[1]', have.of, want.of)})"
            return f"(np.True_, {self.cast(code, have, want.of)})"
        if isinstance(want, ArrayType):
            return f"as_view({code})"
        return f"cast({code}, {self.module.dtype(str(want))})"

    def place(self) -> str:
        """Code of this execution's place in program order: positions and iteration counts, outermost first."""
        self.position += 1
        return f"(*path, {', '.join([*self.path, str(self.position)])})"


def holds_arrays(kind: Type) -> bool:
    if isinstance(kind, OptionalType):
        return isinstance(kind.of, ArrayType)
    return any(map(holds_arrays, kind.items)) if isinstance(kind, TupleType) else kind not in SCALARS


def tag(kind: Type) -> str:
    """Abbreviate a type, for the name of a variable's version."""
    if isinstance(kind, ArrayType):
        return f"{'V' if kind.view else 'A'}{tag(kind.dtype)}{kind.ndim}"
    if isinstance(kind, OptionalType):
        return f"O{tag(kind.of)}"
    if isinstance(kind, (TupleType, RecordsType)):
        return kind.__class__.__name__[0] + "".join(tag(k) for k in kind.items) + "E"
    return {"bool": "b", "none": "n"}.get(kind) or kind[0] + "".join(c for c in kind if c.isdigit())
