// Register tiles, eight results of a column per thread: register_1d.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

// [kernel]
const int TILE = 64, DEPTH = 8, RESULTS = 8;

__global__ void register_1d(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tile[TILE][DEPTH], B_tile[DEPTH][TILE];
    float acc[RESULTS] = {0};
    int thread = threadIdx.x;
    int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    int a_row = thread / DEPTH, a_k = thread % DEPTH;
    int b_k = thread / TILE, b_col = thread % TILE;
    int first_row = thread / TILE * RESULTS, col = thread % TILE;
    for (int start = 0; start < K; start += DEPTH) {
        A_tile[a_row][a_k] = top + a_row < M && start + a_k < K ? A[(top + a_row) * K + start + a_k] : 0;
        B_tile[b_k][b_col] = start + b_k < K && left + b_col < N ? B[(start + b_k) * N + left + b_col] : 0;
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            float b = B_tile[k][col];
            for (int i = 0; i < RESULTS; ++i)
                acc[i] += A_tile[first_row + i][k] * b;
        }
        __syncthreads();
    }
    for (int i = 0; i < RESULTS; ++i)
        if (top + first_row + i < M && left + col < N)
            C[(top + first_row + i) * N + left + col] = acc[i];
}
// [/kernel]
