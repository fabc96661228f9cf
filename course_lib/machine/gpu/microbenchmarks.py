"""Small kernels that each measure one property: a limit of the GPU, or the cost of one mistake."""

from numba import cuda, float32

from ...kernels.vector import load4, store4

CHAINS = 16
STEPS = 8
WORDS = 1024
LAST_WORD = WORDS - 1


@cuda.jit
def copy4(source, target):
    """Copy a matrix of four columns, 16 bytes per thread and iteration."""
    first = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for row in range(first, source.shape[0], cuda.gridDim.x * cuda.blockDim.x):
        store4(target, row, 0, load4(source, row, 0))


@cuda.jit(device=True)
def one_step(acc, factor):
    """Do one multiply-add in each chain."""
    for i in range(CHAINS):
        acc[i] = acc[i] * factor + factor


@cuda.jit
def multiply_add(out, factor, rounds):
    """Do rounds×8×16 multiply-adds per thread, in 16 independent chains that stay in registers."""
    acc = cuda.local.array(CHAINS, float32)
    thread = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for i in range(CHAINS):
        acc[i] = float32(thread + i)
    for _ in range(rounds):  # eight steps unrolled: the loop's own instructions are then 3 % of the work
        one_step(acc, factor)
        one_step(acc, factor)
        one_step(acc, factor)
        one_step(acc, factor)
        one_step(acc, factor)
        one_step(acc, factor)
        one_step(acc, factor)
        one_step(acc, factor)
    total = float32(0)
    for i in range(CHAINS):
        total += acc[i]
    out[thread] = total


@cuda.jit
def strided_reads(out, stride, rounds):
    """Read shared memory at lane × stride repeatedly: stride 1 uses 32 banks, stride 32 a single one."""
    words = cuda.shared.array(WORDS, float32)
    thread = cuda.threadIdx.x
    for i in range(thread, WORDS, cuda.blockDim.x):
        words[i] = i
    cuda.syncthreads()
    acc = float32(0)
    word = cuda.laneid * stride
    for _ in range(rounds):
        for i in range(8):
            acc += words[(word + i) & LAST_WORD]
        word += 8
    out[cuda.blockIdx.x * cuda.blockDim.x + thread] = acc
