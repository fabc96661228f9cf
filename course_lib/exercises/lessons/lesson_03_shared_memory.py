"""The exercises of the lesson on shared memory: copies, neighbours, and a barrier in the wrong place."""

import numpy as np

from ...simulator.hardware import ceil_div
from ..grading.budgets import barriers, global_loads, shared_loads
from ..grading.exercise import Array, Budget, Task, fill_in, find_bug, write
from ..grading.explain import Explanation
from ..grading.lines import load_lines, store_lines
from ..grading.matrix_product import PRODUCT, last_term_alone, last_term_missing, one_array, result_is, shows

_WAIT = (
    "a thread reads an element of the shared array that another thread may not have stored yet: put "
    "cuda.syncthreads() between the stores and the reads."
)

_BOTH_TRANSPOSED = result_is(
    lambda A, B: A.T @ B.T,
    "both copies are transposed: the two sides of the = must have the same indices, [row, col].",
    lines=load_lines("A", "B"),
)

#: Two lines that copy an element of A and one of B to shared memory.
TO_SHARED_MEMORY = fill_in(
    "to-shared-memory",
    PRODUCT.replace(shapes=((8, 8, 8),), larger_sizes="none"),
    global_loads("2", "each thread copies one element of A and one of B. The other threads copy the other elements."),
    given_lines=("acc += A_shared[row, k] * B_shared[k, col]",),
    hints={
        "uninitialized-read": "an element of a shared array is read, but no thread stored it: each thread copies one "
        "element of A and one of B, to its own place [row, col].",
        "out-of-bounds": "both matrices are 8×8, and so are the shared arrays: every index is row or col.",
        "race": _WAIT,
        "race of two stores": "two threads store into the same place: each has a place of its own, [row, col].",
    },
    diagnoses=(last_term_missing, _BOTH_TRANSPOSED),
)


def _sum_of_neighbours(A: Array) -> Array:
    padded = np.pad(A, 1)
    total: Array = padded[:-2] + padded[1:-1] + padded[2:]
    return total


def _sums_within_blocks(A: Array) -> Array:
    return np.concatenate([_sum_of_neighbours(A[start : start + 64]) for start in range(0, A.size, 64)])


_WITHOUT_ENDS = result_is(
    _sums_within_blocks,
    "at the ends of a block the neighbours are missing from the sums: near[0] and near[65] hold the elements of A just "
    "before and just after the block's own.",
    lines=load_lines("A"),
)


_MOVED = shows(
    lambda outcome: (
        outcome.got.size > 4
        and any(np.array_equal(outcome.got[1:-1], np.roll(outcome.want, by)[1:-1]) for by in (1, -1))
    ),
    "every sum is that of the element next to it: element i is at near[t + 1], its neighbours on both sides.",
    store_lines,
)


#: C[i] = A[i - 1] + A[i] + A[i + 1] through shared memory.
NEIGHBOURS = fill_in(
    "neighbours",
    Task(
        ("A", "C"),
        one_array,
        _sum_of_neighbours,
        lambda n: ((ceil_div(n, 64),), (64,)),
        shapes=((128,), (150,), (64,), (5,), (1,)),
        element="C[i] = sum(A[k] for k in range(0 if i == 0 else i - 1, min(i + 2, A.size)))",
        sizes="n",
    ),
    Budget(
        "global loads of all threads",
        "n + 2·⌈n/64⌉",
        lambda outcome: outcome.count("accesses", "load", "A"),
        "the neighbours are loaded from A again: read them from near, where another thread has stored them.",
        lines=load_lines("A"),
    ),
    barriers("1", "one barrier is enough: between the stores into the shared array and the reads."),
    hints={
        "race": _WAIT,
        "uninitialized-read": "an element of near is read, but no thread stored it: beyond the ends of A it must "
        "hold 0, and some thread must store near[0] and near[65].",
        "barrier-divergence": "threads without an element must reach the barrier as well: keep it out of any if.",
        "out-of-bounds": "A has n elements: load A[i] only where i < n, and A[i + 1] only where i + 1 < n.",
        "out-of-bounds in shared memory": "near has 66 elements, 0 to 65: the thread's own is near[t + 1], and its "
        "neighbours are near[t] and near[t + 2].",
        "negative-index": "numba uses an index of -1 for the last element: load A[i - 1] only where i > 0.",
        "negative-index in shared memory": "numba uses an index of -1 for the last element: in near the thread's own "
        "element is near[t + 1], and its neighbours are near[t] and near[t + 2].",
    },
    diagnoses=(_WITHOUT_ENDS, _MOVED),
)


