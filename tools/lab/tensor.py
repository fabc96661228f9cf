"""The rungs on tensor cores: their speed, beside cuBLAS and the instruction alone, and their error against float64.

Results are of four kinds, distinguished by their keys:

- ``rung``: a kernel, or cuBLAS, on an n×n product; ``format`` is what it multiplies, ``stored`` the type of C, float32
  for all kernels of the course; ``relative_error`` is the distance to the float64 product of the matrices as they are,
  ``sum_error`` to that of the numbers that are multiplied.
- ``instruction`` with ``gflops``: mma.sync alone, from registers to registers, 8 warps a multiprocessor with 32
  independent sums a warp, as in the rungs.
- ``instruction`` with ``compared``: results of one instruction compared with its definition in NumPy, bit by bit; a
  NaN is equal to any NaN.
- ``clock_megahertz``, in the first two: the multiprocessors' clock during the measurement, as nvidia-smi read it.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from time import sleep
from typing import Any

import numpy as np
from numba import cuda, float32, uint32

from course_lib.kernels import rung
from course_lib.kernels.rung import Rung
from course_lib.kernels.tensor_core import BF16, TF32, Mma, mma_bf16, mma_tf32
from course_lib.kernels.tensor_core_formats import round_to_tf32, to_bfloat16, to_tf32
from course_lib.machine.gpu.device import require
from course_lib.machine.gpu.experiments import Wanted
from course_lib.machine.gpu.measuring import RAGGED, resources
from course_lib.machine.gpu.result_types import Result, Results
from course_lib.machine.gpu.timing import Timing, input_sets, time_calls
from course_lib.machine.gpu.verification import configured, distance, prepare, verify

SQUARES = (1024, 2048, 4096, 8192)
#: The rungs, the parameters that they are measured with, and the format that each multiplies.
CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("best", {}, "float32"),
    ("tensor_cores", {}, "TF32, rounded"),
    ("tensor_cores_tiled", {"rounded": False}, "TF32, cut off"),
    ("tensor_cores_tiled", {"rounded": True}, "TF32, rounded"),
    ("tensor_cores_bf16", {}, "bfloat16"),
)
#: (format, type of C) of what cuBLAS is measured with. PyTorch stores the sums of 16-bit numbers in 16 bits by default.
CUBLAS = (("float32", "float32"), ("TF32", "float32"), ("bfloat16", "float32"), ("bfloat16", "bfloat16"))
#: What each instruction multiplies, the instruction, and the type of a word of its operands.
FORMS: dict[str, tuple[Mma, Any, Any]] = {"mma_tf32": (TF32, mma_tf32, float32), "mma_bf16": (BF16, mma_bf16, uint32)}
#: The error allowed for the sums: float32's rounding, or the truncation of tensor cores, of up to 16,384 products.
SUMS = 1e-4
SAMPLES_MILLISECONDS = 10
PAUSE_SECONDS = 0.5
RATE_WARPS, RATE_ROUNDS = 8, 4000
#: Warps compared per instruction; the magnitudes of their operands, the shares of zeros and of non-finite numbers.
WARPS = 2000
OPERANDS: tuple[dict[str, float], ...] = (
    {"spread": 0},
    {"spread": 12},
    {"spread": 60},
    {"spread": 2, "zeros": 0.5},
    {"spread": 2, "scale": 2.0**-64},
    {"spread": 8, "scale": 2.0**-130},
    {"spread": 2, "scale": 2.0**63},
    {"spread": 2, "special": 0.02},
)


@dataclass(frozen=True)
class OwnCase:
    """A case that measures itself: what it is called, and a function of the number of repeats."""

    name: str
    measure: Callable[[int], Result | Results]

    def __str__(self) -> str:
        return self.name


def cases(ask: Wanted) -> Iterator[OwnCase]:
    """Yield the instructions bit by bit, then their rates, then the rungs and cuBLAS on squares of several sizes."""
    for name, case in product(FORMS, OPERANDS):
        yield OwnCase(f"{name} {case}", lambda _, name=name, case=case: compare_mma(name, case))  # type: ignore[misc]
    yield OwnCase("to_tf32", lambda _: compare_rounding())
    for name, warps in product(FORMS, (4, RATE_WARPS)):
        yield OwnCase(f"{name} {{{warps} warps}}", partial(measure_instruction, name, warps=warps))
    for n in (size[0] for size in ask.sizes((n, n, n) for n in SQUARES)):
        for name, params, form in CASES:
            if not ask.names or name in ask.names:
                yield OwnCase(f"{name} {n}", partial(measure_rung, rung(name), params, form, uniform_sets, n))
        yield OwnCase(f"cuBLAS {n}", partial(measure_cublas, uniform_sets, n, CUBLAS))


#: Device copies (A, B, C) of uniform random numbers, enough to exceed the L2 cache twice.
uniform_sets = lru_cache(maxsize=1)(lambda n: input_sets(n, n, n))


# --- speed and accuracy --------------------------------------------------------------------------------------------


def measure_rung(
    r: Rung, params: dict[str, Any], form: str, sets_of: Callable[[int], list[Any]], n: int, repeats: int
) -> Result:
    """Return the result of one rung on square matrices: wrong, or measured."""
    sets = sets_of(n)
    kernel, grid, block, params = prepare(r, n, n, n, **params)
    entry: Result = {"rung": r.name, "title": r.title, "format": form, "stored": "float32"}
    entry |= {"params": params, "M": n, "N": n, "K": n}
    entry |= {"grid": grid, "block": block}
    ragged = verify(r, *RAGGED, **params)
    if not ragged.correct:
        return {**entry, "wrong": f"relative error {ragged.relative_error:.1e} at {RAGGED}"}
    own = [tuple(require().to_device(r.operand(X.copy_to_host())) for X in (A, B)) + (C,) for A, B, C in sets]
    launch = configured(kernel, grid, block, r.dynamic_bytes, own[0])
    for arrays in own:  # the first launch with a matrix may have to describe it to the copy engine
        launch(*arrays)
    entry |= errors(sets[0], own[0][2].copy_to_host(), lambda X: r.multiplied(X, **params))
    if not entry["sum_error"] <= SUMS:
        return {**entry, "wrong": f"relative error of the sums {entry['sum_error']:.1e}"}
    return {**entry, **timed(launch, own, n, repeats), **resources(kernel, block, r.dynamic_bytes)}


def errors(arrays: Any, C: np.ndarray, multiplied: Callable[..., Any] | None) -> Result:
    """Return the distances of C from the float64 product, and from that of the numbers that were multiplied."""
    A, B = (X.copy_to_host() for X in arrays[:2])
    result = {"relative_error": distance(A, B, C)}
    return result if multiplied is None else {**result, "sum_error": distance(multiplied(A), multiplied(B), C)}


def measure_cublas(
    sets_of: Callable[[int], list[Any]], n: int, forms: Sequence[tuple[str, str]], repeats: int
) -> Results:
    """Return the results of cuBLAS in these formats and types of C; none if PyTorch is missing."""
    try:
        import torch
    except ImportError:
        return []
    sets = sets_of(n)
    results = []
    for form, stored in forms:
        torch.backends.cuda.matmul.allow_tf32 = form == "TF32"
        taken = getattr(torch, form) if form in ("bfloat16", "float16") else torch.float32
        types = taken, taken, getattr(torch, stored)
        own = [
            tuple(torch.as_tensor(X, device="cuda").to(t) for X, t in zip(arrays, types, strict=True))
            for arrays in sets
        ]
        entry: Result = {"rung": "cublas", "title": f"cuBLAS through PyTorch {torch.__version__}"}
        entry |= {"format": form, "stored": stored}
        multiply(*own[0])
        entry |= {"M": n, "N": n, "K": n, **errors(sets[0], own[0][2].float().cpu().numpy(), None)}
        results.append({**entry, **timed(multiply, own, n, repeats)})
    torch.backends.cuda.matmul.allow_tf32 = False
    return results


def multiply(A: Any, B: Any, C: Any) -> None:
    """Multiply PyTorch's matrices; C may be of another type than A and B."""
    import torch

    if C.dtype == A.dtype:
        torch.mm(A, B, out=C)
    else:
        torch.mm(A, B, out_dtype=C.dtype, out=C)


