"""The first block of a traced launch, run again by the kernel's machine code: the streams of its warps."""

from inspect import getclosurevars
from types import FunctionType
from typing import Any

import numpy as np

from ...simulator.runtime.arrays import c_strides
from ...trace.trace import Trace
from ..machine_code import machine_code, run_block
from ..machine_code.emulator import BlockRun
from .from_machine_code import block_streams
from .instruction_streams import Instruction


def traced_streams(kernel: Any, trace: Trace | None) -> list[list[Instruction]]:
    """Return the streams of instructions of all warps of the first block of a traced launch.

    Raise ValueError if the trace is not of a launch of this kernel, if there is no machine code for it
    (`machine_code.NoMachineCode`), and for an instruction that the model does not know.

    >>> A, B, C = matrices(16, 16, 16)
    >>> kernel = rung("tiled").make(tile_width=8)
    >>> run = simulate(kernel, trace=True)[(2, 2), (8, 8)](A, B, C)
    >>> len(timing_model.traced_streams(kernel, run.trace))
    2
    """
    return block_streams(block_run(kernel, trace))


def block_run(kernel: Any, trace: Trace | None) -> BlockRun:
    """Run the first block of a traced launch again, by the kernel's machine code."""
    if not isinstance(trace, Trace):
        raise TypeError(
            f"streams of instructions are made of the trace of a run, not {type(trace).__name__}: "
            "simulate(kernel, trace=True)[grid, block](...).trace"
        )
    if trace.program is None:
        raise ValueError(f"this trace of {trace.kernel_name} was made by hand; take that of simulate(..., trace=True)")
    _check_kernel(getattr(kernel, "py_func", kernel), trace.program.source.function)
    names = [name for name, _ in trace.program.parameters]
    arguments = [_argument(trace, name) for name in names]
    code = machine_code(kernel, tuple(arguments))
    dynamic = max(0, shared_bytes(trace) - code.shared_bytes)
    return run_block(code, arguments, trace.block, trace.grid, names=names, dynamic_bytes=dynamic)


def shared_bytes(trace: Trace) -> int:
    """Return the bytes of a block's shared arrays."""
    shared = [array for array in trace.arrays.values() if array.space == "shared"]
    return sum(array.size * np.dtype(array.dtype).itemsize for array in shared)


def _argument(trace: Trace, name: str) -> Any:
    if name not in trace.arrays:
        value = trace.scalars.get(name)
        if value is None or isinstance(value, tuple):
            raise ValueError(f"the timing model takes kernels of arrays and numbers, and {name} is neither")
        return value
    array = trace.arrays[name]
    assert array.initial is not None  # as of every global array
    if tuple(array.strides) == c_strides(array.shape):
        return np.array(array.initial, order="C")
    if tuple(array.strides) == c_strides(array.shape[::-1])[::-1]:
        return np.array(array.initial, order="F")
    raise ValueError(f"{name} has gaps between its elements; the timing model takes whole arrays")


def _check_kernel(plain: FunctionType, traced: FunctionType) -> None:
    """Raise ValueError if another kernel was traced, or this one with other values in its closure."""
    name = plain.__name__
    if traced.__name__ != name:
        raise ValueError(f"this trace is not of {name} but of {traced.__name__}; trace the kernel first")
    if traced.__code__ != plain.__code__:
        raise ValueError(f"{name} has changed since this trace; trace it again")
    if others := _other_values(plain, traced):
        raise ValueError(f"this trace is of {name} with another {' and '.join(others)}; trace this one")


def _other_values(one: FunctionType, other: FunctionType) -> list[str]:
    """Return the names in the closures of two functions of the same code that have different values."""
    a, b = (getclosurevars(function).nonlocals for function in (one, other))
    return [name for name in a if a[name] is not b[name] and not _same(a[name], b[name])]


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same to a kernel: functions of the same code are."""
    plain, traced = (getattr(value, "py_func", value) for value in (one, other))
    if isinstance(plain, FunctionType) and isinstance(traced, FunctionType):
        return plain.__code__ == traced.__code__
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else bool(one is other or one == other)
