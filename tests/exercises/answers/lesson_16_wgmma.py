"""Answers to the exercises on wgmma: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = (
    "from numba import cuda, float32\n\n"
    "from course_lib.kernels import fence_proxy, fence_registers, multiply_tiles, store_64, store_tiles, wait_64\n\n\n"
)

PLACE = "return 32 * row + (4 * (k // 4 ^ row % 8) + k % 4)"
PAIRS = "return shared // ((rows + columns) * depth * itemsize)"
FENCE, BARRIER = "        fence_proxy()\n", "        cuda.syncthreads()\n"
LATER = "        wait_64(acc, 1)\n"
LAST = "    wait_64(acc, 0)\n"

WRONG = r"""
# swizzled-place
no swizzle: {PLACE} -> return 32 * row + k ? row-1-k-0
moved on: {PLACE} -> return 32 * row + (k + 4 * row) % 32 ? other-operator
no remainder: {PLACE} -> return 32 * row + (k ^ 4 * row) ? row-8-k-9
pieces only: {PLACE} -> return 32 * row + 4 * (k // 4 ^ row % 8) ? row-0-k-5

# missing-fence
after the barrier: {FENCE}{BARRIER} -> {BARRIER}{FENCE} ? comes-too-late
no first barrier: {FENCE}{BARRIER} -> {FENCE} ? barrier-before-use

# stages
one tile: {PAIRS} -> return shared // (rows * depth * itemsize) ? parameter-missing
two bytes: {PAIRS} -> return shared // ((rows + columns) * depth * 2) ? stands-for-a-parameter
at least one: {PAIRS} -> return max(1, shared // ((rows + columns) * depth * itemsize)) ? off-by-one
less than all: {PAIRS} -> return (shared - 1) // ((rows + columns) * depth * itemsize) ? one-term-too-many

# early-wait
none after the loop: {LAST} -> ? unfinished-product
as it was: {LATER} ->         wait_64(acc, 0)\n ? groups-that-start-while-no-other-is-in-flight

# own-stores
no swizzle ? not-swizzled
- k // 4 ^ row % 8 -> k // 4
- k // 4 ^ col % 8 -> k // 4
columns of B by a warp: i % 8 + i // 256 * 8, i // 8 % 32 -> i % 64, i // 64 ? bank-conflicts
"""

NIGHTLY = r"""
# missing-fence
one thread: {FENCE} ->         if cuda.threadIdx.x == 0:\n    {FENCE} ? belongs-after
the other fence: {FENCE} ->         fence_registers()\n ? missing-fence

# early-wait
before the products ? groups-that-start-while-no-other-is-in-flight
- {LATER} ->
-         fence_registers()\n ->         wait_64(acc, 0)\n        fence_registers()\n
one barrier: {LATER}{BARRIER} -> {LATER} ? unfinished-product

# own-stores
rows of B's tile by a warp: i % 8 + i // 256 * 8, i // 8 % 32 -> i // 32, i % 32 ? sectors-per-load-request-of-b
A by columns: row, k = i // 32, i % 32 -> row, k = i % 64, i // 64 ? sectors-per-load-request-of-a
start forgotten in A: A[top + row, start + k] -> A[top + row, k] ? start-of-the-tile
"""

RIGHT = r"""
# swizzled-place
elements of a piece exchanged together: {PLACE} -> return 32 * row + (k ^ row % 8 * 4)

# missing-fence
twice: {FENCE} -> {FENCE}{FENCE}

# stages
step by step: {PAIRS} -> pair = (rows + columns) * depth * itemsize\n    return shared // pair

# early-wait
the last wait twice: {LAST} ->     wait_64(acc, 1)\n{LAST}

# own-stores
16 columns by two values of k: i % 8 + i // 256 * 8, i // 8 % 32 -> i % 8 + i // 32 % 8 * 8, i // 256 * 4 + i // 8 % 4
"""
