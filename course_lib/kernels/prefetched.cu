// Tiles in two buffers: prefetched.py in CUDA C.
// A is M×K, B is K×N, C is M×N, row after row.

#ifndef UNROLL
#define UNROLL  // nothing: the compiler decides; or _Pragma("unroll 1"): the loop is left as it is
#endif

// [kernel]
template <int T>
__global__ void prefetched(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tiles[2][T][T], B_tiles[2][T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    // [loop]
    int now = 0;
    for (int start = 0; start < K + T; start += T) {  // fetches one pair of tiles, computes with the one before
        float a_next = row < M && start + tx < K ? A[row * K + start + tx] : 0;
        float b_next = start + ty < K && col < N ? B[(start + ty) * N + col] : 0;
        if (start > 0) {
            UNROLL
            for (int k = 0; k < T; ++k)
                acc += A_tiles[now][ty][k] * B_tiles[now][k][tx];
        }
        now = 1 - now;
        A_tiles[now][ty][tx] = a_next;
        B_tiles[now][ty][tx] = b_next;
        __syncthreads();  // the next pair is complete, and no thread reads the old one any more
    }
    // [/loop]
    if (row < M && col < N)
        C[row * N + col] = acc;
}
// [/kernel]
