"""Generate Python source over lane vectors from a typed program, in one pass.

README.md in this folder shows the generated code.
"""

from ..language.program import Function
from .statements import block
from .writer import Module, Template, Writer


def generate(kernel: Function, tracing: bool, patient: bool) -> tuple[Module, Template]:
    """Generate the module of a kernel and the device functions that it calls; also return the kernel's template."""
    module = Module(tracing, patient)
    template = module.template(kernel)
    while module.unwritten:
        write(module, module.unwritten.pop())
    return module, template


def write(module: Module, template: Template) -> None:
    function, out = template.function, Writer(module, template)
    parameters = [out.version(name, kind) for name, kind in function.parameters]
    block(out, function.body)
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
    head = f"    def {template.name}({', '.join(('w', 'm', 'path', *branch, *parameters))}):\n"
    body = "".join(f"        {line}\n" for line in start) + "".join(out.lines)
    if not function.kernel:
        body += f"        return {'result, h' if function.partial else 'result'}\n"
    elif not module.yields(function):
        body += "        return\n        yield\n"
    sites = "".join(f"S{i}, " for i in range(len(template.sites)))
    calls = "".join(f"g{i}, " for i in range(len(template.calls)))
    unpack = (f"    ({sites}) = sites\n" if sites else "") + (f"    ({calls}) = functions\n" if calls else "")
    made = f"    return {template.name}\n"
    template.text = f"def make_{template.name}(sites, functions, L):\n{unpack}{head}{body}{made}"
