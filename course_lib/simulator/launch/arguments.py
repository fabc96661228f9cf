"""The arguments of a launch, converted for the kernel, and their types for its translation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..device_memory import AllocationView
from ..findings import LaunchError, LaunchTypeError
from ..formatting import plural
from ..language.source.function import Source
from ..language.types import decorator_signatures
from ..language.types.float64_reasons import Reason
from ..language.types.record_types import type_of_records, unfit_records
from ..language.types.types_of_objects import of_value
from ..language.types.value_types import SCALARS, ArrayType, TupleType, TypingError
from ..language.types.variables import Variable, Variables
from ..runtime.arithmetic import cast
from ..runtime.memory import AllocatedArray, FieldArray, GlobalArray


def convert_arguments(kernel: object, source: Source, arguments: Sequence[Any]) -> tuple[tuple[Any, ...], Variables]:
    """Return the arguments as the kernel sees them, and the type of each, by name, for the translation.

    The kernel's signature, if it has one, converts the numbers. Raises LaunchError for arguments that it cannot take.
    """
    names = source.parameters
    check_count(source, len(arguments))
    values = tuple(convert_argument(name, value) for name, value in zip(names, arguments, strict=True))
    mark_aliases(arrays_in(values))
    variables: Variables = {}
    for name, argument, value in zip(names, arguments, values, strict=True):
        variables[name] = variable_of(name, argument, value)
    try:
        declared = decorator_signatures.declared(kernel, source)
        if not declared:
            return values, variables
        types = tuple(variable.type for variable in variables.values())
        layouts = tuple(map(layout_of, values))
        chosen = decorator_signatures.choose(declared, types, source.name, layouts)
    except TypingError as error:
        raise LaunchError(str(error)) from None
    converted = []
    for value, (name, variable), kind in zip(values, variables.items(), chosen.arguments, strict=True):
        converted.append(cast(value, np.dtype(kind)) if isinstance(kind, str) else value)
        if variable.type != kind:
            variables[name] = Variable(kind)
    return tuple(converted), variables


def layout_of(value: Any) -> decorator_signatures.ArrayLayout | None:
    """Return how an array lies in memory, as numba says it of an argument; None of a number."""
    if not isinstance(value, GlobalArray):
        return None
    flags = value.host.flags
    if flags.c_contiguous:
        order = "C"
    elif flags.f_contiguous:
        order = "F"
    else:
        order = "A"
    return decorator_signatures.ArrayLayout(order, flags.writeable)


def check_count(source: Source, given: int) -> None:
    """Raise LaunchTypeError unless each parameter is given an argument: a GPU's launch fills in no defaults."""
    names, defaults = source.parameters, source.function.__defaults__ or ()
    if given == len(names):
        return
    more = "; a launch on a GPU fills in no defaults, by numba and by numba-cuda: pass them, too"
    left = len(names) - len(defaults) <= given < len(names)
    raise LaunchTypeError(
        f"{source.name} takes {plural(len(names), 'argument')} ({', '.join(names)}) and was given {given}{more * left}"
    )


def convert_argument(name: str, value: Any) -> Any:
    """Convert an argument to what the kernel sees. Raises LaunchError.

    That is a GlobalArray, a NumPy scalar, or a tuple of them: of a tuple's items, or of the fields of records.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise LaunchError(f"the array {name!r} is a masked array, and a GPU knows no masks; pass .filled(...)")
    if isinstance(value, AllocationView):
        return convert_allocation(name, value)
    if isinstance(value, np.void) and value.dtype.names:
        record = np.asarray(value)
        if record.base is not value:  # a copy, which no kernel should change in place of the record
            record.flags.writeable = False
        return convert_records(name, record)
    if isinstance(value, np.ndarray):
        value = np.asarray(value)
        if value.dtype.names:
            return convert_records(name, value)
        check_type(name, value.dtype)
        check_contiguous(name, value)
        return GlobalArray(name, value)
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None) or range(len(value))
        named = (f"{name}.{field}" if isinstance(field, str) else f"{name}[{field}]" for field in fields)
        return tuple(convert_argument(item, part) for item, part in zip(named, value, strict=True))
    kind = of_value(value)
    if kind is None:
        what = "an int beyond 64 bits" if type(value) is int else f"a {type(value).__name__}"
        raise LaunchError(
            f"the argument {name!r} is {what}; a kernel takes NumPy arrays, numbers and tuples of them: int, float, "
            f"complex, bool or NumPy's {', '.join(SCALARS[1:])}"
        )
    return np.dtype(kind).type(value)


def convert_allocation(name: str, array: AllocationView) -> GlobalArray | tuple[FieldArray, ...]:
    """An array in a GPU's memory, which may have any strides."""
    memory, values = array.allocation, array.values
    if values.dtype.names:
        of_bytes = memory.written[array.offset :][: values.nbytes]
        return convert_records(name, values, of_bytes)
    check_type(name, values.dtype)
    if array.copied:
        check_contiguous(name, values)
    return AllocatedArray(name, values, memory.bytes, memory.written, array.offset, array.copied)


