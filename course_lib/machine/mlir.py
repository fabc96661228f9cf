"""The same kernels compiled by numba-cuda-mlir, the successor of numba-cuda.

    python -m course_lib.mlir verify ladder      # the commands of `python -m course_lib.gpu`, with this compiler

    from course_lib import mlir                  # in a program of your own, before anything imports numba
    mlir.use()                                   # from here on, `numba` is numba-cuda-mlir in this process

Kernels stay as they are: the package takes them unchanged, and its modules mirror those of numba. It defines types of
its own, so numba itself must not be imported as well.

An intrinsic of the course writes instructions by methods of llvmlite's builder. numba-cuda-mlir has no such builder:
an intrinsic writes operations of MLIR's LLVM dialect there. `Builder` and `TargetContext` offer the methods that the
intrinsics call, and write the operation of the same name, so that each intrinsic is written once for both compilers.
Source: the documentation and the Python modules of numba-cuda-mlir 0.6; MLIR, "LLVM dialect".
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import ModuleType, SimpleNamespace
from typing import Any

from llvmlite import ir as llvmlite_ir

INT64 = llvmlite_ir.IntType(64)
PACKAGE = "numba_cuda_mlir"
#: What stands in the list of indices of MLIR's `getelementptr` for an index that is an operand.
DYNAMIC_INDEX = -(2**31)
#: What kernels and the GPU's side import from numba itself.
TYPES = "boolean float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


def use() -> None:
    """Let `import numba` give numba-cuda-mlir in this process; ImportError where that is too late, or not installed."""
    if any(isinstance(finder, Redirector) for finder in sys.meta_path):
        return
    if find_spec(PACKAGE) is None:
        raise ImportError("numba-cuda-mlir is not installed; install this course with its extra `mlir13` or `mlir12`")
    if "numba" in sys.modules:
        raise ImportError("numba was imported before; choose numba-cuda-mlir first, in a process of its own")
    sys.meta_path.insert(0, Redirector())


class Redirector(MetaPathFinder, Loader):
    """Finds the modules `numba` and `numba.…` in numba-cuda-mlir."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec that this object loads, for numba's modules alone."""
        return spec_from_loader(name, self, is_package=True) if name.split(".")[0] == "numba" else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of numba-cuda-mlir with the name after `numba`."""
        if spec.name == "numba":
            return top_level()
        if spec.name == "numba.extending":
            module = ModuleType(spec.name)
            module.__dict__.update(intrinsic=intrinsic)
            return module
        rest = spec.name.removeprefix("numba")
        for place in (f"{PACKAGE}{rest}", f"{PACKAGE}.numba_cuda{rest.removeprefix('.cuda')}"):
            try:
                return importlib.import_module(place)
            except ModuleNotFoundError as error:
                if error.name is None or not place.startswith(error.name):
                    raise
        raise ModuleNotFoundError(f"numba-cuda-mlir has no module for {spec.name}", name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is there already."""


def top_level() -> ModuleType:
    """Return what the course imports from `numba`."""
    module = ModuleType("numba")
    cuda: Any
    cuda, types = (importlib.import_module(f"{PACKAGE}.{name}") for name in ("cuda", "numba_cuda.types"))
    add_threadfence()
    if hopper():
        cuda.jit = functools.partial(for_hopper, cuda.jit)
    config = SimpleNamespace(ENABLE_CUDASIM=False)  # it has no simulator
    module.__dict__.update(cuda=cuda, types=types, config=config, **{name: getattr(types, name) for name in TYPES})
    return module


def add_threadfence() -> None:
    """Let kernels call `cuda.threadfence()`: numba-cuda-mlir 0.6 knows its type, and no instruction for it."""
    extending = importlib.import_module(f"{PACKAGE}.extending")
    stub = importlib.import_module(f"{PACKAGE}.numba_cuda.stubs").threadfence

    @extending.lower_builtin(stub)
    def write(lowering: Any, target: Any, args: Any, kwargs: Any) -> None:
        nothing = llvmlite_ir.FunctionType(llvmlite_ir.VoidType(), [])
        Builder(lowering).asm(nothing, "membar.gl;", "~{memory}", (), side_effect=True)
        lowering.store_var(target, None)


