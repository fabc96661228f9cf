"""The exercises of the lesson on debugging: listings with mistakes, published ones and unseen ones, to be fixed."""

import ast

import numpy as np

from ...simulator.hardware import ceil_div
from ..grading.budgets import barriers, global_loads, global_stores, iterations
from ..grading.exercise import TILE, Array, Task, find_bug
from ..grading.explain import Explanation
from ..grading.grades import whole_numbers
from ..grading.lines import enclosing_lines, load_lines, restarted_sum_lines, sum_lines
from ..grading.matrix_product import PRODUCT, last_tile_missing, one_array, product_inputs, result_is

_TRANSPOSED = result_is(
    lambda A, B: A @ B.T if A.shape[1] == B.shape[1] else None,
    "this is A·Bᵀ: the loop goes along a row of B. Element (row, col) needs column `col` of B.",
)

#: Two mistakes in six lines: B is read by rows, and the store is outside the guard.
ROWS_OF_B = find_bug(
    "rows-of-b",
    PRODUCT,
    """def rows_of_b(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    acc = float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[row, k] * B[col, k]
    C[row, col] = acc
""",
    global_loads("2·K", "one element of A and one of B in each iteration are enough."),
    global_stores("M·N", "each element of C is stored once, after the loop over k."),
    hints={
        "out-of-bounds": "three mistakes can lead beyond an array here: indices in the wrong order (the row of a "
        "matrix comes first), a store that the guard does not cover, and a guard that lets one row or column too many "
        "in.",
    },
    diagnoses=(_TRANSPOSED,),
)


_ADDED_FOR_EACH_PAIR = result_is(
    lambda A, B, D: A @ B + ceil_div(A.shape[1], TILE) * D,
    "C is right if K is at most 8. Which part of C grows with the number of pairs of tiles, and should not?",
)


def _last_pair(A: Array, B: Array, D: Array) -> Array:
    last = (A.shape[1] - 1) // TILE * TILE
    return A[:, last:] @ B[last:] + D


_LAST_PAIR_ALONE = result_is(
    _last_pair, "C contains only the last pair of tiles: acc begins anew with each pair.", lines=restarted_sum_lines
)

#: C = A·B + D by a tiled kernel with two mistakes that the lesson has not shown.
UNSEEN_ADD = find_bug(
    "unseen-add",
    PRODUCT.replace(
        parameters=("A", "B", "D", "C"),
        inputs=lambda rng, M, N, K: (*product_inputs(rng, M, N, K), whole_numbers(rng, M, N)),
        answer=lambda A, B, D: A @ B + D,
        element="C[row, col] = sum(A[row, k] * B[k, col] for k in range(A.shape[1])) + D[row, col]",
    ),
    """def unseen_add(A, B, D, C):
    A_tile = cuda.shared.array((TILE, TILE), float32)
    B_tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    (M, K), N = A.shape, B.shape[1]
    acc = float32(0)
    for start in range(0, K, TILE):
        A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        B_tile[ty, tx] = B[start + ty, col] if start + tx < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += A_tile[ty, k] * B_tile[k, tx]
        if row < M and col < N:
            acc += D[row, col]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
""",
    global_loads("2·⌈K/8⌉ + 1", "each thread loads its element of D once."),
    iterations("⌈K/8⌉·9", "8 iterations along each tile, and one for the tile itself."),
    hints={
        "out-of-bounds": "compare the index that the finding names with the guard of that load: does the guard ask "
        "for the same index?",
        "race": "two barriers for each pair of tiles: when they are full, and when they have been used.",
        "barrier-divergence": "every thread of the block must come to the barrier: keep it out of the if.",
    },
    diagnoses=(_ADDED_FOR_EACH_PAIR, _LAST_PAIR_ALONE),
)

