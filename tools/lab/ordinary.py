"""Forty ordinary kernels, none of them a product of matrices: what a GPU counts of their machine code.

Twenty are here, and twenty are those of public projects in `PUBLIC`, with the launches of tools/published.toml. They
were chosen for variety, before any of them was compared: stencils, scans, sorts, reductions, histograms, gathers,
physics.
"""

import math
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda, float32, int32

from course_lib.machine.gpu.counters import METRICS, parse_ncu, under_ncu
from course_lib.machine.gpu.result_types import Names, Result, Results
from course_lib.machine.profile.arguments import numbers
from course_lib.simulator.hardware import WARP_SIZE
from tools.published import LIST, kernel_of, values

from .atomics import COUNTED

#: The environment's variable with the folder of the checkouts of public projects (see docs/published.md).
CHECKOUTS = "PUBLISHED_KERNELS"
#: What is counted of a launch.
WANTED = {
    **{name: METRICS[name] for name in METRICS if name.startswith(("global_", "shared_")) and "conflicts" not in name},
    **{name: metric for name, metric in COUNTED.items() if "atomic" in name or "reduction" in name},
    "instructions": METRICS["instructions"],
}

#: Kernels of tools/published.toml, by project.
PUBLIC = {
    "abTEM/abTEM": ["abtem/core/_cuda.py:_sum_run_length_encoded"],
    "callmetandat/Applied-Parallel-Programming": ["model_numba/Layers/MaxPooling2D.py:MaxPooling_Kernel"],
    "ContinuumIO/gtc2020-numba": ["debug/ex3.py:histogram"],
    "creepymorties/gpu_labs": ["lab9_stencil.py:smooth_gpu"],
    "DUNE/larnd-sim": ["larndsim/util/cuda_dict.py:cuda_hashtable_insert"],
    "ENCCS/hpda-python": ["content/exercise/sbatch_lap2d_gpu.py:lap2d_cuda2"],
    "holoviz/datashader": [
        "datashader/transfer_functions/_cuda_utils.py:interp2d_kernel",
        "datashader/transfer_functions/_cuda_utils.py:cuda_nanmax_n_in_place_3d",
    ],
    "liltommy142/cuda-nms-numba": ["src/gpu_v2.py:_nms_bitmask_kernel", "src/gpu_v3.py:_iou_max_kernel"],
    "Maghoumi/pytorch-softdtw-cuda": ["soft_dtw_cuda.py:compute_softdtw_cuda"],
    "makepath/xarray-spatial": ["xrspatial/focal.py:_focal_std_cuda", "xrspatial/slope.py:_run_gpu"],
    "Malyadeep/pylabolt": [
        "pylabolt/parallel/gpu/compute_residues_kernels.py:compute_residue_scalar",
        "pylabolt/parallel/gpu/collision_kernels.py:BGK_density_based_second_order_None",
    ],
    "manglayev/cuda-reduction": ["Python/reduction_6.py:reduction_61"],
    "numba/nvidia-cuda-tutorial": ["session-1/mandelbrot/solutions/mandel_cuda.py:create_fractal"],
    "NVIDIA/ising-gpu": ["basic_python/ising_basic.py:update_lattice"],
    "PyLops/pylops": ["pylops/signalprocessing/_fourierradon2d_cuda.py:_radon_inner_2d_kernel"],
    "traveller59/second.pytorch": ["second/core/non_max_suppression/nms_gpu.py:nms_kernel"],
}


@dataclass(frozen=True)
class OrdinaryLaunch:
    """One launch of a kernel; ``make`` draws its arguments anew, always the same."""

    name: str
    kernel: Any
    grid: tuple[int, ...]
    block: tuple[int, ...]
    make: Callable[[], Sequence[Any]] = field(repr=False)


_OWN: list[OrdinaryLaunch] = []


def launched(grid: Any, block: Any, make: Callable[[np.random.Generator], tuple[Any, ...]]) -> Callable[[Any], Any]:
    """List the kernel below with its launch."""

    def listed(kernel: Any) -> Any:
        blocks, threads = (size if isinstance(size, tuple) else (size,) for size in (grid, block))
        _OWN.append(OrdinaryLaunch(kernel.__name__, kernel, blocks, threads, lambda: make(np.random.default_rng(0))))
        return kernel

    return listed


def zeros(*shape: int, dtype: str = "f4") -> np.ndarray:
    return np.zeros(shape, dtype)


# --- each thread for itself ----------------------------------------------------------------------------------------


