"""The generated module of a kernel and its device functions."""

from .statements import Function
from .writer import Module, Tracing, Writer


def generate(kernel: Function, tracing: Tracing, patient: bool, chooses: bool = False) -> tuple[Module, str]:
    """Generate the module of a kernel and the device functions that it calls; also return its text.

    Its function ``make`` returns the kernel's function with the sites of one warp. A part of one is in README.md of
    :mod:`language`.
    """
    module = Module(tracing, patient, chooses)
    texts: list[str] = []
    name = module.name(kernel, 0)
    while len(texts) < len(module.functions):  # which grows by the functions that each calls
        (function, call), made = [*module.functions.items()][len(texts)]
        texts.append(function.write(Writer(module, function, call), made))
    if module.finds_choices and not chooses:
        return generate(kernel, tracing, patient, True)
    sites = "".join(f"S{i}, " for i in range(len(module.sites)))
    unpack = f"    ({sites}) = sites\n" if sites else ""
    return module, f"def make(sites):\n{unpack}{''.join(texts)}    return {name}\n"
