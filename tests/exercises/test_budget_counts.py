"""What budgets count beside the traffic is what the trace of the same launch shows, and the same without a trace."""

from collections import Counter
from dataclasses import replace

import numpy as np
from numba import cuda, float32

from course_lib.exercises.grading.budget_counts import BudgetCounts
from course_lib.exercises.grading.source import read
from course_lib.trace.simulate import simulate


@cuda.jit
def loaded(A, i):
    cuda.syncthreads()
    return A[i]


@cuda.jit
def kernel(A, C):
    tile = cuda.shared.array(40, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = loaded(A, i // 2); cuda.syncthreads()  # fmt: skip # noqa: E702
    total = float32(0)
    while i < C.size:
        for k in range(cuda.threadIdx.x % 3): total += A[k + i // 9]; total -= tile[k]  # fmt: skip # noqa: E701, E702
        C[i] = total
        i += 32
    if cuda.blockIdx.x == 2:  # whose threads have no element
        for k in range(5):
            total += k


def test_counts_are_those_of_the_trace():
    launches = (BudgetCounts(), False), (BudgetCounts(), True)
    for counts, trace in launches:
        launched = replace(simulate(kernel, strict=False, trace=trace), watching=(counts,))[3, 40]
        run = launched(np.ones(70, np.float32), np.zeros(70, np.float32))
    seen = Counter()
    for step in run.trace.steps:
        stores = any((access.array, access.op) == ("C", "store") for access in step.accesses)
        for each in ("for",) * ("k" in step.variables) + ("while",) * stores + ("barrier",) * step.barrier:
            seen[each, step.block, step.warp] += 1
    most = [max(many for (each, *_), many in seen.items() if each == what) for what in ("for", "while", "barrier")]
    source = read(kernel)
    inner, outer = (
        {n for n in source.loop_lines if source.lines[n].strip().startswith(word)} for word in ("for", "while")
    )
    for counts, _ in launches:
        assert [*map(counts.most_iterations, (inner, outer)), counts.most_barriers()] == most == [6, 3, 2]
        assert counts.most_iterations(source.loop_lines) == 9 and counts.most_iterations(()) == 0
        found = [counts.most_sectors(name, op) for name in ("A", "C", "tile") for op in ("load", "store")]
        assert (found, counts.shared_elements()) == ([3, 0, 0, 4, 0, 0], 40)
