"""The writer of one function's code, and the generated module of all functions."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ...runtime.memory import FieldArray, GlobalArray
from ..types.value_types import DTYPE, NONE, SCALARS, ArrayType, FromEnd, OptionalType, RecordsType, TupleType, Type
from .scope import is_reserved

#: What generated code reports: nothing, each iteration of the kernel's loops, or also statements, variables and tests.
Tracing = Literal["", "loops", "values"]


class Code(NamedTuple):
    """Code of a value; ``name``: it is a single name; ``final``: that name is never assigned again."""

    text: str
    name: bool = False
    final: bool = False


class SiteDeclaration(NamedTuple):
    """An access in the code: the line of the source, what it does, elements a lane, the variable that is indexed.

    ``op`` is "load", "store" or "atomic"; or "matrices" if each lane loads a row of one of four matrices.
    """

    line: int
    op: str
    width: int
    variable: str


class SharedDeclaration(NamedTuple):
    """A shared array: its variable, bytes and elements, and the line of the source."""

    name: str
    bytes: int
    elements: int
    line: int


class Expression(Protocol):
    """An expression of the typed program, as the writer sees it: an :class:`.Expr`."""

    def write(self, out: Any) -> Code: ...


class Module:
    """The generated module of a launch: the code of its functions, what it names, and what it accesses.

    ``interleaved``: after each iteration of a while loop, other warps can run. ``diverging_arrays``: a variable may be
    another array in each thread of a warp; ``found_diverging_arrays`` says whether that is so in the code that was
    written. A function of another file than the kernel is generated for each line that calls it, because its events are
    reported there.

    Attributes:
        functions: the name of each of the program's functions, for the line of its calls (0: its events have its own).
        sites, site_names: the accesses, and their names in the code.
        arrays: the numbers of the shared and local arrays.
        shared: the shared arrays by number.
        warp_functions: the operations of whole warps, by line and name.
    """

    def __init__(self, tracing: Tracing, interleaved: bool = False, diverging_arrays: bool = False):
        self.tracing, self.interleaved, self.diverging_arrays = tracing, interleaved, diverging_arrays
        self.constants: dict[str, object] = {}
        self.functions: dict[tuple[Any, int], str] = {}
        self.sites: list[SiteDeclaration] = []
        self.site_names: list[str] = []
        self.arrays: dict[Any, int] = {}
        self.shared: dict[int, SharedDeclaration] = {}
        self.warp_functions: dict[tuple[int, str], Callable[..., object]] = {}
        self.constant_arrays: dict[tuple[str, int], tuple[GlobalArray, str]] = {}
        self.found_diverging_arrays = False
        self._by_value: dict[tuple[type, bytes], str] = {}

    def constant(self, value: np.generic) -> str:
        """The name of a NumPy scalar in the generated code, such as ``int64_16``."""
        key = (type(value), value.tobytes())
        if key not in self._by_value:
            digits = f"{value:g}" if value.dtype.kind in "iuf" else str(value)
            digits = digits.replace("e-0", "e-").replace("e-", "e_minus_")
            digits = digits.replace("-", "minus_").replace("+", "")
            digits = as_name(digits)
            end = "_from_end" if isinstance(value, FromEnd) else ""
            self._by_value[key] = self._new_name(f"{value.dtype.name}_{digits}{end}", value)
        return self._by_value[key]

    def object_name(self, obj: object) -> str:
        """The name of an object that the kernel reads from outside, in the generated code."""
        name = str(getattr(obj, "__name__", getattr(obj, "name", type(obj).__name__)))
        return self._new_name(f"constant_{as_name(name)}", obj)

    def _new_name(self, base: str, obj: object) -> str:
        name = first_free(base, self.constants)
        self.constants[name] = obj
        return name

    def constant_array(self, name: str, array: np.ndarray, field: str) -> str:
        """The name of a constant array, or of a field of records, in the generated code."""
        key = (name, id(array))
        if key not in self.constant_arrays:
            constant = FieldArray(name, array, field) if field else GlobalArray(name, array)
            constant.space = "constant"
            self.constant_arrays[key] = constant, self.object_name(constant)
        return self.constant_arrays[key][1]

    def dtype(self, name: str) -> str:
        self.constants[f"dtype_{name}"] = DTYPE[name]
        return f"dtype_{name}"

    def name(self, function: Any, call: int) -> str:
        """The name of a function in the generated code, for calls on line ``call``."""
        key = function, call if function.in_other_file else 0
        if key not in self.functions:
            name = function.source.name
            if not function.kernel:
                name = f"device_{name}"
            elif is_reserved(name):
                name += "_"
            self.functions[key] = first_free(name, self.functions.values())
        return self.functions[key]

    def yields(self, function: Any) -> bool:
        """Whether the code of ``function`` is a generator: if it has barriers, or may wait for other threads."""
        return bool(function.barriers or (self.interleaved and function.waits))


class Writer:
    """Collects the code of one function, line by line.

    The kernel's variables keep their names; no other name is one of theirs.

    Attributes:
        mask: the name of the mask of the lanes for which code is written now.
        entry_lanes: that of the lanes which entered the function; ``returned``: those that have returned.
        region_masks: by region (:mod:`..source.variable_regions`), the mask of the lanes for which its variables have a
            meaning.
        broke: of each open loop, the mask of the lanes that left it by break.
        loop_value: the value of the iterator in the innermost for loop.
        program_point: the place of the call in program order; ``path``: what follows in it here: the ordinal of each
            open loop and its iteration; ``ordinal``: the latest one, of the loops, calls and barriers of the function;
            ``counted``: the numbers of iterations that the code reads.
        enclosing_lines: those of the open branches and loops; ``enclosing_line_of_call``: the one around the call.
        versions: the variables of the code, by the name in the source and the type.
        result, has_result: a device function's result, and the mask of the lanes that have one.
    """

    def __init__(self, module: Module, function: Any, call: int):
        """Begin the code of a function, for one of its calls, with names for its lanes and its result."""
        self.module, self.function, self.call = module, function, call
        self.lines: list[str] = []
        self.indent = 2
        self._taken = {*function.source.locals}
        self._source_lines = dict(function.source.all_lines)
        self._comment = ""  # for the next line of code
        self._commented = 0  # the line of the source in the latest comment
        self.entry_lanes = self.mask = self.new_name("entry_lanes")
        self.program_point = self.new_name("program_point")
        self.enclosing_line_of_call = self.new_name("enclosing_line")
        self.returned = self.new_name("returned")
        self.result, self.has_result = self.new_name("result"), self.new_name("has_result")
        self.region_masks = {self.function.body.region: self.entry_lanes}
        self.broke: list[str] = []
        self.path: list[str] = []
        self.counted: set[str] = set()
        self.ordinal = 0
        self.enclosing_lines: list[int] = []
        self.sites: list[str] = []
        self.versions: dict[tuple[str, Type], str] = {}
        self.masks_of_assigned: dict[str, str] = {}
        self.evaluated: dict[Expression, Code] = {}
        self.own_arrays: list[int] = []
        self.loop_value = ""

    def expr(self, node: Expression) -> Code:
        return node.write(self)

    def text(self, node: Expression) -> str:
        return self.expr(node).text

    def items(self, nodes: Iterable[Expression]) -> str:
        """Code of the tuple of these values."""
        return tuple_code([self.text(node) for node in nodes])

    def emit(self, code: str) -> None:
        if self._comment:
            self.lines.append(f"{'    ' * self.indent}# {self._comment}\n")
            self._comment = ""
        self.lines.append("    " * self.indent + code + "\n")

    def comment(self, line: int) -> None:
        """Put a line of the source, with its number, before the code that follows."""
        text = " ".join(self._source_lines.get(line, "").split())
        self._comment = f"{line}: {text}" if text and line != self._commented else ""
        self._commented = line

    def new_name(self, base: str) -> str:
        """A name that the function does not have yet: ``base``, or one that begins with it."""
        name = first_free(f"own_{base}" if is_reserved(base) else base, self._taken)
        self._taken.add(name)
        return name

    def at(self, line: int) -> int:
        """The line that is reported: that of the call in a function of another file."""
        return self.call if self.function.in_other_file else line

    def enclosing_line(self) -> int | str:
        """Code of the line of the innermost enclosing if or loop; in a function, of the one around its call."""
        if self.enclosing_lines:
            return self.enclosing_lines[-1]
        return "None" if self.function.kernel else self.enclosing_line_of_call

    def changing_mask(self) -> str:
        """The name of the mask, as a variable that may be assigned; all lanes of the call keep their own name."""
        if self.mask == self.entry_lanes:
            self.mask = self.new_name("active")
        return self.mask

    def version(self, name: str, kind: Type) -> str:
        """Name, and declare, the Python variable of the version of ``name`` with type ``kind``."""
        if (name, kind) not in self.versions:
            if any(name == other for other, _ in self.versions):
                version = self.new_name(f"{name}_{tag(kind)}")
            elif is_reserved(name):
                version = self.new_name(f"{name}_")
            else:
                version = name
            self._taken.add(version)
            self.versions[name, kind] = version
        return self.versions[name, kind]

    def mask_of_assigned(self, name: str) -> str:
        """The mask of the lanes that have assigned a variable."""
        if name not in self.masks_of_assigned:
            self.masks_of_assigned[name] = self.new_name(f"has_{name}")
        return self.masks_of_assigned[name]

    def site(self, line: int, op: str, width: int = 1, variable: str = "") -> str:
        name = first_free(f"{variable or 'array'}_line_{self.at(line)}", self.module.site_names)
        self.sites.append(name)
        self.module.site_names.append(name)
        self.module.sites.append(SiteDeclaration(self.at(line), op, width, variable))
        return name

    def temporary(self, code: str, name: str = "value") -> Code:
        """Assign a value to a new name, which begins with ``name``."""
        name = self.new_name(name)
        self.emit(f"{name} = {code}")
        return Code(name, True, True)

    @contextmanager
    def under(self, mask: str) -> Iterator[None]:
        """Write for the lanes of ``mask``, if there are any."""
        outer_lines, outer_mask, outer_comment = self.lines, self.mask, self._comment
        inside: list[str] = []
        self.lines, self.mask, self._comment = inside, mask, ""
        with self.deeper():
            yield
        self.lines, self.mask, self._comment = outer_lines, outer_mask, outer_comment
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
        self.module.found_diverging_arrays |= holds_arrays(kind)
        return f"choose({mask}, {new}, {old})"

    def cast(self, code: str, have: Type, want: Type) -> str:
        """Code of a value converted from ``have`` to ``want``."""
        if have == want:
            return code
        if isinstance(have, TupleType) and isinstance(want, TupleType):
            items = ""
            for i, (of_item, to) in enumerate(zip(have.items, want.items, strict=True)):
                items += f"{self.cast(f'{code}[{i}]', of_item, to)}, "
            return f"({items})"
        if isinstance(want, OptionalType):
            return self._as_optional(code, have, want)
        if isinstance(want, ArrayType):
            return f"as_view({code})"
        return f"cast({code}, {self.module.dtype(str(want))})"

    def _as_optional(self, code: str, have: Type, want: OptionalType) -> str:
        """Code of a pair: does it have a value, and which."""
        if have == NONE:
            value = self.module.constant(DTYPE[want.of].type(0)) if want.of in SCALARS else "None"
            return f"(np.False_, {value})"
        if isinstance(have, OptionalType):
            return f"({code}[0], {self.cast(f'{code}[1]', have.of, want.of)})"
        return f"(np.True_, {self.cast(code, have, want.of)})"

    def next_program_point(self) -> str:
        """Code of this execution's place in program order: ordinals and iteration counts, outermost first."""
        self.ordinal += 1
        self.counted.update(self.path)
        return f"(*{self.program_point}, {', '.join([*self.path, str(self.ordinal)])})"


def holds_arrays(kind: Type) -> bool:
    if isinstance(kind, OptionalType):
        return isinstance(kind.of, ArrayType)
    return any(map(holds_arrays, kind.items)) if isinstance(kind, TupleType) else kind not in SCALARS


def as_name(text: str) -> str:
    """A text as a part of a name."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def tuple_code(items: Sequence[str]) -> str:
    """Code of a tuple of these items."""
    return f"({', '.join(items)}{',' * (len(items) == 1)})"


def first_free(base: str, taken: Container[str]) -> str:
    """``base``, or if that is taken the first of base_2, base_3 and so on that is not."""
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def tag(kind: Type) -> str:
    """Abbreviate a type, for the name of a variable's version."""
    if isinstance(kind, ArrayType):
        return f"{kind.dtype}_{kind.ndim}d{'_part' if kind.view else ''}"
    if isinstance(kind, OptionalType):
        return f"{tag(kind.of)}_or_none"
    if isinstance(kind, TupleType):
        return "tuple"
    return "records" if isinstance(kind, RecordsType) else kind
