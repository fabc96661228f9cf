// Tiles by asynchronous copies in S stages: pipelined.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

#include <cuda_pipeline.h>

// [kernel]
template <int T, int S>
__global__ void pipelined(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tiles[S][T][T], B_tiles[S][T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    // [fetch]
    auto fetch = [&](int stage, int start) {
        if (row < M && start + tx < K)
            __pipeline_memcpy_async(&A_tiles[stage][ty][tx], &A[row * K + start + tx], sizeof(float));
        else
            A_tiles[stage][ty][tx] = 0;
        if (start + ty < K && col < N)
            __pipeline_memcpy_async(&B_tiles[stage][ty][tx], &B[(start + ty) * N + col], sizeof(float));
        else
            B_tiles[stage][ty][tx] = 0;
        __pipeline_commit();
    };
    // [/fetch]
    // [loop]
    for (int stage = 0; stage < S - 1; ++stage)
        fetch(stage, stage * T);
    int now = 0, free = S - 1;
    for (int start = 0; start < K; start += T) {
        __pipeline_wait_prior(S - 2);  // this thread's part of the oldest pair has arrived
        __syncthreads();               // all threads' have, and no thread reads the stage that is filled next
        fetch(free, start + (S - 1) * T);
        UNROLL
        for (int k = 0; k < T; ++k)
            acc += A_tiles[now][ty][k] * B_tiles[now][k][tx];
        free = now;
        now = now + 1 == S ? 0 : now + 1;
    }
    // [/loop]
    if (row < M && col < N)
        C[row * N + col] = acc;
}
// [/kernel]
