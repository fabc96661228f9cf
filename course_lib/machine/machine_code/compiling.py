"""Compile a kernel with numba-cuda, nvJitLink and nvdisasm, as a launch would, on a machine without a GPU."""

import inspect
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

from ...lazy import install
from ..patched_attributes import replaced
from .identity import HOPPER, functions_of
from .instructions import MachineCode, from_listing

PACKAGES = ("numba", "numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm")
#: Options of a dispatcher that change the code, and what they are for a plain function.
OPTIONS = {"fastmath": False, "opt": True, "max_registers": None, "launch_bounds": None}
#: What the assembler says of a kernel.
RESOURCES = {
    "registers": r"Used (\d+) registers",
    "shared_bytes": r"(\d+) bytes smem",
    "stack_bytes": r"(\d+) bytes stack frame",
    "spilled_bytes": r"(\d+) bytes spill stores",
}


def versions() -> dict[str, str]:
    """Return the versions of the compiler's packages; raise PackageNotFoundError if one is not installed."""
    return {name: version(name) for name in PACKAGES}


def available() -> bool:
    """Whether kernels can be compiled here: all are installed, and numba's own simulator is not in their place.

    >>> machine_code.available() in (True, False)
    True
    """
    try:
        versions()
    except PackageNotFoundError:
        return False
    from numba import config

    return not config.ENABLE_CUDASIM


def options_of(kernel: Any) -> dict[str, Any]:
    """Return the options of a kernel's decorator that change its code."""
    given = getattr(kernel, "targetoptions", {})
    return {name: given.get(name, default) for name, default in OPTIONS.items()}


def compiled(kernel: Any, types: Sequence[Any]) -> MachineCode:
    """Return the machine code for arguments of these numba types.

    Raises numba's errors for a kernel that it does not compile, and RuntimeError if linking fails.
    """
    options = options_of(kernel)
    plain = getattr(kernel, "py_func", kernel)
    cubin, log = _link(_intermediate(plain, types, options), options)
    used: dict[str, Any] = {name: max(map(int, re.findall(each, log)), default=0) for name, each in RESOURCES.items()}
    known = functions_of(plain)
    by_file: dict[str, dict[str, tuple[int, int]]] = {}
    for name, function in known.items():
        file, first, last = _extent(function)
        # the compiler puts a name that is no path, as a console's cell has, into the folder of the process
        by_file.setdefault(os.path.join(os.getcwd(), file), {})[name] = first, last
    return MachineCode(
        kernel=plain.__name__,
        instructions=from_listing(disassembled(cubin), by_file),
        **used,
        versions=versions(),
        first_lines={name: _extent(function)[:2] for name, function in known.items()},
    )


def _extent(function: FunctionType) -> tuple[str, int, int]:
    """Return a function's file, and its first and last line."""
    lines, first = inspect.getsourcelines(function)
    return function.__code__.co_filename, first, first + len(lines) - 1


def _intermediate(plain: FunctionType, types: Sequence[Any], options: Mapping[str, Any]) -> bytes:
    """Return what libNVVM makes of the kernel for optimization at link time, as a launch does."""
    from numba import cuda
    from numba.core import types as numba_types

    with _without_device():
        code, _ = cuda.compile(
            plain,
            numba_types.void(*types),
            device=False,
            lineinfo=True,
            fastmath=options["fastmath"],
            opt=options["opt"],
            launch_bounds=options["launch_bounds"],
            cc=(*HOPPER, "a"),
            abi="numba",
            output="ltoir",
        )
    return bytes(code)


def _without_device() -> AbstractContextManager[None]:
    """Let device functions be compiled for this capability: numba-cuda asks the current device, and there is none.

    They get line information, too, which its own decorators have to ask for.
    """
    from numba.cuda import dispatcher

    compile_cuda = dispatcher.compile_cuda
    return replaced(
        dispatcher,
        get_current_device=lambda: SimpleNamespace(compute_capability=HOPPER),
        compile_cuda=lambda *args, **options: compile_cuda(*args, **{**options, "lineinfo": True}),
    )


def _link(code: bytes, options: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return the binary that nvJitLink makes, and what its assembler says of registers and memory."""
    from cuda.bindings import nvjitlink

    flags = ["-arch=sm_{}{}a".format(*HOPPER), "-lto", "-lineinfo", "-verbose", "-Xptxas=-v"]
    if options["max_registers"]:
        flags.append(f"-maxrregcount={options['max_registers']}")
    handle = nvjitlink.create(len(flags), flags)
    try:
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, code, len(code), "kernel")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            said = bytearray(nvjitlink.get_error_log_size(handle))
            nvjitlink.get_error_log(handle, said)
            raise RuntimeError(f"linking failed: {said.decode(errors='replace').strip(chr(0))}") from error
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        nvjitlink.get_info_log(handle, log)
    finally:
        nvjitlink.destroy(handle)
    return bytes(cubin), log.decode(errors="replace")


def disassembled(cubin: bytes) -> str:
    """Return what nvdisasm prints of a binary: instructions with their bits, and the lines of their source."""
    from cuda import pathfinder

    program = pathfinder.find_nvidia_binary_utility("nvdisasm")
    if program is None:
        raise RuntimeError(f"nvdisasm is not found; `{install('compiler')}` installs it")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        done = subprocess.run([program, "-c", "-hex", "-gi", file], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"nvdisasm failed: {done.stderr.strip()}")
    return done.stdout