#: The barrier is inside the guard of C.
DIVERGENT = find_bug(
    "divergent",
    PRODUCT.replace(
        shapes=((8, 8, 8), (3, 8, 5), (8, 2, 8), (5, 4, 7), (8, 5, 3), (1, 1, 1)),
        launch=lambda M, N, K: ((1, 1), (max(N, K), max(M, K))),
        larger_sizes="none",
    ),
    """@cuda.jit
def divergent(A, B, C):
    A_shared = cuda.shared.array((8, 8), float32)
    B_shared = cuda.shared.array((8, 8), float32)
    row, col = cuda.threadIdx.y, cuda.threadIdx.x
    (M, K), N = A.shape, B.shape[1]
    if row < M and col < K:
        A_shared[row, col] = A[row, col]
    if row < K and col < N:
        B_shared[row, col] = B[row, col]
    if row < M and col < N:
        cuda.syncthreads()
        acc = float32(0)
        for k in range(K):
            acc += A_shared[row, k] * B_shared[k, col]
        C[row, col] = acc
""",
    global_loads("2", "each thread copies at most one element of A and one of B."),
    barriers("1", "one barrier is enough: when the shared arrays are full."),
    hints={
        "barrier-divergence": "only some threads of the block reach this barrier: cuda.syncthreads() must be outside "
        "every if, where all threads reach it. (cuda.syncwarp() would wait for one warp only.)",
        "race": _WAIT,
        "uninitialized-read": _WAIT,
        "out-of-bounds": "each guard follows the shape of what it guards: A is M×K, B is K×N, C is M×N.",
    },
    diagnoses=(last_term_alone, last_term_missing),
)

FIRST_BARRIER = Explanation(
    name="first-barrier",
    model="The warps of a block do not run at the same speed. So one warp may read an element of the shared array "
    "before another warp has stored it. Nothing determines whether this happens: it may differ from run to run and "
    "from GPU to GPU. The barrier makes every thread wait until the shared arrays are complete.",
    ideas=(
        "warps (or threads) do not run at the same speed",
        "an element may be read before it was stored",
        "one right result does not show that the next one is right",
    ),
)


#: A sum over each block in six steps, with a barrier in the loop.
BLOCK_SUMS = write(
    "block-sums",
    NEIGHBOURS.task.replace(
        answer=lambda A: np.add.reduceat(A, np.arange(0, A.size, 64)),
        element="C[i] = sum(A[k] for k in range(64 * i, min(64 * i + 64, A.size)))",
    ),
    global_loads("1", "each thread loads its own element, and finds the others in shared memory."),
    barriers("7", "one barrier after the first stores, and one after each of the six steps."),
    shared_loads("13", "a thread adds two numbers in each of six steps: let many threads add at the same time."),
    hints={
        "race": "in each step a thread reads what another one stored in the step before: wait after every step.",
        "race of C": "all threads of a block store C[b], and its sum is in the first place of the shared "
        "array: only one "
        "of them may store it.",
        "uninitialized-read": "a place of the shared array was never stored: where A has no element it must hold 0.",
        "barrier-divergence": "in each step fewer threads add, but all must reach the barrier: keep it out of the if.",
        "out-of-bounds": "load A[i] only where i < A.size: the last block may have fewer than 64 elements.",
        "out-of-bounds of C": "C has one element for each block: C[b], with b = blockIdx.x.",
        "out-of-bounds in shared memory": "in a step of width w only threads with t < w add, so t + w stays below 64.",
    },
)

EXERCISES = (TO_SHARED_MEMORY, NEIGHBOURS, DIVERGENT, FIRST_BARRIER)
OPTIONAL = (BLOCK_SUMS,)
