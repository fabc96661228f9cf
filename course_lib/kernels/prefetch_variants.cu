// Tiles with switches for loads, buffers and barriers: prefetch_variants.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

#include <cuda_pipeline.h>

enum Loads { early, late, behind, copied };

// [kernel]
template <int T, int BUFFERS, Loads LOADS, int BARRIERS>
__global__ void prefetch_variants(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tiles[BUFFERS][T][T], B_tiles[BUFFERS][T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float a, b, acc = 0;
    auto fetch = [&](int start) {
        a = row < M && start + tx < K ? A[row * K + start + tx] : 0;
        b = start + ty < K && col < N ? B[(start + ty) * N + col] : 0;
    };
    auto copy = [&](int buffer, int start) {
        if (row < M && start + tx < K)
            __pipeline_memcpy_async(&A_tiles[buffer][ty][tx], &A[row * K + start + tx], sizeof(float));
        else
            A_tiles[buffer][ty][tx] = 0;
        if (start + ty < K && col < N)
            __pipeline_memcpy_async(&B_tiles[buffer][ty][tx], &B[(start + ty) * N + col], sizeof(float));
        else
            B_tiles[buffer][ty][tx] = 0;
        __pipeline_commit();
    };
    fetch(0);
    A_tiles[0][ty][tx] = a;
    B_tiles[0][ty][tx] = b;
    __syncthreads();  // the first pair is complete
    int now = 0;
    for (int start = T; start < K + T; start += T) {
        if (LOADS == early)
            fetch(start);
        if (LOADS == copied)
            copy(1 - now, start);
        UNROLL
        for (int k = 0; k < T; ++k)
            acc += A_tiles[now][ty][k] * B_tiles[now][k][tx];
        if (LOADS == late)
            fetch(start);
        if (BARRIERS == 2)
            __syncthreads();  // no thread reads this pair any more
        if (LOADS == behind)
            fetch(start);
        if (BUFFERS == 2)
            now = 1 - now;
        if (LOADS == copied)
            __pipeline_wait_prior(0);
        else {
            A_tiles[now][ty][tx] = a;
            B_tiles[now][ty][tx] = b;
        }
        __syncthreads();  // the next pair is complete
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}
// [/kernel]
