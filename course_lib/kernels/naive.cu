// One thread per element of C, straight from global memory: naive.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
__global__ void naive(const float *A, const float *B, float *C, int M, int N, int K) {
    // [index]
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    // [/index]
    // [guard]
    if (row < M && col < N) {
    // [/guard]
        // [loop]
        float acc = 0;
        UNROLL
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
        // [/loop]
    }
}
// [/kernel]
