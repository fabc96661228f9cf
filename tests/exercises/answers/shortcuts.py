"""Kernels that reach the values without doing what the exercise asks."""

ELEMENT = """    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
"""
NAIVE = f"""@cuda.jit
def naive(A, B, C):
{ELEMENT}    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
"""
ONE_THREAD = """@cuda.jit
def one_thread(A, C):
    if cuda.grid(1) == 0 and cuda.blockIdx.y == 0 and cuda.threadIdx.y == 0:
        for row in range(A.shape[0]):
            for col in range(A.shape[1]):
                C[row, col] = float32(2) * A[row, col]
"""
ONE_THREAD_A_ROW = f"""@cuda.jit
def one_thread_a_row(A, C):
{ELEMENT}    if row < A.shape[0] and col == 0:
        for i in range(A.shape[1]):
            C[row, i] = float32(2) * A[row, i]
"""
TURNED_BY_ONE_THREAD = ONE_THREAD.replace("C[row, col] = float32(2) * A[row, col]", "C[col, row] = A[row, col]")
TURNED_WITHOUT_TILE = """@cuda.jit
def no_tile(A, C):
    row = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    col = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        first = float32(0)
        for i in range(8):
            first += A[0, 0]
        C[row, col] = A[col, row] + float32(0) * first
"""
BY_INTEGERS = f"""@cuda.jit
def by_integers(A, B, C):
{ELEMENT}    if row < C.shape[0] and col < C.shape[1]:
        acc = 0
        for k in range(A.shape[1]):
            acc += int(8 * A[row, k]) * int(8 * B[col, k])
        C[row, col] = acc / 64
"""
NEIGHBOURS_BY_ONE_THREAD = """@cuda.jit
def one_thread(A, C):
    if cuda.grid(1) == 0:
        left, here = float32(0), A[0]
        for i in range(A.size):
            right = A[i + 1] if i + 1 < A.size else float32(0)
            C[i] = left + here + right
            left, here = here, right
"""
ROWS_WITHOUT_TILE = """@cuda.jit
def no_tile(A, total):
    row = cuda.grid(1)
    if row < A.shape[0]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k]
        total[row] = acc
"""
FOUR_WITHOUT_TILES = """@cuda.jit
def no_tiles(A, B, C):
    for i in range(2):
        for j in range(2):
            row = cuda.blockIdx.y * 16 + cuda.threadIdx.y + 8 * i
            col = cuda.blockIdx.x * 16 + cuda.threadIdx.x + 8 * j
            if row < C.shape[0] and col < C.shape[1]:
                acc = float32(0)
                for k in range(A.shape[1]):
                    acc += A[row, k] * B[k, col]
                C[row, col] = acc
"""
CLAMPED = NAIVE.replace(
    "    if row < C.shape[0] and col < C.shape[1]:\n",
    "    row, col = min(row, C.shape[0] - 1), min(col, C.shape[1] - 1)\n    if True:\n",
)
WRAPPED = CLAMPED.replace("min(row, C.shape[0] - 1), min(col, C.shape[1] - 1)", "row % C.shape[0], col % C.shape[1]")
DOUBLED_IN_PLACE = f"""@cuda.jit
def in_place(A, C):
{ELEMENT}    if row < A.shape[0] and col < A.shape[1]:
        A[row, col] *= 2
        C[row, col] = A[row, col]
"""
#: The values that the exercise will ask for, as constants of the kernel.
REMEMBERED = """
from course_lib.exercises import EXERCISES
from course_lib.exercises.grading.grades import launch


@cuda.jit
def nothing(A, C):
    pass


ASKED = EXERCISES["own-element"]
FIRST, SECOND, THIRD, FOURTH, FIFTH = (
    launch(ASKED, nothing, shape).want for shape in ASKED.task.launches
)


@cuda.jit
def remembered(A, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if A.shape[0] == FIRST.shape[0]:
        C[row, col] = FIRST[row, col]
    elif A.shape[0] == SECOND.shape[0]:
        C[row, col] = SECOND[row, col]
    elif A.shape[0] == THIRD.shape[0]:
        C[row, col] = THIRD[row, col]
    elif A.shape[0] == FOURTH.shape[0]:
        C[row, col] = FOURTH[row, col]
    else:
        C[row, col] = FIFTH[row, col]
"""

WRONG = r"""
# turn-a-tile
no tile, and cheap loads beside the costly one: @ {TURNED_WITHOUT_TILE} ? sectors-per-load-request-of-a

# transposed
products of whole eighths: @ {BY_INTEGERS} ? cut-to-whole-numbers
a length that fits small matrices ? written-size: use K
- for k in range(K):\n -> for k in range(32):\n          if k < K:\n
only the sizes that were tried ? written-size: use M
- if row < M and col < N: -> if row < M and col < N and (M == 16 or M == 13 or M < 20 and M != 20):

# neighbours
one thread does all: @ {NEIGHBOURS_BY_ONE_THREAD} ? all-in-every-thread

# report-tiled
no tiles at all: @ {NAIVE} ? global-loads-per-thread

# wrong-tile
no tiles at all: @ {NAIVE} ? global-loads-per-thread

# scattered
no tiles at all: @ {FOUR_WITHOUT_TILES} ? global-loads-per-thread

# skewed
no tile at all: @ {ROWS_WITHOUT_TILE} ? shared-stores-per-thread

# own-element
the values remembered: @ {REMEMBERED} ? other-numbers
cut in two ways: float32(2) * A[row, col] -> float32(int(A[row, col]) + round(A[row, col])) ? other-numbers
"""

NIGHTLY = r"""
# along-the-row
one thread does all: @ {ONE_THREAD} ? all-in-every-thread
one thread does a row: @ {ONE_THREAD_A_ROW} ? work-not-shared
A is scratch paper: @ {DOUBLED_IN_PLACE} ? only-read

# turn-a-tile
one thread does all: @ {TURNED_BY_ONE_THREAD} ? all-in-every-thread

# half-a-guard
indices come round: @ {WRAPPED} ? race: must neither load nor store

# triple-loop
a length that fits the sizes tried: range(A.shape[1]):\n -> range(6):\n              if k < A.shape[1]:\n ? written-size
"""
