// A host program in CUDA C: memory on the GPU, copies, a launch, and the copy back. It prints the largest error.
#include <cmath>
#include <cstdio>
#include <vector>

#include "naive.cu"

// [check]
#define CHECK(call)                                                          \
    if (cudaError_t error = (call)) {                                        \
        std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
        return 1;                                                            \
    }
// [/check]

int main() {
    int M = 257, N = 129, K = 65;
    std::vector<float> A(M * K), B(K * N), C(M * N);
    for (int i = 0; i < M * K; ++i) A[i] = i % 7 - 3;
    for (int i = 0; i < K * N; ++i) B[i] = i % 5 - 2;

    // [copies]
    // [memory]
    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, M * K * sizeof(float)));
    CHECK(cudaMalloc(&d_B, K * N * sizeof(float)));
    CHECK(cudaMalloc(&d_C, M * N * sizeof(float)));
    CHECK(cudaMemcpy(d_A, A.data(), M * K * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, B.data(), K * N * sizeof(float), cudaMemcpyHostToDevice));
    // [/memory]
    // [launch]
    dim3 block(16, 16);
    dim3 grid((N + block.x - 1) / block.x, (M + block.y - 1) / block.y);
    naive<<<grid, block>>>(d_A, d_B, d_C, M, N, K);
    CHECK(cudaGetLastError());
    // [/launch]
    // [result]
    CHECK(cudaMemcpy(C.data(), d_C, M * N * sizeof(float), cudaMemcpyDeviceToHost));
    cudaFree(d_A), cudaFree(d_B), cudaFree(d_C);
    // [/result]
    // [/copies]

    double worst = 0;
    for (int row = 0; row < M; ++row)
        for (int col = 0; col < N; ++col) {
            double sum = 0;
            for (int k = 0; k < K; ++k) sum += double(A[row * K + k]) * B[k * N + col];
            double error = std::fabs(sum - C[row * N + col]);
            worst = std::isnan(worst) || error <= worst ? worst : error;  // a NaN stays
        }
    std::printf("largest error: %g\n", worst);
    return worst == 0 ? 0 : 1;  // the products and sums are small whole numbers: exact
}