def hopper() -> bool:
    """Return whether this machine's GPU is a Hopper."""
    try:
        return importlib.import_module(f"{PACKAGE}.tools").get_gpu_compute_capability(tuple)[:2] == (9, 0)
    except importlib.import_module(f"{PACKAGE}.numba_cuda.cudadrv.error").CudaSupportError:
        return False


def for_hopper(jit: Any, *function: Any, **options: Any) -> Any:
    """Decorate a kernel as `jit` does, with the instructions that only Hopper has: numba-cuda adds them by itself."""
    options = {"chip": "sm_90a", **options}
    if function and callable(function[0]):
        return jit(**options)(*function)
    return jit(*function, **options)  # with a signature, or with nothing


def intrinsic(*function: Any, **options: Any) -> Any:
    """Decorate a typing function as `numba.extending.intrinsic` does; what it generates is written by `Builder`."""
    made = importlib.import_module(f"{PACKAGE}.numba_cuda.extending")._intrinsic(target="cuda", **options)
    refresh = importlib.import_module(f"{PACKAGE}.extending").refresh_registries

    def decorate(typer: Any) -> Any:
        @functools.wraps(typer)
        def typed(typingctx: Any, *kinds: Any) -> Any:
            chosen = typer(typingctx, *kinds)
            if chosen is None:
                return None
            signature, generate = chosen

            def write(lowering: Any, target: Any, args: Any, kwargs: Any) -> None:
                given = [argument(lowering, lowering.get_numba_type(v), lowering.load_var(v)) for v in args]
                starred = [i for i, kind in enumerate(signature.args) if type(kind).__name__.startswith("StarArg")]
                for i in starred:  # one argument to numba, but its items are passed one by one
                    given[i:] = [tuple(given[i:])]
                lowering.store_var(
                    target, result(generate(TargetContext(lowering), Builder(lowering), signature, given))
                )

            return signature, write

        known = made(typed)
        refresh(target=False, include_uninitialized_cuda=False)  # it may come after the first compilation
        return known

    return decorate(*function) if function else decorate


@dataclass(frozen=True)
class Value:
    """A number, pointer or vector of MLIR, with its type as llvmlite writes it."""

    value: Any
    type: Any


@dataclass(frozen=True)
class ArrayValue:
    """An array in a kernel: a pointer to its first element, and the bytes between neighbours in each dimension."""

    data: Value
    strides: tuple[Value, ...]


class TargetContext:
    """The methods of a target context of numba that the intrinsics of the course call."""

    def __init__(self, lowering: Any) -> None:
        self.lowering = lowering

    def cast(self, builder: Builder, value: Value, kind: Any, to: Any) -> Value:
        """Return the number converted from one of numba's types to another."""
        return number(self.lowering.mlir_convert(value.value, self.lowering.get_mlir_type(to)), to)

    def make_array(self, kind: Any) -> Any:
        """Return a function that returns the `ArrayValue` of a value of this type."""

        def described(context: TargetContext, builder: Builder, value: Any) -> ArrayValue:
            mlir, size = dialects(), kind.dtype.bitwidth // 8
            pointer = mlir.help.memref_data_pointer(value)
            strides = mlir.memref.extract_strided_metadata(value)[2 + kind.ndim : 2 + 2 * kind.ndim]
            in_bytes = (builder.mul(Value(mlir.help.convert(s, type_of(INT64)), INT64), INT64(size)) for s in strides)
            return ArrayValue(Value(pointer, number(None, kind.dtype).type.as_pointer()), tuple(in_bytes))

        return described

    def make_tuple(self, builder: Builder, kind: Any, values: Sequence[Value]) -> tuple[Value, ...]:
        """Return the values as a tuple of the kernel."""
        return tuple(values)

    def get_dummy_value(self) -> None:
        """Return the result of a function without one."""