@launched(29, 96, lambda rng: (rng.random((2784, 3), np.float32), zeros(2784)))
@cuda.jit
def squared(p, out):
    """The square of each point's first coordinate, each factor read for itself."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p[i, 0] * p[i, 0]


@launched(8, 128, lambda rng: (rng.permutation(1000), rng.random(1000, np.float32), zeros(1000)))
@cuda.jit
def gathered(index, x, out):
    """A permutation."""
    i = cuda.grid(1)
    if i < index.size:
        out[i] = x[index[i]]


@launched(4, 128, lambda rng: (np.sort(rng.random(777)), rng.random(500), zeros(500, dtype="i8")))
@cuda.jit
def places_in_order(sorted_values, wanted, out):
    """Binary search: the place of each value in a sorted array."""
    i = cuda.grid(1)
    if i < wanted.size:
        low, high = 0, sorted_values.size
        while low < high:
            middle = (low + high) // 2
            if sorted_values[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@launched((3, 5), (32, 8), lambda rng: (rng.random((40, 90), np.float32), zeros(40, 90), 0.3))
@cuda.jit
def turned_picture(picture, out, angle):
    """A picture turned about its middle, with the mean of four pixels for each."""
    x, y = cuda.grid(2)
    rows, columns = picture.shape
    if x < columns and y < rows:
        c, s = math.cos(float32(angle)), math.sin(float32(angle))
        dx, dy = float32(x) - float32(columns) / float32(2), float32(y) - float32(rows) / float32(2)
        u = c * dx - s * dy + float32(columns) / float32(2)
        v = s * dx + c * dy + float32(rows) / float32(2)
        i, j = int32(math.floor(v)), int32(math.floor(u))
        if i >= 0 and j >= 0 and i < rows - 1 and j < columns - 1:
            p, q = v - float32(i), u - float32(j)
            above = picture[i, j] * (float32(1) - q) + picture[i, j + 1] * q
            below = picture[i + 1, j] * (float32(1) - q) + picture[i + 1, j + 1] * q
            out[y, x] = above * (float32(1) - p) + below * p


@launched((3, 4), (16, 8), lambda rng: (rng.random((30, 45), np.float32), zeros(30, 45)))
@cuda.jit
def median_of_nine(picture, out):
    """A median filter: nine pixels sorted by exchanges in a local array."""
    x, y = cuda.grid(2)
    near = cuda.local.array(9, float32)
    if 0 < x < picture.shape[1] - 1 and 0 < y < picture.shape[0] - 1:
        for k in range(9):
            near[k] = picture[y - 1 + k // 3, x - 1 + k % 3]
        for i in range(1, 9):
            value = near[i]
            j = i
            while j > 0 and near[j - 1] > value:
                near[j] = near[j - 1]
                j -= 1
            near[j] = value
        out[y, x] = near[4]


# --- stencils ------------------------------------------------------------------------------------------------------


@launched((4, 5), (16, 16), lambda rng: (rng.random((70, 50), np.float32), zeros(70, 50), 0.2))
@cuda.jit
def heat(u, out, rate):
    """One step of the heat equation in the plane."""
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        out[i, j] = u[i, j] + float32(rate) * (around - float32(4) * u[i, j])


@launched(7, 128, lambda rng: (rng.random(800, np.float32), zeros(800)))
@cuda.jit
def smoothed(x, out):
    """The mean of seven neighbours, from a tile with three elements more at each end."""
    tile = cuda.shared.array(134, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    for k in range(t, 134, cuda.blockDim.x):
        place = cuda.blockIdx.x * cuda.blockDim.x + k - 3
        tile[k] = x[place] if 0 <= place < x.size else float32(0)
    cuda.syncthreads()
    if i < x.size:
        total = float32(0)
        for k in range(7):
            total += tile[t + k]
        out[i] = total / float32(7)


@launched((3, 3), (16, 16), lambda rng: (rng.integers(0, 2, (40, 44)).astype(np.int8), zeros(40, 44, dtype="i1")))
@cuda.jit
def life(cells, out):
    """A generation of Conway's game on a torus."""
    j, i = cuda.grid(2)
    rows, columns = cells.shape
    if i < rows and j < columns:
        alive = 0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if di != 0 or dj != 0:
                    alive += cells[(i + di + rows) % rows, (j + dj + columns) % columns]
        out[i, j] = 1 if alive == 3 or (alive == 2 and cells[i, j] == 1) else 0


@launched(
    (2, 3, 4), (16, 4, 2), lambda rng: (rng.random((8, 10, 30)), rng.random((8, 10, 30)), zeros(8, 10, 30, dtype="f8"))
)
@cuda.jit
def wave(before, now, after):
    """One step of the wave equation in space, in float64."""
    x, y, z = cuda.grid(3)
    if 0 < x < now.shape[2] - 1 and 0 < y < now.shape[1] - 1 and 0 < z < now.shape[0] - 1:
        around = now[z, y, x - 1] + now[z, y, x + 1] + now[z, y - 1, x] + now[z, y + 1, x]
        around += now[z - 1, y, x] + now[z + 1, y, x]
        after[z, y, x] = 2.0 * now[z, y, x] - before[z, y, x] + 0.1 * (around - 6.0 * now[z, y, x])


