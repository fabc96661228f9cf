"""Measurements of `product`, cuBLAS and the fastest algorithm of cuBLASLt, over many shapes."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..gpu.cublas import cublas_matmul
from ..gpu.device import require
from ..gpu.timing import Timing, input_sets, time_calls
from ..gpu.verification import TOLERANCE, distance
from . import cublaslt
from .multiplication import Gpu, Operands, plan_of, prepare

#: n of squares; the ragged ones are 1000, 1025, 2000, 2049, 3000, 4095 and 4097.
SQUARES = (
    *(64, 128, 256, 512, 768, 1000, 1024, 1025, 1536, 2000, 2048, 2049, 3000, 3072, 4095, 4096, 4097),
    *(5120, 6144, 8192, 12288, 16384),
)
#: M, N, K: few tiles and a long K, the reverse, one thin side, a row or a column, and sizes that no tile divides.
RECTANGLES = (
    *((1000, 500, 3000), (8192, 8192, 128), (1023, 4093, 2047), (4096, 16, 4096), (64, 4096, 4096), (128, 128, 8192)),
    *((1000, 3000, 500), (1024, 512, 3072), (1024, 3072, 512), (4096, 1, 4096), (1, 4096, 4096), (4096, 4, 4096)),
    *((2, 5000, 3000), (16, 4096, 4096), (33, 4097, 2000), (4096, 32, 4096), (300, 300, 30000), (10000, 100, 100)),
    *((100, 10000, 1000), (50000, 64, 64), (8192, 1024, 1024), (2048, 8192, 512), (7, 7, 100000), (257, 8191, 33)),
    *((4096, 4096, 16), (777, 555, 1333)),
)
SHAPES = (*((n, n, n) for n in SQUARES), *RECTANGLES)
#: Shapes that nobody chose: how many of each seed, and their limits. The rule was tuned with the first seed alone.
RANDOM_SEEDS, RANDOM_COUNT = (1, 2), 100
LARGEST_SIDE, MOST_MULTIPLICATIONS = 16384, 2**38
#: Milliseconds for the repeats of one library on one shape; the recording states how many repeats fitted.
MILLISECONDS = 600
#: The most launches of one product: copies of A and B, the tiles, the last columns and the last rows.
MOST_LAUNCHES = 5
#: Small products whose launches are counted: whole and shared tiles, copies, inner products along and across K.
COUNTED = ((64, 64, 64), (70, 44, 600), (130, 257, 100), (70, 45, 300), (512, 512, 40), (2, 70, 500), (70, 2, 1000))


def products(
    sizes: Iterable[tuple[int, int, int]], repeats: int, progress: Callable[..., Iterable[Any]]
) -> list[dict[str, Any]]:
    """Measure `product`, cuBLAS and the fastest algorithm of cuBLASLt on every shape; a wrong product is not timed."""
    multiprocessors = int(require().get_current_device().MULTIPROCESSOR_COUNT)
    results = []
    for size in progress(sizes, lambda size: "×".join(map(str, size))):
        results += _measure(size, Gpu(multiprocessors), repeats)
    return results


def random_shapes(seed: int) -> list[tuple[int, int, int]]:
    """Return RANDOM_COUNT shapes (M, N, K), log-uniform up to LARGEST_SIDE, with at most MOST_MULTIPLICATIONS."""
    rng = np.random.default_rng(seed)
    found: list[tuple[int, int, int]] = []
    while len(found) < RANDOM_COUNT:
        M, N, K = np.exp(rng.uniform(0, np.log(LARGEST_SIDE + 1), 3)).astype(int).tolist()
        if M * N * K <= MOST_MULTIPLICATIONS:
            found.append((M, N, K))
    return found


def random_products(repeats: int, progress: Callable[..., Iterable[Any]]) -> list[dict[str, Any]]:
    """Measure the random shapes of every seed as `products` does; each result states its seed."""
    return [
        {"seed": seed, **result} for seed in RANDOM_SEEDS for result in products(random_shapes(seed), repeats, progress)
    ]


def _measure(size: tuple[int, int, int], gpu: Gpu, repeats: int) -> list[dict[str, Any]]:
    """Return the results of one shape: product, cublas and, if it is installed, cublaslt."""
    M, N, K = size
    sets = input_sets(*size)
    repeats = max(3, min(repeats, int(MILLISECONDS / (2e-9 * M * N * K / 40 + 0.01))))
    shape = dict(zip("MNK", size, strict=True))
    A, B, C = sets[0]
    calls = [prepare(*arrays) for arrays in sets]
    calls[0]()
    error = distance(*(X.copy_to_host() for X in sets[0]))
    chosen = plan_of(Operands(A, B, C, np.float32(1), np.float32(0), False, False), *size, gpu)
    how = {"kernels": chosen.kernels, "whole": chosen.whole, "shares": chosen.shares}
    entry = {"rung": "product", **shape, "params": how, "relative_error": error}
    if not error <= TOLERANCE["float32"]:
        results = [{**entry, "wrong": f"relative error {error:.1e}"}]
    else:
        results = [{**entry, **_timed(size, lambda call: call(), [(call,) for call in calls], repeats, MOST_LAUNCHES)}]
    name, matmul = cublas_matmul()
    if name and matmul:
        results.append({"rung": "cublas", "title": name, **shape, **_timed(size, matmul, sets, repeats)})
    if cublaslt.available():
        results.append({"rung": "cublaslt", **shape, **_fastest(size, sets, repeats)})
    return results


def launch_counted() -> None:
    """Launch the products of COUNTED once, for a profiler."""
    cuda = require()
    for size in COUNTED:
        prepare(*input_sets(*size)[0])()
    cuda.synchronize()


def _timed(
    size: tuple[int, int, int], call: Callable[..., object], sets: list[Any], repeats: int, launches: int = 1
) -> dict[str, Any]:
    """Return a result: the milliseconds of every repeat, and the rate by their median."""
    timing = Timing(*size, time_calls(call, sets, repeats, launches=launches))
    return {"milliseconds": list(timing.milliseconds), "gflops": timing.gflops}


def _fastest(size: tuple[int, int, int], sets: list[Any], repeats: int) -> dict[str, Any]:
    """Return the result of the fastest of cuBLASLt's algorithms, found by a few launches of each."""
    workspace = require().device_array(cublaslt.WORKSPACE_BYTES, np.uint8)
    pointers = [tuple(_pointer(X) for X in (*arrays, workspace)) for arrays in sets]
    algorithms = cublaslt.algorithms(*size)
    if not algorithms:
        return {"skipped": "the library proposes no algorithm"}
    few = min(repeats, 4)
    medians = [float(np.median(time_calls(call, pointers, few, warmups=1))) for call in algorithms]
    fastest = int(np.argmin(medians))
    return {"algorithms": len(algorithms), **_timed(size, algorithms[fastest], pointers, repeats)}


def _pointer(X: Any) -> int:
    return int(X.__cuda_array_interface__["data"][0])