class Builder:
    """The methods of llvmlite's builder that the intrinsics of the course call."""

    def __init__(self, lowering: Any) -> None:
        self.lowering = lowering

    @property
    def module(self) -> Any:
        """The kernel's module, with its shared arrays as `global_values`."""
        block = self.lowering.mlir_gpu_module.bodyRegion.blocks[0]
        return SimpleNamespace(global_values=[Shared(op) for op in block.operations if op.name == "memref.global"])

    def asm(self, kind: Any, text: str, constraints: str, operands: Sequence[Any], side_effect: bool = False) -> Value:
        """Write one line of the GPU's assembly."""
        values = [given(operand).value for operand in operands]
        made = dialects().llvm.inline_asm(
            type_of(kind.return_type), values, text, constraints, has_side_effects=side_effect
        )
        return Value(made, kind.return_type)

    def extract_value(self, whole: Any, index: int) -> Value:
        """Return an item of a tuple or a structure."""
        if isinstance(whole, tuple):
            return whole[index]
        kind = whole.type.elements[index]
        return Value(dialects().llvm.extractvalue(type_of(kind), whole.value, [index]), kind)

    def extract_element(self, vector: Value, index: Any) -> Value:
        """Return an element of a vector."""
        return Value(dialects().llvm.extractelement(vector.value, given(index).value), vector.type.element)

    def insert_element(self, vector: Any, value: Value, index: Any) -> Value:
        """Return the vector with another element."""
        changed = dialects().llvm.insertelement(given(vector).value, value.value, given(index).value)
        return Value(changed, vector.type)

    def load(self, pointer: Value, align: int | None = None) -> Value:
        """Load what the pointer points to."""
        kind = pointer.type.pointee
        return Value(dialects().llvm.load(type_of(kind), pointer.value, alignment=align), kind)

    def store(self, value: Value, pointer: Value, align: int | None = None) -> None:
        """Store a value."""
        dialects().llvm.store(value.value, pointer.value, alignment=align)

    def gep(self, pointer: Value, indices: Sequence[Any]) -> Value:
        """Return the pointer to the element so many elements after that of `pointer`."""
        kind, of = type_of(pointer.type), type_of(pointer.type.pointee)
        index = [given(i).value for i in indices]
        made = dialects().llvm.getelementptr(kind, pointer.value, index, [DYNAMIC_INDEX], of, None)
        return Value(made, pointer.type)

    def bitcast(self, value: Value, kind: Any) -> Value:
        """Return the same bits as another type; pointers of MLIR have no type of what they point to."""
        same = isinstance(kind, llvmlite_ir.PointerType)
        return Value(value.value if same else dialects().llvm.bitcast(type_of(kind), value.value), kind)

    def addrspacecast(self, pointer: Value, kind: Any) -> Value:
        """Return the pointer in another address space."""
        if pointer.type.addrspace == kind.addrspace:
            return Value(pointer.value, kind)
        return Value(dialects().llvm.addrspacecast(type_of(kind), pointer.value), kind)

    def ptrtoint(self, pointer: Value, kind: Any) -> Value:
        """Return a pointer's number."""
        return Value(dialects().llvm.ptrtoint(type_of(kind), pointer.value), kind)

    def zext(self, value: Value, kind: Any) -> Value:
        """Return an unsigned number as a longer one."""
        return Value(dialects().arith.extui(type_of(kind), value.value), kind)

    def trunc(self, value: Value, kind: Any) -> Value:
        """Return the low bits of a number as a shorter one."""
        return Value(dialects().arith.trunci(type_of(kind), value.value), kind)

    def select(self, condition: Value, yes: Any, no: Any) -> Value:
        """Return one of two numbers."""
        yes, no = given(yes), given(no)
        return Value(dialects().arith.select(condition.value, yes.value, no.value), yes.type)

    def __getattr__(self, name: str) -> Any:
        operation = OPERATIONS.get(name)
        if operation is None:
            raise AttributeError(f"{name} of llvmlite's builder is not written for MLIR; add it to {__name__}.Builder")

        def combine(left: Any, right: Any) -> Value:
            left, right = given(left), given(right)
            return Value(getattr(dialects().arith, operation)(left.value, right.value), left.type)

        return combine


