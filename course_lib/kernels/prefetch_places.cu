// Tiles whose loads of the next pair are at a chosen place among the products: prefetch_places.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

// [kernel]
template <int T, int A_AFTER, int B_AFTER>
__global__ void prefetch_places(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tile[T][T], B_tile[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    auto fetch_a = [&](int start) { return row < M && start + tx < K ? A[row * K + start + tx] : 0; };
    auto fetch_b = [&](int start) { return start + ty < K && col < N ? B[(start + ty) * N + col] : 0; };
    auto multiply = [&](int first, int end) {
#pragma unroll
        for (int k = first; k < end; ++k)
            acc += A_tile[ty][k] * B_tile[k][tx];
    };
    A_tile[ty][tx] = fetch_a(0);
    B_tile[ty][tx] = fetch_b(0);
    __syncthreads();  // the first pair is complete
    for (int start = T; start < K + T; start += T) {
        multiply(0, A_AFTER);
        __syncwarp();
        float a = fetch_a(start);
        __syncwarp();
        multiply(A_AFTER, B_AFTER);
        __syncwarp();
        float b = fetch_b(start);
        __syncwarp();
        multiply(B_AFTER, T);
        __syncthreads();  // no thread reads this pair any more
        A_tile[ty][tx] = a;
        B_tile[ty][tx] = b;
        __syncthreads();  // the next pair is complete
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}
// [/kernel]
