"""Kernels whose results are in other registers than the compiler's: what the queues at the register banks cost.

All else stays: the instructions, their order, what they load. The four registers of a vector of results exchange their
places, so four neighbours in C do, too. They are all 0 before the loop, and in it only multiply-adds use them.
"""

import random
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import cuda

from course_lib.kernels import rung
from course_lib.machine.gpu.counters import METRICS, parse_ncu, under_ncu
from course_lib.machine.gpu.measuring import Problem
from course_lib.machine.gpu.result_types import Progress, Result
from course_lib.machine.gpu.timing import Timing, time_calls
from course_lib.machine.timing_model.register_banks import lost_in_queues

SIZE = 4096, 4096, 4096
#: Cycles that a multiply-add shall lose in the queues, as near as exchanges come; None: the compiler's registers.
WANTED = (None, 0, 0.2, 0.3, 0.4, 0.5, 1, None)
SEEDS = (0, 1)
CASES = [(name, lost, seed) for name in ("vectorized", "warp_tiled") for lost in WANTED for seed in SEEDS]
EXCHANGES = 2000
COUNTED = {name: METRICS[name] for name in METRICS if name.startswith(("instructions", "issue_active", "stalled"))}
#: Bytes of an instruction, and the low bits of one that multiplies and adds three registers.
BYTES, FFMA = 16, 0x223
#: The bytes of its registers: result, two factors and the addend; the last byte has the bits that say `.reuse`.
RESULT, OPERANDS, LAST = 2, (3, 4, 8), 15


def multiply_adds(cubin: bytes) -> list[int]:
    """Return the places of the multiply-adds in an ELF file with one kernel."""
    (table,), (size, count, names) = struct.unpack_from("<Q", cubin, 0x28), struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + size * i) for i in range(count)]
    (text,) = (each for each in sections if cubin[sections[names][4] + each[0] :].startswith(b".text."))
    places = range(text[4], text[4] + text[5], BYTES)
    return [place for place in places if struct.unpack_from("<H", cubin, place)[0] & 0xFFF == FFMA]


def lines(cubin: bytes, places: Sequence[int]) -> list[str]:
    """Return the multiply-adds at `places` as the disassembler writes them; what is between two of them is a line."""
    code: list[str] = []
    for before, place in zip([0, *places], places, strict=False):
        keep = cubin[place + LAST] >> 2
        reads = [f"R{cubin[place + at]}{'.reuse' * (keep >> bit & 1)}" for bit, at in enumerate(OPERANDS)]
        code += ["NOP"] * (place != before + BYTES) + [f"FFMA R{cubin[place + RESULT]}, {', '.join(reads)}"]
    return code


def renamed(cubin: bytes, places: Sequence[int], names: Mapping[int, int]) -> bytes:
    """Return the code with other registers for the results; `names` maps the compiler's to them."""
    made = bytearray(cubin)
    for place in places:
        if made[place + RESULT] != made[place + OPERANDS[2]]:
            raise ValueError("a multiply-add does not add to its own result")
        made[place + RESULT] = made[place + OPERANDS[2]] = names[made[place + RESULT]]
    return bytes(made)


def searched(cubin: bytes, wanted: float, seed: int) -> bytes:
    """Return the code with exchanged registers whose queues cost as near to `wanted` as a search from `seed` comes."""
    places = multiply_adds(cubin)
    drawn = random.Random(seed)
    best = np.inf
    results = {cubin[place + RESULT] for place in places}
    vectors = [[r for r in sorted(results) if r // 4 == vector] for vector in sorted({r // 4 for r in results})]
    names = {register: register for register in results}
    for _ in range(EXCHANGES):
        one, other = drawn.sample(drawn.choice(vectors), 2)
        tried = names | {one: names[other], other: names[one]}
        found = abs(lost_in_queues(lines(renamed(cubin, places, tried), places)) - wanted)
        if found <= best:
            best, names = found, tried
    return renamed(cubin, places, names)


def built(name: str, wanted: float | None, seed: int, arrays: Sequence[Any]) -> tuple[Callable[..., None], float]:
    """Return a rung's launch with other registers, and the cycles that a multiply-add loses in their queues."""
    from cuda.core import ObjectCode

    kernel = cuda.jit(rung(name).make().py_func)
    kernel.compile(tuple(map(kernel.typeof_pyval, arrays)))
    (compiled,) = kernel.overloads.values()
    library = compiled._codelibrary
    cubin = library.get_cubin().code
    if wanted is not None:
        cubin = searched(cubin, wanted, seed)
        library._cubin_cache = dict.fromkeys(library._cubin_cache, ObjectCode.from_cubin(cubin))
        library._cufunc_cache.clear()
    return kernel[rung(name).launch(*SIZE)], lost_in_queues(lines(cubin, multiply_adds(cubin)))


def registers(repeats: int, progress: Progress) -> list[Result]:
    """Time every case and count its stalls; its results must be those of the compiler's registers, four by four."""
    problem = Problem(*SIZE)
    results = list[Result]()
    plain = dict[str, Any]()
    for name, wanted, seed in progress(CASES, str):
        launch, lost = built(name, wanted, seed, problem.sets[0])
        C = cuda.to_device(np.full(SIZE[:2], np.nan, np.float32))
        launch(problem.A, problem.B, C)
        fours = np.sort(C.copy_to_host().reshape(-1, 4))
        if not np.array_equal(fours, plain.setdefault(name, fours)):
            raise RuntimeError(f"{name} has other results with exchanged registers")
        timing = Timing(*SIZE, time_calls(launch, problem.sets, repeats))
        entry: Result = {"rung": name, "wanted": wanted, "seed": seed, "lost_in_queues": lost}
        results.append({**entry, "milliseconds": list(timing.milliseconds), "gflops": timing.gflops})
    text = under_ncu(["-W", "ignore", "-c", "from tools.lab.registers import launch_all; launch_all()"], COUNTED)
    return [{**counted, **result} for counted, result in zip(parse_ncu(text, SIZE, COUNTED), results, strict=True)]


def launch_all() -> None:
    """Launch every case once, for a profiler."""
    arrays = [cuda.to_device(np.ones(SIZE[:2], np.float32)) for _ in range(3)]
    for case in CASES:
        built(*case, arrays)[0](*arrays)
    cuda.synchronize()
