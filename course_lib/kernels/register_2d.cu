// Register tiles, 8×8 results per thread: register_2d.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

// [kernel]
const int TILE = 128, DEPTH = 8, SIDE = 16, RESULTS = 8;

__global__ void register_2d(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tile[DEPTH][TILE], B_tile[DEPTH][TILE];
    // [registers]
    float acc[RESULTS][RESULTS] = {0}, a[RESULTS], b[RESULTS];
    // [/registers]
    int thread = threadIdx.x, ty = thread / SIDE, tx = thread % SIDE;
    int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    int a_row = thread / DEPTH, a_k = thread % DEPTH;
    int b_k = thread / TILE, b_col = thread % TILE;
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = 0; i < 4; ++i) {  // four elements of each tile per thread
            int row = top + a_row + 32 * i, col = start + a_k;
            A_tile[a_k][a_row + 32 * i] = row < M && col < K ? A[row * K + col] : 0;
            row = start + b_k + 2 * i, col = left + b_col;
            B_tile[b_k + 2 * i][b_col] = row < K && col < N ? B[row * N + col] : 0;
        }
        __syncthreads();
        // [products]
        for (int k = 0; k < DEPTH; ++k) {
            for (int i = 0; i < RESULTS; ++i) {
                a[i] = A_tile[k][ty + SIDE * i];
                b[i] = B_tile[k][tx + SIDE * i];
            }
            for (int i = 0; i < RESULTS; ++i)
                for (int j = 0; j < RESULTS; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        // [/products]
        __syncthreads();
    }
    for (int i = 0; i < RESULTS; ++i)
        for (int j = 0; j < RESULTS; ++j) {
            int row = top + ty + SIDE * i, col = left + tx + SIDE * j;
            if (row < M && col < N)
                C[row * N + col] = acc[i][j];
        }
}
// [/kernel]
