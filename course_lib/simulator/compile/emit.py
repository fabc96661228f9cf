"""Generate Python source over lane vectors from a typed program, in one pass.

README.md in this folder shows the generated code.
"""

from ..language.program import Function
from .writer import Module, Writer


def generate(kernel: Function, tracing: bool, patient: bool) -> tuple[Module, str]:
    """Generate the module of a kernel and the device functions that it calls; also return its text.

    Its function ``make`` returns the kernel's function with the sites of one warp.
    """
    module = Module(tracing, patient)
    texts: list[str] = []
    name = module.name(kernel, 0)
    while len(texts) < len(module.functions):  # which grows by the functions that each calls
        (function, call), made = [*module.functions.items()][len(texts)]
        texts.append(write(Writer(module, function, call), made))
    sites = "".join(f"S{i}, " for i in range(len(module.sites)))
    unpack = f"    ({sites}) = sites\n" if sites else ""
    return module, f"def make(sites):\n{unpack}{''.join(texts)}    return {name}\n"


def write(out: Writer, name: str) -> str:
    """The text of a function."""
    function = out.function
    parameters = [out.version(name, kind) for name, kind in function.parameters]
    function.body.write(out)
    start = ["a = m", "r = False"]
    others = sorted(out.versions - set(parameters))
    if others:
        start.append(" = ".join(others) + " = None")
    if function.unsure:
        start.append(" = ".join(f"h_{name}" for name in sorted(function.unsure)) + " = False")
    if not function.kernel:
        start.append("result = None")
        if function.partial:
            start.append("h = False")
        if out.own_arrays:
            start.append(f"w.drop_local({', '.join(map(str, out.own_arrays))})")
    branch = ["b"] if function.barriers and not function.kernel else []
    head = f"    def {name}({', '.join(('w', 'm', 'path', *branch, *parameters))}):\n"
    body = "".join(f"        {line}\n" for line in start) + "".join(out.lines)
    if not function.kernel:
        body += f"        return {'result, h' if function.partial else 'result'}\n"
    elif not out.module.yields(function):
        body += "        return\n        yield\n"
    return head + body
