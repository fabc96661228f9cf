"""The machine code that NVIDIA's own compiler makes of a kernel, and what it does when a block runs it: without a GPU.

The extra ``compiler`` installs it (Linux and Windows; no GPU, no driver). Without it, recorded code answers for the
kernels of the ladder. README.md in this folder says more.
"""

from typing import TYPE_CHECKING

from ...lazy import lazily

if TYPE_CHECKING:
    from .emulator import BlockRun, run_block
    from .find import NoMachineCode, available, machine_code
    from .instructions import MachineCode, MachineInstruction

__all__ = ["BlockRun", "MachineCode", "MachineInstruction", "NoMachineCode", "available", "machine_code", "run_block"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        **dict.fromkeys(("MachineCode", "MachineInstruction"), ".instructions"),
        **dict.fromkeys(("BlockRun", "run_block"), ".emulator"),
        **dict.fromkeys(("NoMachineCode", "available", "machine_code"), ".find"),
    },
)
