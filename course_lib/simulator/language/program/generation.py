"""The generated module of a kernel and its device functions."""

import textwrap

from .statement_nodes import Function
from .writer import Module, Tracing, Writer


def generate(
    kernel: Function, tracing: Tracing, interleaved: bool, diverging_arrays: bool = False
) -> tuple[Module, str]:
    """Generate the module of a kernel and the device functions that it calls; also return its text.

    Its function ``make`` returns the kernel's function with the sites of one warp. A part of one is in README.md of
    :mod:`language`.
    """
    module = Module(tracing, interleaved, diverging_arrays)
    texts: dict[str, str] = {}  # of the functions, by name
    kernel_name = module.name(kernel, 0)
    while missing := [each for each in module.functions.items() if each[1] not in texts]:
        for (function, call), name in missing:  # writing a function adds those that it calls to the module's
            texts[name] = function.write(Writer(module, function, call), name)
    if module.found_diverging_arrays and not diverging_arrays:
        return generate(kernel, tracing, interleaved, True)
    unpack = ""
    if module.site_names:
        names = textwrap.fill(
            f"{', '.join(module.site_names)},", 100, initial_indent=" " * 8, subsequent_indent=" " * 8
        )
        unpack = f"    (\n{names}\n    ) = sites\n\n"
    return module, "".join(["def make(sites):\n", unpack, "\n".join(texts.values()), f"\n    return {kernel_name}\n"])