# --- scans and reductions ------------------------------------------------------------------------------------------


@launched(9, 128, lambda rng: (rng.random((33, 100), np.float32), zeros(33)))
@cuda.jit
def row_sums(A, out):
    """The sum of each row by a warp, whose lanes make three or four iterations."""
    row, lane = cuda.grid(1) // WARP_SIZE, cuda.threadIdx.x % WARP_SIZE
    if row < A.shape[0]:
        total = float32(0)
        for k in range(lane, A.shape[1], WARP_SIZE):
            total += A[row, k]
        for distance in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        if lane == 0:
            out[row] = total


@launched(6, 256, lambda rng: (rng.random(3000, np.float32), zeros(6)))
@cuda.jit
def block_sums(x, out):
    """A sum over each block in halves, after a loop over the grid."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[k]
    part[t] = total
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@launched(5, 128, lambda rng: (rng.random(600, np.float32), zeros(5, dtype="i8"), zeros(5)))
@cuda.jit
def largest(x, where, out):
    """The largest element of each block, and its place."""
    values, places = cuda.shared.array(128, float32), cuda.shared.array(128, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    values[t] = x[i] if i < x.size else float32(-1)
    places[t] = i
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if t % (2 * step) == 0 and values[t + step] > values[t]:
            values[t] = values[t + step]
            places[t] = places[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = values[0]
        where[cuda.blockIdx.x] = places[0]


@launched(4, 128, lambda rng: (rng.integers(0, 9, 512).astype(np.int32), zeros(512, dtype="i4")))
@cuda.jit
def scanned(x, out):
    """The sums up to each element of a block, by Hillis and Steele, with two buffers."""
    sums = cuda.shared.array((2, 128), int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[0, t] = x[i]
    cuda.syncthreads()
    here, distance = 0, 1
    while distance < 128:
        if t >= distance:
            sums[1 - here, t] = sums[here, t] + sums[here, t - distance]
        else:
            sums[1 - here, t] = sums[here, t]
        here = 1 - here
        distance *= 2
        cuda.syncthreads()
    out[i] = sums[here, t]


@launched(3, 64, lambda rng: (rng.random(384, np.float32), zeros(384)))
@cuda.jit
def swept(x, out):
    """The sums before each element of a block, by Blelloch: up a tree and down again."""
    tree = cuda.shared.array(128, float32)
    t, first = cuda.threadIdx.x, 128 * cuda.blockIdx.x
    tree[2 * t] = x[first + 2 * t]
    tree[2 * t + 1] = x[first + 2 * t + 1]
    offset, width = 1, 64
    while width > 0:
        cuda.syncthreads()
        if t < width:
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1]
        offset *= 2
        width //= 2
    if t == 0:
        tree[127] = float32(0)
    width = 1
    while width < 128:
        offset //= 2
        cuda.syncthreads()
        if t < width:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            kept = tree[left]
            tree[left] = tree[right]
            tree[right] += kept
        width *= 2
    cuda.syncthreads()
    out[first + 2 * t] = tree[2 * t]
    out[first + 2 * t + 1] = tree[2 * t + 1]


# --- sorts and histograms ------------------------------------------------------------------------------------------


@launched(3, 128, lambda rng: (rng.permutation(384).astype(np.float32),))
@cuda.jit
def bitonic_sorted(x):
    """Each block sorts its part in shared memory, by Batcher's bitonic network."""
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i]
    cuda.syncthreads()
    size = 2
    while size <= 128:
        stride = size // 2
        while stride > 0:
            other = t ^ stride
            if other > t:
                a, b = part[t], part[other]
                if (a > b) == ((t & size) == 0):
                    part[t] = b
                    part[other] = a
            cuda.syncthreads()
            stride //= 2
        size *= 2
    x[i] = part[t]