def timed(call: Callable[..., object], sets: list[Any], n: int, repeats: int) -> Result:
    """Return the milliseconds of every repeat, the rate at their median, and the clock meanwhile, after a pause.

    Tensor cores draw so much power that the GPU lowers its clock after about 0.1 seconds of work.
    """
    sleep(PAUSE_SECONDS)
    with clock() as samples:
        timing = Timing(n, n, n, time_calls(call, sets, repeats))
    return {"warmups": 3, "milliseconds": list(timing.milliseconds), "gflops": timing.gflops, **samples}


@contextmanager
def clock() -> Iterator[Result]:
    """Yield a dictionary; after the block it holds what nvidia-smi read during the block, if it read anything.

    The clock; the power, a mean over the last second; whether the driver lowers the clock because of the power.
    """
    found: Result = {}
    program = shutil.which("nvidia-smi")
    if program is None:
        yield found
        return
    asked = "clocks.sm,power.draw.average,clocks_event_reasons.sw_power_cap"
    query = [program, f"--query-gpu={asked}", "--format=csv,noheader,nounits", f"--loop-ms={SAMPLES_MILLISECONDS}"]
    with subprocess.Popen(query, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        with suppress(ValueError):
            reader.stdout.readline()  # it measures from now on
        try:
            yield found
        finally:
            reader.terminate()
            samples = [line.split(", ") for line in reader.stdout.read().splitlines() if line.count(", ") == 2]
    if samples:
        found["clock_megahertz"] = [int(clock) for clock, *_ in samples if clock.isdigit()]
        found["power_watts"] = [float(power) for _, power, _ in samples if power.replace(".", "").isdigit()]
        found["held_by_power"] = sum(held == "Active" for *_, held in samples) / len(samples)


# --- the instructions alone ----------------------------------------------------------------------------------------


@lru_cache
def alone(name: str) -> Any:
    """Return a kernel in which every warp multiplies 4×8 pairs of fragments repeatedly, in registers."""
    _, mma, word = FORMS[name]

    @cuda.jit
    def multiply_in_registers(values: Any, out: Any, rounds: int) -> None:
        a = cuda.local.array((4, 4), word)
        b = cuda.local.array((8, 2), word)
        acc = cuda.local.array((4, 8, 4), float32)
        thread = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        for i in range(4):
            for e in range(4):
                a[i, e] = values[4 * i + e, thread]
        for j in range(8):
            for e in range(2):
                b[j, e] = values[16 + 2 * j + e, thread]
        for i in range(4):
            for j in range(8):
                for e in range(4):
                    acc[i, j, e] = 0
        for _ in range(rounds):
            for j in range(8):
                for i in range(4):
                    c = acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3]
                    d = mma((a[i, 0], a[i, 1], a[i, 2], a[i, 3]), (b[j, 0], b[j, 1]), c)
                    acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3] = d
        total = float32(0)
        for i in range(4):
            for j in range(8):
                for e in range(4):
                    total += acc[i, j, e]
        out[thread] = total

    return multiply_in_registers


