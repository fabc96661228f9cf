// Tiles, B's stored transposed: bank_conflicts.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
template <int T>
__global__ void bank_conflicts(const float *A, const float *B, float *C, int M, int N, int K) {
    // [tiles]
    __shared__ float A_tile[T][T];
    __shared__ float B_tile[T][T];
    // [/tiles]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    for (int start = 0; start < K; start += T) {
        // [load]
        A_tile[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0;
        B_tile[tx][ty] = start + ty < K && col < N ? B[(start + ty) * N + col] : 0;
        // [/load]
        __syncthreads();  // both tiles are complete
        UNROLL
        for (int k = 0; k < T; ++k)
            acc += A_tile[ty][k] * B_tile[tx][k];
        __syncthreads();  // no thread reads the tiles any more
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}
// [/kernel]