#: Threads of a block that adds the elements of a row.
THREADS = 64
_SOME_TWICE = result_is(
    lambda A: A.sum(axis=1) + A[:, THREADS // 2 :].sum(axis=1),
    "some elements are in the sum twice. Which columns does thread 0 add, and which does thread 32 add?",
    lines=enclosing_lines(ast.For, load_lines("A")),
)

_ODD_THREADS_MISSING = result_is(
    lambda A: A[:, ::2].sum(axis=1),
    "the sums of threads with odd numbers are missing: with which value of `half` are they added?",
    lines=enclosing_lines(ast.While, sum_lines),
)

#: Sums of rows: a reduction in shared memory with two mistakes that the lesson has not shown.
UNSEEN_SUMS = find_bug(
    "unseen-sums",
    Task(
        ("A", "S"),
        one_array,
        lambda A: A.sum(axis=1),
        lambda M, N: ((M,), (THREADS,)),
        shapes=((3, 64), (5, 50), (2, 20), (1, 1)),
        element="S[row] = sum(A[row, k] for k in range(A.shape[1]))",
        sizes="(M, N)",
    ),
    """def unseen_sums(A, S):
    parts = cuda.shared.array(THREADS, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    acc = float32(0)
    for col in range(t, A.shape[1], 32):
        acc += A[row, col]
    parts[t] = acc
    half = THREADS // 2
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        S[row] = parts[0]
""",
    global_loads("⌈N/64⌉", "each element of A is loaded once."),
    barriers("7", "one barrier before the loop over `half`, and one in each of its iterations."),
    hints={
        "race": "look at the two lines of the finding. A thread reads a word that a thread of the other warp writes: "
        "what makes it wait for that?",
        "barrier-divergence": "every thread of the block must come to the barrier, also those that add nothing.",
    },
    diagnoses=(_SOME_TWICE, _ODD_THREADS_MISSING),
)

#: A prefetching loop that fetches one tile too many.
TOO_FAR = find_bug(
    "too-far",
    PRODUCT.replace(shapes=((16, 16, 16), (8, 24, 32), (24, 8, 8))),  # multiples of 8, as the exercise promises
    """def too_far(A, B, C):
    A_tiles = cuda.shared.array((2, TILE, TILE), float32)
    B_tiles = cuda.shared.array((2, TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    A_tiles[0, ty, tx] = A[row, tx]
    B_tiles[0, ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc, now = float32(0), 0
    for start in range(0, A.shape[1], TILE):
        A_tiles[1 - now, ty, tx] = A[row, start + TILE + tx]
        B_tiles[1 - now, ty, tx] = B[start + TILE + ty, col]
        for k in range(TILE):
            acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]
        cuda.syncthreads()
        now = 1 - now
    C[row, col] = acc
""",
    global_loads("2·K/8", "each thread loads one element of each tile, and there are K/8 pairs.", limit="2·K/T"),
    barriers("K/8 + 1", "one barrier before the loop and one in each iteration are enough.", limit="K/T + 1"),
    hints={
        "out-of-bounds": "in the last iteration there is no next pair of tiles: test whether start + TILE < K.",
        "barrier-divergence": "use start in the condition, which is the same for the whole block, and leave the "
        "barrier outside the if.",
        "race": "a pair may be overwritten only after all threads have finished with it: keep the barrier in every "
        "iteration.",
    },
    diagnoses=(last_tile_missing,),
)

LUCKY = Explanation(
    name="lucky",
    model="Without the barrier nothing decides which of two warps comes first: one may read an element before or after "
    "the other writes it. The order on a GPU depends on timing: on the size, the load, the GPU and the compiler. In a "
    "thousand launches it may always have been the harmless order. Only an order that a barrier enforces is safe. So "
    "look for accesses that nothing orders, and not for wrong results.",
    ideas=(
        "nothing orders the two accesses",
        "the order depends on timing",
        "a barrier would enforce it",
    ),
)

#: The values that are counted.
_VALUES = 40


def _counted(X: Array) -> Array:
    parts = [X[i : i + THREADS].astype(int) for i in range(0, len(X), THREADS)]
    return np.stack([np.bincount(part, minlength=_VALUES) for part in parts]).astype(np.float32)


#: A histogram for each block, with two mistakes in the order of accesses to shared memory.
UNSEEN_COUNTS = find_bug(
    "unseen-counts",
    Task(
        ("X", "P"),
        lambda rng, n: (rng.integers(0, _VALUES, n).astype(np.float32),),
        _counted,
        lambda n: ((ceil_div(n, THREADS),), (THREADS,)),
        shapes=((200,), (64,), (70,), (1,)),
        element="P[b, v] = sum(float32(int(X[i]) == v) for i in range(64 * b, min(64 * b + 64, X.size)))",
        sizes="n",
    ),
    """def unseen_counts(X, P):
    counts = cuda.shared.array(40, float32)
    t, block = cuda.threadIdx.x, cuda.blockIdx.x
    i = block * 64 + t
    if t < 40:
        counts[t] = 0
    if i < X.shape[0]:
        counts[int(X[i])] += 1
    cuda.syncthreads()
    if t < 40:
        P[block, t] = counts[t]
""",
    global_loads("1", "each thread loads its own element of X, once."),
    barriers("2", "one barrier after the zeros, and one after the counts, are enough."),
    hints={
        "race": "if the finding names two lines, what orders the two threads? If it names one line, two threads add to "
        "the same count: which operation lets no other thread come between its load and its store?",
        "barrier-divergence": "every thread of the block must reach the barrier, also those without an element of X.",
        "uninitialized-read": "all 40 counts must be 0 before a thread adds to them.",
    },
)

EXERCISES = (ROWS_OF_B, UNSEEN_ADD, UNSEEN_SUMS, TOO_FAR, LUCKY)
OPTIONAL = (UNSEEN_COUNTS,)
