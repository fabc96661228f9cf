"""The machine code of a kernel that is profiled, or why there is none."""

from collections.abc import Sequence
from typing import Any

from ..machine_code import MachineCode, NoMachineCode, machine_code


def compiled(kernel: Any, arguments: Sequence[Any], notes: list[str]) -> MachineCode | None:
    """Return the kernel's machine code, compiled or recorded; a note says why the compiler refuses it."""
    try:
        return machine_code(kernel, arguments)
    except NoMachineCode:
        return None  # the note on the time says how to get the compiler
    except (TypeError, ValueError) as error:
        notes.append(f"There is no machine code: {error}.")
        return None