def measure_instruction(name: str, repeats: int, warps: int = RATE_WARPS) -> Result:
    """Return the rate of one instruction from registers to registers, on random numbers, by so many warps."""
    blocks = int(require().get_current_device().MULTIPROCESSOR_COUNT)
    threads = 32 * warps
    values = operands(name, np.random.default_rng(0), (32, blocks * threads), {"spread": 0})[0]
    sets = [(cuda.to_device(values), cuda.device_array(blocks * threads, np.float32), RATE_ROUNDS)]
    with clock() as samples:
        milliseconds = time_calls(alone(name)[blocks, threads], sets, repeats)
    flop = 2 * 16 * 8 * FORMS[name][0].depth * 32 * warps * blocks * RATE_ROUNDS
    rate = flop / float(np.median(milliseconds)) / 1e6
    return {"instruction": name, "warps": warps, "milliseconds": list(milliseconds), "gflops": rate, **samples}


@lru_cache
def once(name: str) -> Any:
    """Return a kernel whose blocks, one warp each, do one instruction; item i of lane t of warp w is at [i, w, t]."""
    mma = FORMS[name][1]

    @cuda.jit
    def one_instruction(a: Any, b: Any, c: Any, d: Any) -> None:
        w, t = cuda.blockIdx.x, cuda.threadIdx.x
        a_items = a[0, w, t], a[1, w, t], a[2, w, t], a[3, w, t]
        c_items = c[0, w, t], c[1, w, t], c[2, w, t], c[3, w, t]
        d[0, w, t], d[1, w, t], d[2, w, t], d[3, w, t] = mma(a_items, (b[0, w, t], b[1, w, t]), c_items)

    return one_instruction


