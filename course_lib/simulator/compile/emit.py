"""Generate Python source over lane vectors from a typed program, in one pass.

Every warp runs the generated function as a generator that is suspended at barriers. Control flow becomes
masks: an ``if`` runs the branches that have active lanes, a loop runs while it has any. The generated code of
``if row < M: acc = acc + A[row, k]``, in a loop whose mask is m6, is::

    m7, m8 = split(m6, (v_row_i64 < v_M_i64))
    if m7 is not False:
        t9 = S0.load(v_A_Af322, (v_row_i64, v_k_i64,), m7)
        t10 = (v_acc_f32 + t9)
        v_acc_f32 = t10 if m7 is a else blend(m7, t10, v_acc_f32)

Its names are m for masks, t for values, v for versions of variables (the name, and the type in short), k for
constants, S for the sites of accesses (:mod:`~course_lib.simulator.lanes.access`), g for device functions, l for the
lanes that are still in a loop and n for its iterations. ``a`` is the mask at the start of the region outside which a
variable is not read (:mod:`~course_lib.simulator.language.regions`): if all of its lanes take part, the old value is no
longer needed, and nothing is blended. ``L`` is the line of the call: the events of a function of another file are
reported there.

Each operation with an effect (a load, a call, an atomic) is a separate statement, in order and under the mask of the
lanes that evaluate it; expressions are pure arithmetic. The functions that the generated code calls are in
:mod:`~course_lib.simulator.lanes`: masks, loops, arithmetic, warp and access.

:mod:`expressions` and :mod:`statements` generate the code of each node, with a :class:`~.writer.Writer` for each
function.
"""

from __future__ import annotations

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
    """Write the code of one function."""
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