#: llvmlite's names of operations on two numbers, and those of MLIR's dialect arith.
OPERATIONS = {
    "add": "addi",
    "mul": "muli",
    "udiv": "divui",
    "and_": "andi",
    "or_": "ori",
    "shl": "shli",
    "lshr": "shrui",
}


class Shared:
    """A shared array of a kernel's module, whose alignment can be changed."""

    addrspace = 3

    def __init__(self, operation: Any) -> None:
        self.operation = operation

    @property
    def align(self) -> int:
        """The bytes on whose multiple the array begins."""
        return int(self.operation.attributes["alignment"].value)

    @align.setter
    def align(self, size: int) -> None:
        ir = dialects().ir
        self.operation.attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size)


def number(value: Any, kind: Any) -> Value:
    """Return a number of one of numba's types as a `Value`."""
    named = {"float32": llvmlite_ir.FloatType(), "float64": llvmlite_ir.DoubleType(), "bool": llvmlite_ir.IntType(1)}
    return Value(value, named.get(str(kind)) or llvmlite_ir.IntType(kind.bitwidth))


def given(operand: Any) -> Value:
    """Return an operand as a `Value`: a constant of llvmlite is written."""
    if isinstance(operand, Value):
        return operand
    mlir, kind = dialects(), operand.type
    if isinstance(kind, llvmlite_ir.VectorType):  # the course writes no other constant vector
        return Value(mlir.llvm.mlir_undef(type_of(kind)), kind)
    sign = 1 << kind.width - 1
    unsigned = operand.constant & (2 * sign - 1)
    return Value(mlir.arith.constant(type_of(kind), (unsigned ^ sign) - sign), kind)


def argument(lowering: Any, kind: Any, value: Any) -> Any:
    """Return what `generate` gets of a value of the kernel: numbers as `Value`, tuples of them, arrays as they are."""
    if hasattr(kind, "types"):
        return tuple(argument(lowering, of, item) for of, item in zip(kind.types, value, strict=True))
    return number(value, kind) if str(kind) == "bool" or hasattr(kind, "bitwidth") else value


def result(value: Any) -> Any:
    """Return what the kernel gets of a result."""
    if isinstance(value, Value):
        return value.value
    return tuple(map(result, value)) if isinstance(value, tuple) else value


@functools.cache
def dialects() -> Any:
    """Return MLIR's `ir` and the dialects that are written."""
    load = importlib.import_module
    names = SimpleNamespace(ir=load(f"{PACKAGE}._mlir.ir"), help=load(f"{PACKAGE}.lowering_utilities"))
    for name in ("arith", "llvm", "memref"):
        setattr(names, name, load(f"{PACKAGE}._mlir.dialects.{name}"))
    return names


def type_of(kind: Any) -> Any:
    """Return MLIR's type for one of llvmlite's: a number, a pointer, a vector or a structure; None for void."""
    mlir = dialects()
    if isinstance(kind, llvmlite_ir.VoidType):
        return None
    if isinstance(kind, llvmlite_ir.PointerType):
        return mlir.llvm.PointerType.get(kind.addrspace)
    if isinstance(kind, llvmlite_ir.VectorType):
        return mlir.ir.VectorType.get([kind.count], type_of(kind.element))
    if isinstance(kind, llvmlite_ir.LiteralStructType):
        return mlir.llvm.StructType.get_literal([type_of(element) for element in kind.elements])
    return mlir.ir.Type.parse({"float": "f32", "double": "f64"}.get(str(kind), str(kind)))


def main() -> int:
    """Run a command of `course_lib.machine.gpu` with kernels that numba-cuda-mlir compiles; return its exit status."""
    try:
        use()
    except ImportError as reason:
        print(reason, file=sys.stderr)
        return 2
    from .gpu.command import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
