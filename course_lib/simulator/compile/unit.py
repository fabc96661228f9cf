"""The compiled kernel of one launch: what the engine needs of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..language.constants import Change
from ..language.infer import analyse
from ..language.source import Source
from ..language.variables import Variable
from ..language.why import Promotion
from ..machine import arithmetic, elementwise, loops, masks, view
from ..machine.barrier import Barrier
from .emit import generate
from .writer import Template
from .writes import written

if TYPE_CHECKING:
    from ..machine.geometry import Launch


@dataclass(frozen=True)
class Instance:
    """A function made for a line of call: its sites are those of this number and the next, its callees instances."""

    template: Template
    first_site: int
    callees: tuple[int, ...]
    line: int


class Unit:
    """A kernel, compiled for a launch and the types of its arguments.

    The engine makes a site for each of ``sites``, (line, op, elements a lane), and calls :meth:`make` with them, once a
    warp; what it gets is a generator function of (warp vector, mask, place in program order, *arguments) that yields
    a :class:`~course_lib.simulator.machine.barrier.Barrier` wherever the warp meets the others.

    Attributes:
        program: the kernel's typed program.
        sources: the kernel's source, and those of the device functions that share its file.
        promotions: what is computed in float64 by accident, by line and operand.
        changes: names that changed since the kernel was first compiled, by line and name.
        outside: the arrays from outside that it reads, frozen.
        together: what a warp computes together, by line and name: its meaning in NumPy.
        static_shared: the shared arrays by number: (name, bytes, elements, line).
        local_bytes: local memory of one thread.
        fences: the kernel calls threadfence; copies: it starts asynchronous copies; products: those of warpgroups.
        asks_grid: the code holds the size of the grid.
        text: the generated code.
    """

    def __init__(self, launch: Launch, source: Source, arguments: dict[str, Variable], tracing: bool):
        analysis, self.program = analyse(launch, source, arguments)
        self.sources, self.fences, self.copies = analysis.sources, analysis.fences, analysis.copies
        self.products = analysis.products
        self.asks_grid = analysis.asks_grid
        module, template = generate(self.program, tracing)
        self.outside = tuple(array for array, _ in module.outside.values())
        self._written = written(self.program, {})
        self.sites: list[tuple[int, str, int]] = []
        self.promotions: dict[tuple[int, str], Promotion] = {}
        self.changes: dict[tuple[int, str], Change] = {}
        self.together: dict[tuple[int, str], Callable[..., object]] = {}
        self.static_shared: dict[int, tuple[str, int, int, int]] = {}
        self.local_bytes = sum(t.local_bytes for t in module.templates.values())
        self.instances: list[Instance] = []
        self._known: dict[tuple[Template, int], int] = {}
        self._instantiate(template, source.tree.lineno)
        self.text = "".join(t.text for t in module.templates.values())
        self._scope = {**SCOPE, **module.constants}
        exec(compile(self.text, "<simulated kernel>", "exec"), self._scope)

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
        """The kernel's function, of these sites."""
        made: list[Callable[..., Any]] = []
        for instance in self.instances:
            maker = self._scope[f"make_{instance.template.name}"]
            assert callable(maker)
            own = sites[instance.first_site : instance.first_site + len(instance.template.sites)]
            made.append(maker(own, [made[i] for i in instance.callees], instance.line))
        return made[-1]

    def may_write(self, argument: str) -> bool:
        """Can the kernel store to this argument?"""
        return self._written is None or argument in self._written


class Units:
    """Kernels as compiled for launches between which no global changes: once for those that differ in sizes alone."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Unit] = {}

    def of(self, launch: Launch, source: Source, arguments: dict[str, Variable], tracing: bool) -> Unit:
        """The kernel, compiled for this launch or for one that asks for the same code."""
        key = (source.function, launch.block, launch.dynamic_shared, tracing, *arguments.items())
        known = self._known.get(key) or self._known.get((*key, launch.grid))
        if known is not None:
            return known
        unit = Unit(launch, source, arguments, tracing)
        if not unit.outside:  # arrays belong to one launch
            self._known[(*key, launch.grid) if unit.asks_grid else key] = unit
        return unit


#: What the generated code calls.
SCOPE: dict[str, object] = {"np": np, "Barrier": Barrier} | {
    name: thing
    for module in (arithmetic, elementwise, loops, masks, view)
    for name, thing in vars(module).items()
    if callable(thing) and getattr(thing, "__module__", None) == module.__name__
}
