"""Probe: which readers of uniform registers keep the uniform unit, and for how long. 

    python -W ignore probe.py OUT.json            # on the device, in the repository's root, with numba-cuda
    python -W ignore probe.py --compile           # no device: prints the inner loops' instruction counts

Each kernel: 1, 2, 4, 8 warps a scheduler; uniform values change in every step. `case`: (operation of the readers, readers of the
changing value, of a constant one, of none). What is in each loop, --compile says; the figures are read beside it.
"""
import json, sys, time
import numpy as np

sys.path.insert(0, ".")
from numba import cuda, float32, int64, types, uint32
from tools.lab.kernels import clock_after, note

# No inline assembly for readers: its operands are vector registers, and the values would not be uniform any more.
OPS = ("add", "xor", "multiply", "shift", "compare")


def make(op, changing, constant, others):
    """A step: uniform instructions change a value; readers of it, of a constant uniform value, of no uniform value."""
    add, xor, multiply, shift = (op == name for name in OPS[:4])

    @cuda.jit
    def probe(n, m, rounds, out, clocks):
        a, k, l = uint32(n), uint32(m), uint32(n)
        d, e, f = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.x * 3 + 1), uint32(cuda.threadIdx.x + 7)
        own = uint32(cuda.threadIdx.x | 5)
        cuda.syncthreads()
        first = clock_after(float32(d))
        for _ in range(rounds):
            for _ in range(8):
                a = uint32(uint32(a ^ l) + k)
                for number in range(changing + constant + others):
                    u = a if number < changing else k if number < changing + constant else own
                    v = d if number < changing else e if number < changing + constant else f
                    if add:
                        v = uint32(uint32(v ^ f) + u)
                    elif xor:
                        v = uint32(uint32(v + f) ^ u)
                    elif multiply:
                        v = uint32(uint32(v * u) + v)
                    elif shift:
                        v = uint32(uint32(v << uint32(2)) + u)
                    else:
                        v = uint32(v + uint32(3)) if v < u else v
                    if number < changing:
                        d = v
                    elif number < changing + constant:
                        e = v
                    else:
                        f = v
        total = float32(d) + float32(e) + float32(f) + float32(a)
        last = clock_after(total)
        out[cuda.threadIdx.x] = total
        note(clocks, first, last)

    return probe


CASES = [(op, c, k, o) for op in OPS for c, k, o in ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 2, 0), (0, 4, 0), (2, 2, 0), (0, 0, 2))]
SIGNATURE = (int64, int64, int64, types.Array(float32, 1, "C"), types.Array(int64, 3, "C"))


def loops():
    """Print what the compiler made of each case: the counts of the longest loop, by kind and kind of reader."""
    import re
    from collections import Counter
    from course_lib.machine.compiler import machine_code

    for case in CASES:
        code = machine_code(make(*case), SIGNATURE)
        low, high = max(code.loops, key=lambda loop: loop[1] - loop[0])
        counts = Counter()
        inside = code.instructions[low : high + 1]
        written = set()
        for each in inside:
            if each.operation.startswith("U"):
                written |= set(re.findall(r"\bUR\d+", each.text.split(",")[0]))
        for each in inside:
            name = each.operation.split(".")[0]
            read = set(re.findall(r"\bUR\d+", each.text)) if not name.startswith("U") else set()
            counts[name + (" changing" if read & written else " constant" if read else "")] += 1
        yield {"case": case, "loop": dict(counts), "lines": [f"{e.pace} {e.text}" for e in inside]}


def cycles():
    for case in CASES:
        kernel = make(*case)
        for warps in (4, 8, 16, 32):
            out = cuda.device_array(1024, np.float32)
            clocks = cuda.device_array((2, 1, warps), np.int64)
            seen = []
            for _ in range(6):
                kernel[1, 32 * warps](3, 5, 64, out, clocks)
                first, last = clocks.copy_to_host()
                seen.append(int(last.max() - first.min()))
            step = float(np.median(seen[1:])) / (64 * 8) / (warps / 4)
            yield {"case": case, "warps": warps, "cycles_per_step_of_a_scheduler": step, "cycles": seen[1:]}


if __name__ == "__main__":
    if "--compile" in sys.argv:
        for each in loops():
            print(json.dumps({k: v for k, v in each.items() if k != "lines"}), flush=True)
    else:
        begin, found = time.monotonic(), []
        for each in cycles():
            found.append(each)
            print(json.dumps(each), flush=True)
            if time.monotonic() - begin > 120:
                break
        json.dump(found, open(sys.argv[1], "w"))
