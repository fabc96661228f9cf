// A host program in CUDA C: a block gets dynamic shared memory, more than a static array may have. It prints the
// largest error.
#include <cmath>
#include <cstdio>
#include <vector>

// [kernel]
__global__ void reversed(const float *x, float *out, int n) {
    extern __shared__ float tile[];  // its length is the third number of the launch
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        tile[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = tile[n - 1 - i];
}
// [/kernel]

int main() {
    int n = 16 * 1024;
    std::vector<float> x(n), out(n);
    for (int i = 0; i < n; ++i) x[i] = i;
    float *d_x, *d_out;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    // [launch]
    int bytes = n * sizeof(float);  // 64 KiB: more than 48 KiB must be allowed first
    cudaFuncSetAttribute(reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    reversed<<<1, 256, bytes>>>(d_x, d_out, n);
    // [/launch]
    cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost);
    double worst = cudaGetLastError() == cudaSuccess ? 0 : 1;
    for (int i = 0; i < n; ++i) worst = std::fmax(worst, std::fabs(out[i] - x[n - 1 - i]));
    std::printf("largest error: %g\n", worst);
    return worst == 0 ? 0 : 1;
}
