"""Dynamic shared memory: beyond 48 KiB a block has as much as the driver was asked for."""

from typing import Any

from ...kernels.bulk_copy import WithMaps


def allow(compiled: Any, room: int) -> None:
    """Let the compiled kernel have `room` bytes of dynamic shared memory."""
    from numba.cuda.cudadrv.driver import binding, driver

    function = compiled._codelibrary.get_cufunc()
    attribute = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.cuKernelSetAttribute(attribute, room, function.handle, function.device.id)


def configured(kernel: Any, grid: Any, block: Any, room: int, arguments: Any) -> Any:
    """Return `kernel[grid, block]` with `room` bytes of dynamic shared memory, compiled for `arguments` if any."""
    if not room:
        return kernel[grid, block]
    given = kernel.given(arguments) if isinstance(kernel, WithMaps) else arguments
    kernel.compile(tuple(kernel.typeof_pyval(a) for a in given))
    allow(next(iter(kernel.overloads.values())), room)
    return kernel[grid, block, 0, room]
