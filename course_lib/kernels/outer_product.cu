// Outer products, a column of 16 results per thread: outer_product.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
const int ROWS = 16, COLUMNS = 64;

__global__ void outer_product(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tile[ROWS][ROWS];
    float acc[ROWS] = {0};
    int thread = threadIdx.x, ty = thread / ROWS, tx = thread % ROWS;
    int top = blockIdx.y * ROWS, col = blockIdx.x * COLUMNS + thread;
    for (int start = 0; start < K; start += ROWS) {
        for (int i = 0; i < ROWS; i += 4)  // 64 threads load four rows of the tile at a time
            A_tile[ty + i][tx] = top + ty + i < M && start + tx < K ? A[(top + ty + i) * K + start + tx] : 0;
        __syncthreads();
        // [loop]
        int depth = ROWS < K - start ? ROWS : K - start;
        UNROLL
        for (int k = 0; k < depth; ++k) {
            float b = col < N ? B[(start + k) * N + col] : 0;
            for (int i = 0; i < ROWS; ++i)
                acc[i] += A_tile[i][k] * b;
        }
        // [/loop]
        __syncthreads();
    }
    for (int i = 0; i < ROWS; ++i)
        if (top + i < M && col < N)
            C[(top + i) * N + col] = acc[i];
}
// [/kernel]
