// Outer products with constant loops: unrolled.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

// [kernel]
const int ROWS = 16, COLUMNS = 64;

__global__ void unrolled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tile[ROWS][ROWS];
    float acc[ROWS] = {0};
    int thread = threadIdx.x, ty = thread / ROWS, tx = thread % ROWS;
    int top = blockIdx.y * ROWS, col = blockIdx.x * COLUMNS + thread;
    for (int start = 0; start < K; start += ROWS) {
        for (int i = 0; i < ROWS; i += 4)  // 64 threads load four rows of the tile at a time
            A_tile[ty + i][tx] = top + ty + i < M && start + tx < K ? A[(top + ty + i) * K + start + tx] : 0;
        __syncthreads();
        // [loop]
        float b[ROWS];
        for (int k = 0; k < ROWS; ++k)
            b[k] = start + k < K && col < N ? B[(start + k) * N + col] : 0;
        for (int i = 0; i < ROWS; ++i)
            for (int k = 0; k < ROWS; ++k)
                acc[i] += A_tile[i][k] * b[k];
        // [/loop]
        __syncthreads();
    }
    for (int i = 0; i < ROWS; ++i)
        if (top + i < M && col < N)
            C[(top + i) * N + col] = acc[i];
}
// [/kernel]
