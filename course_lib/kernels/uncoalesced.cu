// One thread per element of C, with x along the rows: uncoalesced.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
__global__ void uncoalesced(const float *A, const float *B, float *C, int M, int N, int K) {
    // [index]
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    // [/index]
    if (row < M && col < N) {
        float acc = 0;
        UNROLL
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
    }
}
// [/kernel]
