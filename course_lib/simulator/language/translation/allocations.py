"""Calls that make shared, local and constant arrays; their shapes and types must be known at compile time."""

import ast
from math import prod

import numpy as np

from ...hardware import LOCAL_LIMIT
from ..program.builders import literal_integer
from ..program.nodes import Allocate, CompileTimeObject, ConstantArray, Expr, MakeTuple
from ..source.errors import SmallerItems, UnknownShape, refuse
from ..source.names import Symbol
from ..types.record_types import type_of_records, unfit_records
from ..types.types_of_objects import dtype_name
from ..types.value_types import DTYPE, NONE, ArrayType, RecordsType, TupleType
from . import array_members, tuples
from .refusals import bind_arguments
from .translation import Translation


def allocation(translation: Translation, node: ast.Assign, call: ast.expr) -> Expr | None:
    """The array of ``name = cuda.shared.array(...)`` or ``cuda.local.array(...)``; None for other calls."""
    space = space_of(translation, call)
    if space is None:
        return None
    assert isinstance(call, ast.Call)
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Name):
        refuse(node, f"give the {space} array one name: tile = cuda.{space}.array(...)")
    given = bind_arguments(call, f"cuda.{space}.array()", ("shape", "dtype", "alignment"), optional=1)
    in_place_of_dtype = translation.constant_object(given["dtype"]) or getattr(given["dtype"], "value", None)
    if isinstance(in_place_of_dtype, int):
        last = ast.unparse(given.get("alignment", ast.Name("float32")))
        sizes = f"{ast.unparse(given['shape'])}, {ast.unparse(given['dtype'])}"
        refuse(node, f"the shape is one argument, a tuple: write cuda.{space}.array(({sizes}), {last})")
    shape = _static_shape(translation, given["shape"], space)
    alignment = _alignment(translation, node, given["alignment"]) if "alignment" in given else 0
    records = _records_dtype(translation, given["dtype"])
    if records is not None:
        return _records(node, target.id, space, shape, records, alignment)
    dtype = _static_dtype(translation, given["dtype"])
    if shape == (0,) and space == "shared":
        return _dynamic(translation, node, target.id, dtype, alignment)
    _check_size(node, space, target.id, shape, DTYPE[dtype].itemsize)
    kind = ArrayType(dtype, len(shape))
    return Allocate(space=space, name=target.id, shape=shape, type=kind, line=node.lineno, alignment=alignment)


def _check_size(node: ast.Assign, space: str, name: str, shape: tuple[int, ...], itemsize: int) -> None:
    size = prod(shape) * itemsize
    if space == "local" and size > LOCAL_LIMIT:
        refuse(
            node,
            f"the local array {name!r} takes {size:,} bytes a thread, and a GPU allows "
            f"{LOCAL_LIMIT:,}; use a smaller one",
        )
    if min(shape, default=0) < 1:
        refuse(node, f"the {space} array {name!r} has shape {shape}; it needs a dimension, and each must be at least 1")


def _records(node: ast.Assign, name: str, space: str, shape: tuple[int, ...], dtype: np.dtype, alignment: int) -> Expr:
    """A shared or local array of records: an array for each field, in shared memory at its true addresses."""
    _check_size(node, space, name, shape, dtype.itemsize)
    records = np.zeros(shape, dtype)
    if reason := unfit_records(records):
        refuse(node, f"{name!r} {reason}")
    kind = type_of_records(records)
    offsets = {field: int(of[1]) for field, of in (dtype.fields or {}).items()}
    arrays: list[Expr] = []
    for number, (field, item) in enumerate(zip(kind.fields, kind.items, strict=True)):
        place = (number, offsets[field], dtype.itemsize, len(shape)) if space == "shared" else None
        array = Allocate(
            space=space,
            name=f"{name}.{field}",
            shape=records[field].shape,
            type=item,
            line=node.lineno,
            alignment=alignment,
            record=place,
        )
        arrays.append(array)
    return MakeTuple(items=tuple(arrays), type=kind)


