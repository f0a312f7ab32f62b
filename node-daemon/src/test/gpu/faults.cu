// Programs that a real GPU runs for check.py: one that is right, one that loads it, and three that the driver ends with an XID.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define OK(call)                                                                     \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            std::printf("%s: %s\n", #call, cudaGetErrorString(e));                   \
            return 1;                                                                \
        }                                                                            \
    } while (0)

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void busy(float *out, long rounds) {
    float x = threadIdx.x;
    for (long i = 0; i < rounds; i++) x = x * 1.000001f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void illegalAddress(int *p) { *(volatile int *) ((char *) p + (1ull << 40)) = 1; }

__global__ void misalignedAddress(char *p) { *(volatile int *) (p + 1) = 1; }

__global__ void trap() { asm volatile("trap;"); }

static int vectorAdd() {
    const int n = 1 << 20;
    float *a, *b, *c;
    float *host = (float *) std::malloc(n * sizeof(float));
    OK(cudaMalloc(&a, n * sizeof(float)));
    OK(cudaMalloc(&b, n * sizeof(float)));
    OK(cudaMalloc(&c, n * sizeof(float)));
    for (int i = 0; i < n; i++) host[i] = i;
    OK(cudaMemcpy(a, host, n * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, host, n * sizeof(float), cudaMemcpyHostToDevice));
    add<<<n / 256, 256>>>(a, b, c, n);
    OK(cudaMemcpy(host, c, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        if (host[i] != 2.0f * i) {
            std::printf("element %d is %f\n", i, host[i]);
            return 1;
        }
    std::printf("vector add of %d elements is right\n", n);
    return 0;
}

static int load(int seconds) {
    float *out;
    const size_t bytes = 4ull << 30;
    OK(cudaMalloc(&out, bytes));
    std::printf("pid %d holds %zu bytes\n", getpid(), bytes);
    std::fflush(stdout);
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    long rounds = 0;
    for (; std::chrono::steady_clock::now() < end; rounds++) {
        busy<<<1056, 256>>>(out, 20000);
        OK(cudaDeviceSynchronize());
    }
    std::printf("%ld rounds\n", rounds);
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "add";
    if (!std::strcmp(what, "add")) return vectorAdd();
    if (!std::strcmp(what, "load")) return load(argc > 2 ? std::atoi(argv[2]) : 10);
    int *p;
    OK(cudaMalloc(&p, 4096));
    if (!std::strcmp(what, "illegal")) illegalAddress<<<1, 1>>>(p);
    if (!std::strcmp(what, "misaligned")) misalignedAddress<<<1, 1>>>((char *) p);
    if (!std::strcmp(what, "trap")) trap<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    return 0;
}
