"""Kernels that are no matrix products, and one with a device function."""

from numba import cuda, float32

from course_lib.kernels import fence_proxy, fence_registers, multiply_tiles, store_64, store_tiles, wait_64

THREADS = 64


def reduction(x, total):
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.shape[0] else float32(0)
    cuda.syncthreads()
    width = THREADS // 2
    while width > 0:
        if t < width:
            part[t] += part[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])


def stencil(x, out):
    i = cuda.grid(1)
    if 0 < i < x.shape[0] - 1:
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / float32(3)


def histogram(x, counts):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(counts, x[i], 1)


def transpose(a, out):
    tile = cuda.shared.array((8, 9), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * 8 + ty, cuda.blockIdx.y * 8 + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]


@cuda.jit(device=True)
def weighted(x, i):
    left = x[i - 1] if i > 0 else x[i]
    return left + x[i]


def with_a_device_function(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        both = weighted(x, i)
        out[i] = both


def beyond_the_end(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


def one_row_too_many(A, out):
    row, column = cuda.threadIdx.y, cuda.threadIdx.x
    out[row, column] = A[row + 1, column]


def row_sums(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    acc = float32(0)
    for k in range(x.shape[1]):
        acc += x[i, k]
    out[i] = acc


def two_each(A, B, C):
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    column = 2 * (cuda.blockIdx.x * 5 + cuda.threadIdx.x)
    for j in range(2):
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, column + j]
        C[row, column + j] = acc


def planes(a, out):
    x, y, z = cuda.grid(3)
    if x % 2 == 0 or z > 0:
        out[z, y, x] = a[z, y, x]


def doubled(x, out):
    row, column = divmod(cuda.threadIdx.x, x.shape[1])
    value = x[row, column]
    out[row, column] = value + value


def groups_in_flight(A, B, C):
    A_tiles = cuda.shared.array(2 * 2048, float32, 1024)
    B_tiles = cuda.shared.array(2 * 2048, float32, 1024)
    acc = cuda.local.array(32, float32)
    for pair in range(A.shape[1] // 32):
        store_tiles(A, B, A_tiles, B_tiles, pair % 2 * 2048, pair * 32)
        fence_proxy()
        cuda.syncthreads()
        fence_registers()
        multiply_tiles(A_tiles, B_tiles, pair % 2 * 2048, acc, pair)
        wait_64(acc, 1)
        cuda.syncthreads()
    wait_64(acc, 0)
    store_64(C, acc)


def shuffled(x, out, votes):
    i = cuda.grid(1)
    acc = x[i]
    for distance in (1, 2, 4, 8, 16):
        acc += cuda.shfl_xor_sync(0xFFFFFFFF, acc, distance)
    if cuda.any_sync(0xFFFFFFFF, acc > float32(160)):
        out[i] = acc
    cuda.atomic.add(votes, cuda.blockIdx.x, 1)


def exchange(x, y):
    grid = cuda.cg.this_grid()
    block = cuda.blockIdx.x
    x[block] = block + 1
    grid.sync()
    y[block] = x[1 - block]
    grid.sync()
    x[block] = 10 * x[block]
    grid.sync()
    y[block] += x[1 - block]


def count_under_a_lock(mutex, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


def accumulate(A, B, C):
    i, j = cuda.grid(2)
    for k in range(A.shape[1]):
        C[i, j] += A[i, k] * B[k, j]


def exchanges(a, out):
    """Shuffles and votes: by whole warps, by some lanes, and in a last warp of fewer than 32 lanes."""
    i, j = cuda.threadIdx.x, cuda.grid(1)
    lane = i % 32
    members = cuda.ballot_sync(cuda.activemask(), i % 5 != 2)
    if i % 5 != 2:
        out[0, j] = cuda.shfl_sync(members, a[j], 3 * lane)
        out[1, j] = cuda.shfl_up_sync(members, a[j], 2)
        out[2, j] = cuda.shfl_down_sync(members, a[j], 4)
        out[3, j] = cuda.shfl_xor_sync(members, a[j], 1)
        out[4, j] = cuda.all_sync(members, a[j] > 3)
        out[5, j] = cuda.any_sync(members, a[j] > 8)
        out[6, j] = cuda.eq_sync(members, lane // 32)
        out[7, j] = cuda.match_any_sync(members, lane % 3)
        out[8, j] = cuda.match_all_sync(members, a[j])[1]
    group = cuda.match_any_sync(cuda.activemask(), i % 2)
    out[9, j] = cuda.ballot_sync(group, a[j] > 4)
    out[10, j] = cuda.shfl_xor_sync(group, a[j], 2)