def _records_dtype(translation: Translation, node: ast.expr) -> np.dtype | None:
    """The type of records that an array is made of, from NumPy or by numba's ``from_dtype``; None for others."""
    value = translation.expr(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    obj = value.obj if isinstance(value, CompileTimeObject) else None
    obj = obj if isinstance(obj, np.dtype) else getattr(obj, "dtype", None)
    return obj if isinstance(obj, np.dtype) and obj.names else None


def space_of(translation: Translation, node: ast.AST) -> str | None:
    """ "shared" or "local" if ``node`` is a call that makes such an array."""
    obj = translation.constant_object(node.func) if isinstance(node, ast.Call) else None
    return obj.path[0] if isinstance(obj, Symbol) and obj.path[1:] == ("array",) else None


def _dynamic(translation: Translation, node: ast.Assign, name: str, dtype: str, alignment: int) -> Expr:
    """The whole dynamic shared memory as an array; all such arrays share this memory."""
    facts = translation.facts
    count = facts.launch.dynamic_shared // DTYPE[dtype].itemsize
    if not count:
        refuse(
            node,
            f"{name!r} has shape 0: it is the launch's dynamic shared memory, which is none; give its bytes as the "
            "fourth number, as in [grid, block, 0, bytes]",
        )
    first = facts.dynamic = facts.dynamic or dtype
    if first != dtype and "bool" in (first, dtype):
        refuse(
            node, f"the dynamic shared memory is an array of {first}, and cannot be one of {dtype}; use uint8 for bool"
        )
    if DTYPE[first].itemsize > DTYPE[dtype].itemsize:
        raise SmallerItems(dtype)
    count = facts.launch.dynamic_shared // DTYPE[first].itemsize
    kind = ArrayType(first, 1)
    whole = Allocate(
        space="shared", name=name, shape=(count,), type=kind, line=node.lineno, dynamic=True, alignment=alignment
    )
    return whole if first == dtype else array_members.retyped(whole, dtype, node.lineno)


def constant_array(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``cuda.const.array_like(array)`` of an array of the module or of an enclosing function."""
    value = translation.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    parts = value.items if isinstance(value, MakeTuple) and isinstance(value.type, RecordsType) else [value]
    if value is None or not all(isinstance(part, ConstantArray) for part in parts):
        refuse(node, "cuda.const.array_like() takes one array from outside the kernel; give it a global's name")
    return value


def _alignment(translation: Translation, node: ast.Assign, part: ast.expr) -> int:
    """The alignment that a kernel asks for, 0 for none."""
    value = translation.expr(part)
    if value.type == NONE:
        return 0
    if (alignment := literal_integer(value)) is None:
        refuse(node, "the alignment must be a literal number of bytes, such as 16")
    if alignment < 1 or alignment & (alignment - 1):
        refuse(node, "the alignment must be a power of two, such as 16")
    return alignment


def _static_shape(translation: Translation, node: ast.expr, space: str) -> tuple[int, ...]:
    """The shape of a shared or local array, from values that numba knows when it types the kernel."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if not parts:
        refuse(node, f"a {space} array has at least one dimension; give it the shape 1")
    outside: list[object] = []
    for part in (node, *parts):
        obj = translation.constant_object(part)
        outside += obj if isinstance(obj, tuple) else (obj,)
    if any(isinstance(number, np.generic) for number in outside):
        refuse(node, f"numba takes no NumPy number in the shape {ast.unparse(node)}; make it an int outside the kernel")
    if not isinstance(node, ast.Tuple):
        value = translation.expr(node)
        if isinstance(value.type, TupleType):
            sizes = [tuples.constant_integer(item) for item in tuples.items(value)]
            known = tuple(size for size in sizes if size is not None)
            if len(known) == len(sizes):
                return known
    shape = []
    for part in parts:
        value = translation.expr(part)
        of_literals = all(isinstance(each, (ast.Constant, ast.operator, ast.BinOp)) for each in ast.walk(part))
        if isinstance(part, ast.BinOp) and not of_literals:
            refuse(
                part,
                f"numba does not fold {ast.unparse(part)} in the shape of a {space} array; give it "
                "a name outside the kernel and use the name",
            )
        if (size := literal_integer(value)) is None:
            raise UnknownShape(
                f"the shape of a {space} array must be known when the kernel is compiled, and "
                f"{ast.unparse(part)} is not: use a literal, a global or a closure variable",
                part.lineno,
            )
        shape.append(size)
    return tuple(shape)


def _static_dtype(translation: Translation, node: ast.expr) -> str:
    """The type of an array's elements: a type of numba or NumPy, a dtype, or the name of one."""
    if isinstance(node, ast.Call) and translation.constant_object(node.func) is np.dtype and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Constant):
        obj: object = node.value
    else:
        value = translation.expr(node)
        obj = value.obj if isinstance(value, CompileTimeObject) else None
    if isinstance(obj, str):
        try:
            obj = np.dtype(obj)
        except TypeError:
            obj = None
    name = dtype_name(obj)
    if name is None:
        refuse(
            node,
            f"{ast.unparse(node)} is not a type that the simulator runs; use float32, float64, an integer type or bool",
        )
    if isinstance(obj, type) and obj in (int, float, bool, complex):  # a NumPy dtype may be equal to one
        refuse(
            node,
            f"numba does not take {ast.unparse(node)} as the type of an array; write "
            f"{'boolean' if obj is bool else name}",
        )
    return name
