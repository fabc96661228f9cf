"""The machine code of a kernel, wherever it is: compiled before, recorded, or compiled now."""

from collections.abc import Hashable, Sequence
from typing import Any

from ...lazy import install
from ...simulator.device_memory import AllocationView
from ...simulator.language.types import stand_in_types
from .compiling import available as available
from .compiling import compiled, options_of
from .identity import digest, lines_of
from .instructions import MachineCode
from .recorded import recorded

#: By the kernel's text with all that it is compiled from, and by the lines in which it stands.
_found: dict[tuple[str, Hashable], MachineCode] = {}


class NoMachineCode(ValueError):
    """There is neither a compiler nor recorded code for a kernel.

    >>> @cuda.jit
    ... def unknown(x):
    ...     x[0] = 41
    >>> try:
    ...     found = machine_code.machine_code(unknown, (np.zeros(1, np.float32),)).registers > 0
    ... except machine_code.NoMachineCode:
    ...     found = not machine_code.available()
    >>> found
    True
    """


def how() -> str:
    """Return how to get the compiler, in one sentence."""
    command = install("compiler")
    return f"`{command}` installs NVIDIA's compiler (Linux or Windows, no GPU needed); Binder and Codespaces have it"


def machine_code(kernel: Any, arguments: Any) -> MachineCode:
    """Return the MachineCode of a kernel, a numba dispatcher or a plain function, for compute capability 9.0.

    arguments: what a launch would give it, arrays and numbers, or a numba signature, as a text or a tuple of types.
    The code is what a launch with the same numba-cuda would run; it is kept for the same text in the same lines. Raise
    NoMachineCode if it is not recorded and no compiler is installed, and ValueError for a kernel that the compiler
    refuses.

    >>> code = machine_code.machine_code(rung("naive").make(), matrices(8, 8, 8))
    >>> len(code.instructions) > 50
    True
    """
    types = types_of(arguments)
    try:
        text = digest(kernel, types, options_of(kernel))
        key = text, lines_of(kernel)
    except OSError as error:
        raise NoMachineCode(f"the text of {getattr(kernel, '__name__', 'this kernel')} is not known here") from error
    if key not in _found:
        code = _compile(kernel, types) if available() else recorded(text, kernel)
        if code is None:
            raise NoMachineCode(f"there is no machine code for this kernel here: {how()}")
        _found[key] = code
    return _found[key]


def _compile(kernel: Any, types: Sequence[Any]) -> MachineCode:
    from numba.core.errors import NumbaError

    try:
        return compiled(kernel, types)
    except (NumbaError, RuntimeError) as error:
        name = getattr(kernel, "__name__", "this kernel")
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        # numba names the step that failed first, then what is wrong
        reason = next((line for line in lines if not line.startswith("Failed in ")), type(error).__name__)
        raise ValueError(f"the compiler refuses {name}: {reason}") from error


def types_of(arguments: Any) -> tuple[Any, ...]:
    """Return the types of a launch's arguments, or of a signature; types stay as they are. They are numba's if it is
    installed."""
    signature, kind, normalize, typeof, array = _of_numba()
    if isinstance(arguments, str | signature):
        return tuple(normalize(arguments)[0])
    if not isinstance(arguments, Sequence):
        raise TypeError(f"arguments are {type(arguments).__name__}; give a tuple of what the kernel is called with")

    def type_of(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        known = typeof(value.values if isinstance(value, AllocationView) else value)
        return array(known.dtype, known.ndim, known.layout) if isinstance(known, array) else known

    return tuple(map(type_of, arguments))


def _of_numba() -> tuple[Any, Any, Any, Any, Any]:
    """Return the classes of signatures and of types, how to read a signature and the type of a value, and the class of
    types of arrays."""
    try:
        from numba import typeof
        from numba.core import sigutils, types, typing
    except ImportError:
        own = stand_in_types
        return own.NumbaSignature, own.NumbaType, own.normalize_signature, own.typeof, own.NumbaArray
    return typing.Signature, types.Type, sigutils.normalize_signature, typeof, types.Array