@launched(5, 128, lambda rng: (rng.random((640), np.float32), zeros(16, dtype="i4")))
@cuda.jit
def histogram(x, counts):
    """A histogram of each block in shared memory, added to the one of all."""
    own = cuda.shared.array(16, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 16:
        own[t] = 0
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.add(own, int32(x[i] * float32(16)), 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(counts, t, own[t])


@launched(6, 96, lambda rng: (rng.integers(0, 50, 550).astype(np.int32), zeros(550, dtype="i4"), zeros(1, dtype="i4")))
@cuda.jit
def compacted(x, out, count):
    """The even elements, each at a place that an atomic gives."""
    i = cuda.grid(1)
    if i < x.size and x[i] % 2 == 0:
        out[cuda.atomic.add(count, 0, 1)] = x[i]


# --- physics -------------------------------------------------------------------------------------------------------


@launched(4, 512, lambda rng: (rng.random((22, 3), np.float32), rng.random((2048, 3), np.float32), zeros(2048, 3)))
@cuda.jit
def attracted(suns, bodies, force):
    """The pull of each sun on each body, whose own coordinates stand within the loop."""
    i = cuda.grid(1)
    if i < bodies.shape[0]:
        fx = fy = fz = float32(0)
        for k in range(suns.shape[0]):
            dx, dy, dz = suns[k, 0] - bodies[i, 0], suns[k, 1] - bodies[i, 1], suns[k, 2] - bodies[i, 2]
            near = float32(1) / (dx * dx + dy * dy + dz * dz + float32(0.01))
            fx += dx * near
            fy += dy * near
            fz += dz * near
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz


@launched(
    3,
    128,
    lambda rng: (
        rng.random(300, np.float32),
        np.concatenate([[0], np.cumsum(rng.integers(0, 12, 300))]),
        rng.integers(0, 300, 3600),
        zeros(300),
    ),
)
@cuda.jit
def pushed_by_neighbours(x, first, neighbours, force):
    """A force from a list of neighbours, of another length for each particle."""
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(first[i], first[i + 1]):
            d = x[neighbours[k]] - x[i]
            if d != float32(0) and abs(d) < float32(0.5):
                total += d / abs(d) - d
        force[i] = total


@launched(4, 96, lambda rng: (rng.random(380, np.float32), rng.random(380, np.float32), zeros(33)))
@cuda.jit
def charge_on_grid(x, charge, density):
    """The charge of each particle, shared out to the two cells beside it."""
    i = cuda.grid(1)
    if i < x.size:
        place = x[i] * float32(density.size - 1)
        cell = int32(place)
        part = place - float32(cell)
        cuda.atomic.add(density, cell, charge[i] * (float32(1) - part))
        cuda.atomic.add(density, cell + 1, charge[i] * part)


def own() -> list[OrdinaryLaunch]:
    """Return the twenty launches of this file."""
    return list(_OWN)


def public(folder: Path) -> Iterator[OrdinaryLaunch]:
    """Yield the twenty launches of public kernels; raise FileNotFoundError for a file that the folder lacks."""
    for project in tomllib.loads(LIST.read_text("utf-8"))["project"]:
        for target, grid, block, given in project["kernels"]:
            if target in PUBLIC.get(project["name"], ()):
                kernel = kernel_of(folder / project["name"].replace("/", "+"), target)
                name = f"{project['name']} {target.rpartition(':')[2]}"
                yield OrdinaryLaunch(
                    name, kernel, numbers("grid", grid), numbers("block", block), partial(values, given)
                )


def launches() -> list[OrdinaryLaunch]:
    """Return the launches of this file, and those of public kernels if CHECKOUTS names a folder."""
    folder = os.environ.get(CHECKOUTS)
    return [*own(), *(public(Path(folder)) if folder else ())]


def launch_each() -> None:
    """Launch each of `launches` once, for a profiler to look at."""
    for each in launches():
        given = each.make()
        with cuda.profiling():
            each.kernel[each.grid, each.block](*given)
            cuda.synchronize()


def ordinary_counters(names: Names = None) -> Results:
    """Return the requests, sectors and wavefronts of each kernel; those of public projects if CHECKOUTS is set."""
    code = "from tools.lab.ordinary import launch_each; launch_each()"
    counted = parse_ncu(under_ncu(["-W", "ignore", "-c", code], WANTED, marked=True), (), WANTED)
    found = ({"pattern": each.name, **result} for each, result in zip(launches(), counted, strict=True))
    return [{name: value for name, value in result.items() if name != "rung"} for result in found]


def counted(result: Result) -> dict[tuple[str, str], tuple[int, int]]:
    """Return for each space and operation of a recorded launch the requests, and the sectors or the wavefronts."""
    amounts = {"global": "sectors", "shared": "wavefronts"}
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for space, amount in amounts.items():
        for op, names in {"load": ("load",), "store": ("store",), "atomic": ("atomic", "reduction")}.items():
            parts = [result.get(f"{space}_{name}_{what}", 0) for what in ("requests", amount) for name in names]
            half = len(names)
            if any(parts):
                found[space, op] = sum(parts[:half]), sum(parts[half:])
    return found
