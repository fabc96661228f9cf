"""The compiled kernel, as the engine uses it, and the cache of compiled kernels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import arithmetic
from ..geometry import Launch
from ..lanes import elementwise, loops, masks, view
from ..lanes.barrier import Barrier
from ..language.constants import Change
from ..language.infer import analyse
from ..language.reasons import Promotion
from ..language.source import Source, deep_recursion, too_deep
from ..language.variables import Variable
from .emit import generate
from .writer import Template
from .writes import written


@dataclass(frozen=True)
class Instance:
    """A function for one line of call: ``first_site`` is its first site, ``callees`` are numbers of instances."""

    template: Template
    first_site: int
    callees: tuple[int, ...]
    line: int


class CompiledKernel:
    """A kernel, compiled for a launch and the types of its arguments.

    For each warp, the engine makes a site for each of ``sites``, (line, op, elements a lane), and calls :meth:`make`
    with them. The result is a generator function of (warp vector, mask, place in program order, *arguments) that yields
    a :class:`~course_lib.simulator.lanes.barrier.Barrier` when the warp arrives at one.

    Attributes:
        program: the kernel's typed program.
        sources, cooperative, fences, copies, products, groups, asks_grid: see :class:`~.context.Analysis`.
        promotions: arithmetic that is in float64 by accident, by line and operand.
        changes: names that changed since the kernel was first compiled, by line and name.
        outside: the global arrays of the program that it reads, as constants.
        together: the NumPy function of each operation of whole warps, by line and name.
        static_shared: the shared arrays by number: (name, bytes, elements, line).
        local_bytes: local memory of one thread.
        text: the generated code.
    """

    def __init__(self, launch: Launch, source: Source, arguments: dict[str, Variable], tracing: bool, patient: bool):
        with deep_recursion(source.name, source.tree.lineno):
            analysis, self.program = analyse(launch, source, arguments)
            module, template = generate(self.program, tracing, patient)
            self._written = written(self.program, {})
        self.sources, self.fences, self.groups = analysis.sources, analysis.fences, analysis.groups
        self.asks_grid, self._found = analysis.asks_grid, analysis.found
        self.copies, self.products, self.cooperative = analysis.copies, analysis.products, analysis.cooperative
        self.outside = tuple(array for array, _ in module.outside.values())
        self.sites: list[tuple[int, str, int]] = []
        self.promotions: dict[tuple[int, str], Promotion] = {}
        self.changes: dict[tuple[int, str], Change] = {}
        self.together: dict[tuple[int, str], Callable[..., object]] = {}
        self.static_shared: dict[int, tuple[str, int, int, int]] = {}
        self.local_bytes = sum(t.local_bytes for t in module.templates.values())
        self.instances: list[Instance] = []
        self._known: dict[tuple[Template, int], int] = {}
        self._instantiate(template, source.tree.lineno)
        #: may a launch start again block by block, because threads wait for others, blocks choose between arrays, or
        #: some of them do not reach a barrier of the grid?
        self.may_begin_anew = self.program.waits or module.chooses or self.cooperative
        self.text = "".join(t.text for t in module.templates.values())
        self._scope = {**SCOPE, **module.constants}
        try:
            exec(compile(self.text, "<simulated kernel>", "exec"), self._scope)
        except SyntaxError:  # Python takes 100 levels of indentation
            raise too_deep(source.name, source.tree.lineno) from None

    def _instantiate(self, template: Template, line: int) -> int:
        """The number of the instance of ``template`` for calls on ``line``."""
        key = (template, line if template.function.foreign else 0)
        if key not in self._known:
            callees = tuple(self._instantiate(t, line if at is None else at) for t, at in template.calls)
            foreign = template.function.foreign
            for promotion in template.function.promotions.values():
                at = line if foreign else promotion.line
                self.promotions.setdefault((at, promotion.operand), replace(promotion, line=at))
            for change in template.function.constants.changes.values():
                at = line if foreign else change.line
                self.changes.setdefault((at, change.name), replace(change, line=at))
            for number, name, size, elements, own in template.shared:
                self.static_shared.setdefault(number, (name, size, elements, line if own is None else own))
            for own, name, function in template.together:
                self.together.setdefault((line if own is None else own, name), function)
            first = len(self.sites)
            self.sites += [(line if own is None else own, op, width) for own, op, width in template.sites]
            self.instances.append(Instance(template, first, callees, line))
            self._known[key] = len(self.instances) - 1
        return self._known[key]

    def make(self, sites: list[Any]) -> Callable[..., Any]:
        """Return the kernel's generator function with these sites."""
        made: list[Callable[..., Any]] = []
        for instance in self.instances:
            maker = self._scope[f"make_{instance.template.name}"]
            assert callable(maker)
            own = sites[instance.first_site : instance.first_site + len(instance.template.sites)]
            made.append(maker(own, [made[i] for i in instance.callees], instance.line))
        return made[-1]

    @property
    def holds(self) -> bool:
        """Whether all global names still have the values that they had when the kernel was compiled."""
        return all(function(*arguments) is thing for function, arguments, thing in self._found)

    def may_write(self, argument: str) -> bool:
        return self._written is None or argument in self._written


class CompiledKernels:
    """The cache of the latest compiled kernels: launches that differ only in sizes share one."""

    MOST = 64

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], CompiledKernel] = {}

    def of(
        self, launch: Launch, source: Source, arguments: dict[str, Variable], tracing: bool, patient: bool
    ) -> CompiledKernel:
        """Return the kernel compiled for this launch, or for an earlier one with the same code."""
        key = (source, launch.block, launch.dynamic_shared, tracing, patient, *arguments.items())
        known = self._known.get(key) or self._known.get((*key, launch.grid))
        if known is not None and known.holds:
            return known
        unit = CompiledKernel(launch, source, arguments, tracing, patient)
        if not unit.outside:  # its arrays belong to one launch
            if len(self._known) >= self.MOST:
                del self._known[next(iter(self._known))]
            self._known[(*key, launch.grid) if unit.asks_grid else key] = unit
        return unit


#: The names that generated code uses.
SCOPE: dict[str, object] = {"__builtins__": {}, "np": np, "Barrier": Barrier, "LOOKS": loops.LOOKS} | {
    name: thing
    for module in (arithmetic, elementwise, loops, masks, view)
    for name, thing in vars(module).items()
    if callable(thing) and getattr(thing, "__module__", None) == module.__name__
}
