// A fault for each tool of the sanitizer, in a kernel named as Ebb's are: a tool, or a filter of kernels,
// that says nothing of it would say nothing of Ebb's.
//
//     control memcheck|racecheck|initcheck ORDINAL
#include <cstdlib>
#include <cstring>

enum { N = 64, FAR = 1 << 18 };  // two warps, which exchange their halves

extern "C" __global__ void cuda_kernel_control(int fault, const int *in, int *out) {
    __shared__ int shared[N];
    const int i = (int)threadIdx.x;
    if (fault == 'm') out[FAR + i] = i;  // behind what was allocated
    if (fault == 'i') out[i] = in[i];    // which nobody wrote
    if (fault == 'r') {                  // no barrier between
        shared[i] = i;
        out[i] = shared[N - 1 - i];
    }
}

int main(int argc, char **argv) {
    int *in = nullptr, *out = nullptr;
    if (argc != 3 || !std::strchr("mri", argv[1][0])) return 2;
    if (cudaSetDevice(std::atoi(argv[2])) != cudaSuccess) return 5;
    if (cudaMalloc(&in, N * sizeof *in) != cudaSuccess) return 5;
    if (cudaMalloc(&out, N * sizeof *out) != cudaSuccess) return 5;
    cuda_kernel_control<<<1, N>>>(argv[1][0], in, out);
    (void)cudaDeviceSynchronize();
    return 0;
}
