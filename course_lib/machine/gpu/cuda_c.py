"""The kernels in CUDA C: the files NAME.cu beside those in numba, compiled by NVRTC and launched as numba's are.

NVRTC comes with the extras `cu12` and `cu13`; to compile needs no GPU.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ... import kernels
from ...kernels import LADDER, Rung, rung
from .device import require
from .result_types import Result

FOLDER = Path(kernels.__file__).parent
#: Programs for the host, which nvcc builds; the other files are kernels.
HOST = ("host", "dynamic")
#: The rungs that are there in CUDA C.
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.cu") if path.stem in {r.name for r in LADDER}))
#: The parameters of a kernel's template, in this order.
TEMPLATE = ("tile_width", "width", "stages", "buffers", "loads", "barriers", "a_after", "b_after")
#: Options of the compiler's last stage with which loads from global memory bypass the first-level cache (ld.global.cg).
UNCACHED = "-dlcm=cg"


def source(name: str) -> str:
    """Return the text of NAME.cu."""
    return (FOLDER / f"{name}.cu").read_text(encoding="utf-8")


def excerpt(name: str, part: str) -> str:
    """Return the lines of NAME.cu between `// [part]` and `// [/part]`, without markers and common indent.

    Raise KeyError if the file has no such part.
    """
    lines = source(name).splitlines()
    marks = [line.strip() for line in lines]
    try:
        inside = lines[marks.index(f"// [{part}]") + 1 : marks.index(f"// [/{part}]")]
    except ValueError:
        raise KeyError(f"{name}.cu has no part {part!r}") from None
    kept = [line for line in inside if not re.fullmatch(r"\s*// \[/?\w+\]", line)]
    indent = min(len(line) - len(line.lstrip()) for line in kept if line.strip())
    return "".join(f"{line[indent:]}\n" for line in kept)


def instance(name: str, params: Mapping[str, Any]) -> str:
    """Return the name of the kernel for these parameters of its rung: `tiled<32>`, or `naive` without a template."""
    if "template <" not in source(name):
        return name
    return f"{name}<{', '.join(str(params[key]) for key in TEMPLATE if key in params)}>"


def compiled(
    name: str,
    params: Mapping[str, Any],
    arch: str,
    *,
    unroll: int | None = None,
    unsigned: bool = False,
    restrict: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Return NAME.cu as an ObjectCode of `cuda.core`: machine code for `arch`, such as "sm_90".

    unroll: the number of steps in which its inner loop is unrolled, 1 for none; None lets the compiler decide.
    unsigned: whether its integers are unsigned. restrict: whether it promises that nothing else writes A and B.
    options: further ones of `cuda.core.ProgramOptions`.
    """
    from cuda.core import Program, ProgramOptions

    text = re.sub(r"\bint\b", "unsigned", source(name)) if unsigned else source(name)
    if restrict:
        text = re.sub(r"const float \*([AB])\b", r"const float *__restrict__ \1", text)
    if unroll is not None:
        text = f'#define UNROLL _Pragma("unroll {unroll}")\n{text}'
    given = {"std": "c++17", "include_path": headers(), **(options or {})}
    program = Program(text, "c++", ProgramOptions(name=f"{name}.cu", arch=arch, **given))
    return program.compile("cubin", name_expressions=(instance(name, params),))


@lru_cache
def headers() -> list[str]:
    """Return the folder of CUDA's headers, which `pipelined` includes; none where they are not installed."""
    from cuda import pathfinder

    folder = pathfinder.find_nvidia_header_directory("cudart")
    return [folder] if folder else []


