// One thread per column of C: per_column.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
__global__ void per_column(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < N) {
        for (int row = 0; row < M; ++row) {
            float acc = 0;
            UNROLL
            for (int k = 0; k < K; ++k)
                acc += A[row * K + k] * B[k * N + col];
            C[row * N + col] = acc;
        }
    }
}
// [/kernel]
