"""Prepare a launch: read the kernel, convert its arguments, compile it, check the limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..compile.compiled_kernel import CompiledKernel, CompiledKernels
from ..findings import LaunchError
from ..hardware import HOPPER_SHARED_LIMIT, SHARED_LIMIT
from ..language.program.writer import Tracing
from ..language.source.function import Source
from ..language.source.reading import read
from ..language.tables import package_gaps
from ..language.types.value_types import TypingError
from ..launch_shape import LaunchShape
from ..runtime.memory import GlobalArray
from .arguments import arrays_in, convert_arguments

#: Limit for the threads of a launch: each is simulated, and a grid this large by mistake would run for hours.
MAX_THREADS = 2**28


#: The compiled kernels of the process.
COMPILED_KERNELS = CompiledKernels()


@dataclass(frozen=True)
class Prepared:
    """A launch that can run: its shape, the kernel's source, its arguments as the kernel sees them, and its code.

    ``interleaved``: blocks run one by one, and let others run while one of their threads waits in a loop.
    """

    launch: LaunchShape
    source: Source
    values: tuple[Any, ...]
    compiled: CompiledKernel
    interleaved: bool = False

    @property
    def arrays(self) -> list[GlobalArray]:
        """The arrays among the arguments, and in their tuples."""
        return arrays_in(self.values)

    @property
    def may_write(self) -> list[GlobalArray]:
        """The arrays to which the kernel may store."""
        return [array for array in self.arrays if self.compiled.may_write(*array.names)]

    @property
    def lines(self) -> tuple[tuple[int, str], ...]:
        """The numbered lines of the kernel and of the device functions in its file, in the file's order."""
        lines: set[tuple[int, str]] = set()
        for source in self.compiled.sources:
            lines |= {*source.lines}
        return tuple(sorted(lines))


def prepare(
    kernel: Any,
    grid: Any,
    block: Any,
    arguments: Sequence[Any],
    dynamic_shared: Any = 0,
    *,
    tracing: Tracing = "",
    interleaved: bool = False,
) -> Prepared:
    """Check a launch of ``kernel``, compile it and return it ready to run.

    ``tracing`` is what the generated code reports, and ``interleaved`` as in :class:`Prepared`.

    Raises LaunchError if the shape of the launch, an argument or the shared memory is wrong, UnsupportedKernelError if
    the kernel uses something that the simulator does not run.
    """
    launch = LaunchShape.of(grid, block, dynamic_shared)
    threads = launch.blocks * launch.threads_per_block
    if threads > MAX_THREADS:
        raise LaunchError(
            f"the launch has {threads:,} threads, and the simulator runs at most {MAX_THREADS:,}; use a smaller grid"
        )
    options = getattr(kernel, "targetoptions", {})
    try:
        package_gaps.check_options(options)
    except TypingError as error:
        raise LaunchError(str(error)) from None
    bounds = options.get("launch_bounds")
    most = bounds[0] if isinstance(bounds, tuple) else bounds
    if most is not None and launch.threads_per_block > most:
        raise LaunchError(
            f"the launch has {launch.threads_per_block:,} threads a block, and the kernel's launch_bounds allow "
            f"{most:,}; use smaller blocks, or raise the bounds"
        )
    source = read(kernel)
    values, variables = convert_arguments(kernel, source, arguments)
    compiled = COMPILED_KERNELS.of(launch, source, variables, tracing, interleaved)
    check_shared(launch, compiled)
    return Prepared(launch, source, values, compiled, interleaved)


def check_shared(launch: LaunchShape, compiled: CompiledKernel) -> None:
    """Refuse a launch whose shared arrays do not fit in a block's shared memory."""
    used = compiled.shared_bytes
    limit = HOPPER_SHARED_LIMIT if compiled.products else SHARED_LIMIT
    if used + launch.dynamic_shared > limit and launch.dynamic_shared:
        raise LaunchError(
            f"the launch asks for {launch.dynamic_shared:,} bytes of dynamic shared memory a block, beside "
            f"{used:,} of the kernel's own arrays; the limit is {limit:,} bytes ({limit // 1024} KiB): ask for less"
        )
    if used > SHARED_LIMIT:
        arrays = compiled.static_shared.values()
        parts = ", ".join(f"{array.name} {array.bytes:,}" for array in arrays)
        line = max(array.line for array in arrays)
        raise LaunchError(
            f"the kernel's shared arrays take {used:,} bytes a block ({parts}); the limit of static shared memory "
            f"is {SHARED_LIMIT:,} bytes (48 KiB): use smaller tiles",
            line,
        )