class CKernel:
    """A compiled kernel in CUDA C that is launched as numba's are: `kernel[grid, block](A, B, C)`, float32, C order.

    `kernel[grid, block, 0, room]` has `room` bytes of dynamic shared memory, which `allow` lets it have.
    """

    def __init__(self, name: str, params: Mapping[str, Any], **options: Any) -> None:
        from cuda.core import Device

        major, minor = require().get_current_device().compute_capability
        Device().set_current()
        self.code = compiled(name, params, f"sm_{major}{minor}", **options)
        self.function = self.code.get_kernel(instance(name, params))

    def __getitem__(self, launch: tuple[Any, ...]) -> Callable[[Any, Any, Any], None]:
        from cuda.core import LEGACY_DEFAULT_STREAM, LaunchConfig
        from cuda.core import launch as start

        grid, block, _, room = (*launch, 0, 0)[:4]
        config = LaunchConfig(grid=grid, block=block, shmem_size=room)

        def call(A: Any, B: Any, C: Any) -> None:
            (M, K), N = A.shape, B.shape[1]
            pointers = (X.__cuda_array_interface__["data"][0] for X in (A, B, C))
            start(LEGACY_DEFAULT_STREAM, config, self.function, *pointers, *map(np.int32, (M, N, K)))

        return call

    def allow(self, room: int) -> None:
        """Let the kernel have `room` bytes of dynamic shared memory, also beyond 48 KiB."""
        from cuda.bindings import driver
        from cuda.core import Device

        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (error,) = driver.cuKernelSetAttribute(attribute, room, self.function.handle, Device().device_id)
        if error:
            raise RuntimeError(f"the driver refuses {room} bytes of dynamic shared memory: {error}")

    def resources(self, block: Sequence[int], room: int = 0) -> Result:
        """Return the compiler, registers and local bytes of a thread, shared bytes, blocks on a multiprocessor."""
        about = self.function.attributes
        return {
            "compiler": compiler(),
            "registers": about.num_regs,
            "local_bytes": about.local_size_bytes,
            "shared_bytes": about.shared_size_bytes + room,
            "blocks_per_multiprocessor": self.function.occupancy.max_active_blocks_per_multiprocessor(
                prod(block), room
            ),
        }


def in_c(
    of: str | Rung, unroll: int | None = None, unsigned: bool = False, cached: bool = True, restrict: bool = False
) -> Rung:
    """Return a rung, or the one of that name, with its kernel in CUDA C, as `compiled` makes it.

    cached: whether loads use the first-level cache.
    """
    r = rung(of) if isinstance(of, str) else of
    name = r.name
    parts = (
        *("unsigned" if unsigned else "", f"unroll {unroll}" if unroll else ""),
        *("" if cached else "uncached", "restrict" if restrict else ""),
    )
    options = {} if cached else {"ptxas_options": UNCACHED}
    title = ", ".join(filter(None, (f"{name} in CUDA C", *parts)))

    @lru_cache
    def make(dtype: Any = np.float32, **params: Any) -> CKernel:
        return CKernel(name, params, unroll=unroll, unsigned=unsigned, restrict=restrict, options=options)

    called = "_".join(filter(None, (f"{name}_c", *(part.replace(" ", "_") for part in parts))))
    return replace(r, name=called, title=title, make=make, dtypes=("float32",), orders=("C",))


def compiler() -> str:
    """Return the name and the version of the compiler."""
    from cuda.bindings import nvrtc

    _, major, minor = nvrtc.nvrtcVersion()
    return f"NVRTC {major}.{minor}"


def build_host_programs() -> list[Result]:
    """Build each program for the host with nvcc, and run it; none where there is no nvcc.

    A result has the program's name, nvcc's version and what the program said, or why it is wrong.
    """
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return []
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V(\d[\d.]*)", version)
    results = []
    for name in HOST:
        with TemporaryDirectory() as folder:
            built = [nvcc, "-O3", "-arch=native", str(FOLDER / f"{name}.cu"), "-o", f"{folder}/{name}"]
            done = subprocess.run(built, capture_output=True, text=True, check=False)
            if not done.returncode:
                done = subprocess.run([f"{folder}/{name}"], capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).strip()
        result = {"program": f"{name}.cu", "compiler": f"nvcc {found[1] if found else ''}", "said": said}
        results.append({**result, "wrong": said[-500:]} if done.returncode else result)
    return results