@cuda.jit
def rounded(x: Any, out: Any) -> None:
    """Round each element to TF32."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = to_tf32(x[i])


def numbers(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    spread: float = 0,
    scale: float = 1.0,
    zeros: float = 0.0,
    special: float = 0.0,
) -> Any:
    """Return float32: normal numbers times scale and powers of two up to 2**±spread, some zero, some not finite."""
    x = rng.standard_normal(shape) * np.exp2(rng.integers(-int(spread), int(spread) + 1, shape))
    x = np.where(rng.random(shape) < zeros, 0, x * scale)
    with np.errstate(over="ignore"):
        return np.where(rng.random(shape) < special, rng.choice([np.inf, -np.inf, np.nan], shape), x).astype(np.float32)


def operands(name: str, rng: np.random.Generator, shape: tuple[int, ...], case: dict[str, float]) -> Any:
    """Return operands of an instruction, each of shape `shape`: a and b in its input type, c in float32."""
    c = numbers(rng, shape, **case)
    if name == "mma_tf32":
        return numbers(rng, shape, **case), numbers(rng, shape, **case), c
    halves = (to_bfloat16(numbers(rng, (*shape, 2), **case)) for _ in range(2))
    a, b = (np.ascontiguousarray(half).view(np.uint32)[..., 0] for half in halves)
    return a, b, c


def compare_mma(name: str, case: dict[str, float]) -> Result:
    """Return how many results of one mma on random fragments differ in their bits from its definition in NumPy."""
    a, b, c = operands(name, np.random.default_rng(), (4, WARPS, 32), case)
    b = np.ascontiguousarray(b[:2])
    d = np.zeros_like(c)
    once(name)[WARPS, 32](a, b, c, d)
    return {"instruction": name, "operands": case, **different(d, np.stack(FORMS[name][0].of_warps(a, b, c)))}


def compare_rounding() -> Result:
    """Return how many of a million random bit patterns to_tf32 rounds differently from its definition in NumPy."""
    x = np.random.default_rng().integers(0, 2**32, 2**20, np.uint64).astype(np.uint32).view(np.float32)
    out = np.zeros_like(x)
    rounded[x.size // 256, 256](x, out)
    return {"instruction": "to_tf32", "operands": {"bits": "random"}, **different(out, round_to_tf32(x))}


def different(found: np.ndarray, meant: np.ndarray) -> Result:
    """Return how many results were compared, and how many differ in their bits; a NaN is equal to any NaN."""
    unequal = (found.view(np.uint32) != meant.view(np.uint32)) & ~(np.isnan(found) & np.isnan(meant))
    return {"compared": int(found.size), "different": int(unequal.sum())}
