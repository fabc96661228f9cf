"""A limit on registers, set when a kernel is compiled; numba's own simulator accepts no such argument."""

from numba import config, cuda


def capped(registers):
    """Return `cuda.jit` with at most `registers` 32-bit registers a thread."""
    return cuda.jit if config.ENABLE_CUDASIM else cuda.jit(max_registers=registers)
