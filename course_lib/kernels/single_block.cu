// The whole of A and B in shared memory, up to W×W: single_block.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
template <int W>
__global__ void single_block(const float *A, const float *B, float *C, int M, int N, int K) {
    // [shared]
    __shared__ float A_shared[W][W], B_shared[W][W];
    int row = threadIdx.y, col = threadIdx.x;
    if (row < M && col < K)
        A_shared[row][col] = A[row * K + col];
    if (row < K && col < N)
        B_shared[row][col] = B[row * N + col];
    __syncthreads();
    // [/shared]
    if (row < M && col < N) {
        float acc = 0;
        UNROLL
        for (int k = 0; k < K; ++k)
            acc += A_shared[row][k] * B_shared[k][col];
        C[row * N + col] = acc;
    }
}
// [/kernel]
