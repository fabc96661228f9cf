"""The rungs with wgmma: speed, compared with cuBLAS and the instruction alone; exactness; the effect of the inputs.

Results are of four kinds, distinguished by their keys:

- ``rung``, without ``inputs``: a kernel, or cuBLAS, on an n×n product of random normal numbers, as in :mod:`tensor`.
- ``instruction`` with ``gflops``: wgmma alone, 64×256 results a warpgroup, two warpgroups a multiprocessor.
- ``instruction`` with ``compared``: results of one instruction compared with its definition in NumPy, bit by bit.
- ``inputs``: what was multiplied (zeros, small integers, normal numbers) for about six seconds, with the clock and
  the power meanwhile.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numba import cuda, float32, uint16

from course_lib.kernels import WGMMA, rung, wgmma_bulk, wgmma_tf32
from course_lib.kernels.llvm.warpgroup import HOPPER
from course_lib.kernels.rung import Rung
from course_lib.kernels.tensor_core_formats import to_bfloat16, to_float16
from course_lib.kernels.warpgroup import (
    BF16,
    F16,
    TF32,
    commit_products,
    descriptor,
    fence_proxy,
    fence_registers,
    products,
    wait_for_products,
)
from course_lib.machine.gpu.device import require
from course_lib.machine.gpu.experiments import Wanted
from course_lib.machine.gpu.result_types import Result, Results
from course_lib.machine.gpu.timing import input_sets, time_calls
from course_lib.machine.gpu.verification import configured, prepare

from .tensor import OPERANDS as OPERANDS_OF_ALL
from .tensor import OwnCase, clock, different, measure_cublas, measure_rung, multiply, numbers, timed

#: Besides those of mma.sync some that are denormals in float16, and zeros among them.
OPERANDS = (*OPERANDS_OF_ALL, {"spread": 12, "scale": 2.0**-14}, {"spread": 12, "scale": 2.0**-14, "zeros": 0.5})
SQUARES = (1024, 2048, 4000, 4095, 4096, 4097, 8191, 8192)
#: What each rung multiplies.
FORMATS = {r.name: "bfloat16" for r in WGMMA} | {"wgmma_float16": "float16", "wgmma_tf32": "TF32, cut off"}
#: (format, type of C) of what cuBLAS is measured with.
CUBLAS = (("TF32", "float32"), *((form, stored) for form in ("bfloat16", "float16") for stored in ("float32", form)))
FORMS = {"wgmma_bf16": BF16, "wgmma_f16": F16, "wgmma_tf32": TF32}
#: Blocks of one instruction compared, each with 64×64 results.
BLOCKS = 64
COLUMNS, RESULTS = 64, 32
RATE_COLUMNS, RATE_RESULTS, RATE_BYTES, RATE_ROUNDS = 256, 128, 64 * 1024, 8000
INPUTS_SIZE, INPUTS_LAUNCHES = 8192, 4000
#: What is multiplied, by what the result calls it.
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Any]] = {
    "zeros": lambda rng, shape: np.zeros(shape),
    "integers from -3 to 3": lambda rng, shape: rng.integers(-3, 4, shape),
    "uniform from -0.5 to 0.5": lambda rng, shape: rng.random(shape, np.float32) - np.float32(0.5),
    "normal": lambda rng, shape: rng.standard_normal(shape, np.float32),
}


def cases(ask: Wanted) -> Iterator[OwnCase]:
    """Yield the instructions bit by bit, their rates, the rungs and cuBLAS on squares, then the matter of inputs."""
    capability = tuple(require().get_current_device().compute_capability)[:2]
    if capability != HOPPER:
        why = f"wgmma needs compute capability 9.0, and this GPU has {capability[0]}.{capability[1]}"
        yield OwnCase("skipped", lambda _: [{"rung": r.name, "title": r.title, "skipped": why} for r in WGMMA])
        return
    for name in FORMS:
        for case in OPERANDS:
            yield OwnCase(f"{name} {case}", lambda _, name=name, case=case: compare(name, case))  # type: ignore[misc]
    for name in FORMS:
        yield OwnCase(name, partial(measure_instruction, name))
    for n in (size[0] for size in ask.sizes((n, n, n) for n in SQUARES)):
        for r in ask.rungs(WGMMA):
            yield OwnCase(f"{r.name} {n}", partial(measure_rung, r, fitted(r, n), FORMATS[r.name], normal_sets, n))
        yield OwnCase(f"cuBLAS {n}", partial(measure_cublas, normal_sets, n, CUBLAS))
    if not ask.names:
        for kind in DISTRIBUTIONS:
            yield OwnCase(kind, lambda _, kind=kind: inputs(kind))  # type: ignore[misc]


def fitted(r: Rung, n: int) -> dict[str, int]:
    """Return the parameters of a rung for n×n matrices on this GPU: its width of tiles, where it has a choice."""
    module: Any = wgmma_bulk if "columns" in r.params else wgmma_tf32 if "rows" in r.params else None
    return module.fitted(n, n, require().get_current_device().MULTIPROCESSOR_COUNT) if module else {}


@lru_cache(maxsize=1)
def normal_sets(n: int) -> list[Any]:
    """Return device copies (A, B, C) of random normal numbers, enough to exceed the L2 cache twice."""
    rng, sets = np.random.default_rng(0), input_sets(n, n, n)
    for X in (X for A, B, _ in sets for X in (A, B)):
        X.copy_to_device(rng.standard_normal((n, n), np.float32))
    return sets


# --- what the inputs change ----------------------------------------------------------------------------------------


def inputs(kind: str) -> Results:
    """Return the rates of cuBLAS and of the fastest rung in bfloat16 for matrices of a distribution."""
    n, rng, r = INPUTS_SIZE, np.random.default_rng(0), rung("wgmma_bulk")
    A, B = (DISTRIBUTIONS[kind](rng, (n, n)).astype(np.float32) for _ in range(2))
    C = np.zeros((n, n), np.float32)
    own = tuple(cuda.to_device(X) for X in (r.operand(A), r.operand(B), C))
    kernel, grid, block, params = prepare(r, n, n, n)
    launch = configured(kernel, grid, block, r.dynamic_bytes, own)
    entry = {"inputs": kind, "format": "bfloat16", "stored": "float32", "M": n, "N": n, "K": n}
    results = [{"rung": r.name, **entry, **_thinned(timed(launch, [own], n, INPUTS_LAUNCHES))}]
    try:
        import torch
    except ImportError:
        return results
    theirs = tuple(torch.as_tensor(X, device="cuda") for X in (A, B, C))
    theirs = *(X.bfloat16() for X in theirs[:2]), theirs[2]
    title = f"cuBLAS through PyTorch {torch.__version__}"
    its = _thinned(timed(multiply, [theirs], n, INPUTS_LAUNCHES))
    return [*results, {"rung": "cublas", "title": title, **entry, **its}]


def _thinned(result: Result) -> Result:
    """Return a result with every twentieth launch and reading."""
    return {key: value[::20] if isinstance(value, list) else value for key, value in result.items()}


# --- the instruction alone -----------------------------------------------------------------------------------------


@lru_cache
def alone(name: str) -> Any:
    """Return a kernel in which two warpgroups multiply the same tiles repeatedly."""
    form = FORMS[name]
    multiply, wait = products(form, RATE_COLUMNS), wait_for_products(RATE_COLUMNS)
    word = uint16 if form.dtype == "uint16" else float32

    @cuda.jit
    def multiply_the_same(values: Any, out: Any, rounds: int) -> None:
        tiles = cuda.shared.array(0, word, 1024)
        acc = cuda.local.array(RATE_RESULTS, float32)
        for i in range(cuda.threadIdx.x, values.size, 256):
            tiles[i] = values[i]
        fence_proxy()
        cuda.syncthreads()
        done = 0
        while True:
            fence_registers()
            for _ in range(4):
                a, b = descriptor(tiles, 0, 0, 1024, 128), descriptor(tiles, 0, 8192, 1024, 128)
                multiply(acc, a, b, done)
            commit_products()
            wait(acc, 1)
            done += 1
            if done >= rounds:
                break
        wait(acc, 0)
        total = float32(0)
        for i in range(RATE_RESULTS):
            total += acc[i]
        out[cuda.grid(1)] = total

    return multiply_the_same


def measure_instruction(name: str, repeats: int) -> Result:
    """Return the rate of one instruction from shared memory, of random numbers."""
    form = FORMS[name]
    blocks = int(require().get_current_device().MULTIPROCESSOR_COUNT)
    rng = np.random.default_rng(0)
    values = rng.standard_normal(RATE_BYTES // np.dtype(form.dtype).itemsize, np.float32)
    if form.dtype == "uint16":
        values = to_bfloat16(values) if form is BF16 else to_float16(values)
    arguments = (cuda.to_device(values), cuda.device_array(256 * blocks, np.float32), RATE_ROUNDS)
    launch = configured(alone(name), blocks, 256, RATE_BYTES, arguments)
    with clock() as samples:
        milliseconds = time_calls(launch, [arguments], repeats)
    flop = 2 * 2 * 64 * RATE_COLUMNS * form.depth * 4 * RATE_ROUNDS * blocks
    rate = flop / float(np.median(milliseconds)) / 1e6
    return {"instruction": name, "milliseconds": list(milliseconds), "gflops": rate, **samples}


@lru_cache
def once(name: str) -> Any:
    """Return a kernel in which each block does one instruction: D = A B + C, of 64×depth (B's columns for TF32)."""
    form = FORMS[name]
    multiply, wait = products(form, COLUMNS), wait_for_products(COLUMNS)
    word, elements, by_rows = (uint16, 1024, True) if form.dtype == "uint16" else (float32, 512, False)
    depth, piece = form.depth, form.depth // 2

    @cuda.jit
    def one_instruction(A: Any, B: Any, C: Any, D: Any) -> None:
        A_tile = cuda.shared.array(elements, word, 128)
        B_tile = cuda.shared.array(elements, word, 128)
        acc = cuda.local.array(RESULTS, float32)
        n, thread = cuda.blockIdx.x, cuda.threadIdx.x
        for i in range(thread, 64 * depth, 128):
            row, k = i // depth, i % depth
            place = k // piece * (64 * piece) + row * piece + k % piece
            A_tile[place] = A[n, row, k]
            if by_rows:  # the same place, turned: eight rows of B below each other, eight columns side by side
                B_tile[row // 8 * 128 + k * 8 + row % 8] = B[n, k, row]
            else:
                B_tile[place] = B[n, k, row]
        row, col = thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2
        for i in range(RESULTS):
            acc[i] = C[n, row + i // 2 % 2 * 8, col + i // 4 * 8 + i % 2]
        fence_proxy()
        cuda.syncthreads()
        a = descriptor(A_tile, 0, 1024, 128, 0)
        b = descriptor(B_tile, 0, 128, 256, 0) if by_rows else descriptor(B_tile, 0, 1024, 128, 0)
        fence_registers()
        multiply(acc, a, b, 1)
        commit_products()
        wait(acc, 0)
        for i in range(RESULTS):
            D[n, row + i // 2 % 2 * 8, col + i // 4 * 8 + i % 2] = acc[i]

    return one_instruction


def operands(name: str, case: dict[str, float], blocks: int = BLOCKS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random A (blocks, 64, depth), B (blocks, depth, 64) and C (blocks, 64, 64) of the format's types."""
    rng, form = np.random.default_rng(), FORMS[name]
    A, B = (numbers(rng, (blocks, *shape), **case) for shape in ((64, form.depth), (form.depth, COLUMNS)))
    if form is not TF32:
        A, B = (to_bfloat16(X) if form is BF16 else to_float16(X) for X in (A, B))
    return A, B, numbers(rng, (blocks, 64, COLUMNS), **case)


def compare(name: str, case: dict[str, float]) -> Result:
    """Return how many results of one instruction on random numbers differ in any bit from its definition in NumPy."""
    A, B, C = operands(name, case)
    D = np.zeros_like(C)
    once(name)[len(A), 128](A, B, C, D)
    form = FORMS[name]
    meant = np.stack([form.sums(form.numbers(a), form.numbers(b), c) for a, b, c in zip(A, B, C, strict=True)])
    return {"instruction": name, "operands": case, **different(D, meant)}
