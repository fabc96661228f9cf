"""The compiled kernel, as the engine uses it, and the cache of compiled kernels."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..language.program.generation import generate
from ..language.program.scope import SCOPE
from ..language.program.statement_nodes import Function
from ..language.program.stored_arrays import stored_parameters
from ..language.program.writer import Module, Tracing
from ..language.source.constants import Change
from ..language.source.function import Source
from ..language.source.reading import deep_recursion, too_deep
from ..language.translation.statements import translate_kernel
from ..language.types.float64_reasons import Promotion
from ..language.types.variables import Variable
from ..launch_shape import LaunchShape


class CompiledKernel:
    """A kernel, compiled for a launch and the types of its arguments.

    For each warp of a block, the engine makes a site for each declaration in ``sites``, and calls ``make`` with them.
    The result is a generator function of (warp vector, mask, program point of the call, *arguments). The vector holds
    this warp of all blocks that run together; the generator yields a
    :class:`~course_lib.simulator.runtime.barrier.Barrier` when it arrives at one.

    Attributes:
        program: the kernel's typed program.
        sources, cooperative, fences, copies, products, syncwarps, partial_syncwarps, uses_grid_size, filled_parts: see
            :class:`~course_lib.simulator.language.translation.translation.ProgramFacts`.
        promotions: arithmetic that is in float64 by accident, by line and operand.
        changes: names that changed since the kernel was first compiled, by line and name.
        constant_arrays: the arrays of the module and of enclosing functions that it reads; a GPU has them as constants.
        warp_functions: the NumPy function of each operation of whole warps, by line and name.
        static_shared: the shared arrays by number.
        shared_bytes, local_bytes: shared memory of a block, without the dynamic one; local memory of one thread.
        text: the generated code.
    """

    def __init__(
        self, launch: LaunchShape, source: Source, arguments: dict[str, Variable], tracing: Tracing, interleaved: bool
    ):
        """Translate, generate and compile the kernel. Raises UnsupportedKernelError, see `translate_kernel`."""
        with deep_recursion(source.name, source.tree.lineno):
            facts, self.program = translate_kernel(launch, source, arguments)
            module, self.text = generate(self.program, tracing, interleaved)
            self._stored_parameters = stored_parameters(self.program, {})
        self.sources = facts.sources
        self.cooperative = facts.cooperative
        self.fences = facts.fences
        self.copies = facts.copies
        self.products = facts.products
        self.syncwarps = facts.syncwarps
        self.partial_syncwarps = facts.partial_syncwarps
        self.uses_grid_size = facts.uses_grid_size
        self.filled_parts = facts.filled_parts
        self._lookups = facts.lookups
        self.sites = module.sites
        self.warp_functions = module.warp_functions
        self.static_shared = module.shared
        self.constant_arrays = tuple(array for array, _ in module.constant_arrays.values())
        self.shared_bytes = sum(array.bytes for number, array in module.shared.items() if number >= 0)
        self.local_bytes = sum(array.bytes for array in module.arrays if array.space == "local")
        self.promotions: dict[tuple[int, str], Promotion] = {}
        self.changes: dict[tuple[int, str], Change] = {}
        for function, call in reversed(module.functions):
            self._warn(function, call)
        #: may a launch start again block by block, because threads wait for others, or some of them do not reach a
        #: barrier of the grid?
        self.may_restart = self.program.waits or self.cooperative
        self.make = self._executed(source, module)

    def _warn(self, function: Function, call: int) -> None:
        """Collect a function's warnings: at the line ``call`` of its call, or if that is 0 at their own."""
        for promotion in function.promotions.values():
            line = call or promotion.line
            self.promotions.setdefault((line, promotion.operand), replace(promotion, line=line))
        for change in function.constants.changes.values():
            line = call or change.line
            self.changes.setdefault((line, change.name), replace(change, line=line))

    def _executed(self, source: Source, module: Module) -> Callable[[list[Any]], Callable[..., Any]]:
        """Execute the generated text; return its function ``make``."""
        scope: dict[str, Any] = {**SCOPE, **module.constants}
        try:
            exec(compile(self.text, "<simulated kernel>", "exec"), scope)
        except SyntaxError:  # Python takes 100 levels of indentation
            raise too_deep(source.name, source.tree.lineno) from None
        make: Callable[[list[Any]], Callable[..., Any]] = scope["make"]
        return make

    @property
    def is_current(self) -> bool:
        """Whether all global names still have the values that they had when the kernel was compiled."""
        return all(function(*arguments) is obj for function, arguments, obj in self._lookups)

    def may_write(self, *arguments: str) -> bool:
        """Whether the kernel may store to one of these arguments."""
        return self._stored_parameters is None or not self._stored_parameters.isdisjoint(arguments)


class CompiledKernels:
    """The cache of the latest compiled kernels: launches that differ only in sizes share one."""

    MOST = 64

    def __init__(self) -> None:
        self._cached: dict[tuple[object, ...], CompiledKernel] = {}

    def of(
        self, launch: LaunchShape, source: Source, arguments: dict[str, Variable], tracing: Tracing, interleaved: bool
    ) -> CompiledKernel:
        """Return the kernel compiled for this launch, or for an earlier one with the same code."""
        key = (source, launch.block, launch.dynamic_shared, tracing, interleaved, *arguments.items())
        cached = self._cached.get(key) or self._cached.get((*key, launch.grid))
        if cached is not None and cached.is_current:
            return cached
        compiled = CompiledKernel(launch, source, arguments, tracing, interleaved)
        if not compiled.constant_arrays:  # its arrays belong to one launch
            if len(self._cached) >= self.MOST:
                del self._cached[next(iter(self._cached))]
            self._cached[(*key, launch.grid) if compiled.uses_grid_size else key] = compiled
        return compiled
