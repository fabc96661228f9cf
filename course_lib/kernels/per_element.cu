// One thread per element of C, in one block: per_element.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
__global__ void per_element(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = threadIdx.y, col = threadIdx.x;
    float acc = 0;
    UNROLL
    for (int k = 0; k < K; ++k)
        acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}
// [/kernel]