def check_type(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.name not in SCALARS or not dtype.isnative:
        raise LaunchError(
            f"the array {name!r} has dtype {dtype}; the simulator runs {', '.join(SCALARS)} "
            "in native byte order: convert it with .astype()"
        )


def check_contiguous(name: str, array: np.ndarray) -> None:
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise LaunchError(
            f"the array {name!r} is not contiguous, and numba does not copy such an array to the "
            "GPU; pass np.ascontiguousarray(...)"
        )


def convert_records(name: str, records: np.ndarray, written: np.ndarray | None = None) -> tuple[FieldArray, ...]:
    """An array of records, as an array for each field. ``written``: which of its bytes are."""
    check_contiguous(name, records)
    if reason := unfit_records(records):
        raise LaunchError(f"the array of records {name!r} {reason}")
    return tuple(FieldArray(f"{name}.{field}", records, field, written) for field in records.dtype.names or ())


def arrays_in(values: Sequence[Any]) -> list[GlobalArray]:
    """The arrays among arguments, and in their tuples."""
    found: list[GlobalArray] = []
    for value in values:
        if isinstance(value, tuple):
            found += arrays_in(value)
        elif isinstance(value, GlobalArray):
            found.append(value)
    return found


def fields_of_same_records(one: GlobalArray, other: GlobalArray) -> bool:
    """Whether two arrays are fields of one array of records: they share its memory, and no element."""
    return isinstance(one, FieldArray) and isinstance(other, FieldArray) and one.records is other.records


def mark_aliases(arrays: Sequence[GlobalArray]) -> None:
    """Mark the arguments that share memory.

    Those in a GPU's memory share their keys; others the kernel may read, but not write to them.
    """
    for i, array in enumerate(arrays):
        for other in arrays[:i]:
            if isinstance(array, AllocatedArray) and array.shares_keys(other):
                array.memory = other.memory
            elif not fields_of_same_records(array, other) and np.may_share_memory(array.host, other.host):
                array.aliases, other.aliases = other.name, array.name
    for array in arrays:
        array.names = tuple(each.name for each in arrays if each.memory is array.memory)


def variable_of(name: str, argument: Any, value: Any) -> Variable:
    """The type of an argument, for the translation: ``argument`` as it was given, ``value`` as the kernel sees it."""
    if isinstance(value, GlobalArray):
        return Variable(ArrayType(value.dtype.name, value.ndim))
    if isinstance(argument, (np.ndarray, np.void, AllocationView)) and isinstance(value, tuple):
        return Variable(type_of_records(np.asarray(argument)))
    if isinstance(value, tuple):
        pairs = enumerate(zip(argument, value, strict=True))
        items = [variable_of(f"{name}[{i}]", given, taken) for i, (given, taken) in pairs]
        reasons = tuple(item.why for item in items)
        fields = tuple(getattr(argument, "_fields", ()))
        return Variable(TupleType(tuple(item.type for item in items), fields), reasons if any(reasons) else None)
    python = type(argument) in (float, complex)
    origin = Reason(f"{name}, a Python {type(argument).__name__} argument") if python else None
    return Variable(value.dtype.name, origin)
