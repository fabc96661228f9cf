"""The tile of `tiled` in Triton, a language of tiles: a program computes a T×T tile of C, and no thread is named.

Triton's compiler decides what its threads load, and so coalescing, banks, copies ahead and tensor cores.
"""

import triton
import triton.language as tl


@triton.jit
def triton_tiled(A, B, C, M, N, K, T: tl.constexpr):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N, row after row, in float32."""
    rows = tl.program_id(1) * T + tl.arange(0, T)[:, None]
    cols = tl.program_id(0) * T + tl.arange(0, T)[None, :]
    acc = tl.zeros((T, T), tl.float32)
    for start in range(0, K, T):
        across, down = start + tl.arange(0, T)[None, :], start + tl.arange(0, T)[:, None]
        a = tl.load(A + rows * K + across, mask=(rows < M) & (across < K), other=0)
        b = tl.load(B + down * N + cols, mask=(down < K) & (cols < N), other=0)
        acc += tl.dot(a, b, input_precision="ieee")  # not TF32, which is the default
    tl.store(C + rows * N + cols, acc, mask=(rows < M) & (cols < N))
