// Runs one attention submission on a real GPU: benchmarks/on_gpu.py builds this once for each file.
//
//   driver T input.bin output.bin repeats
//
// input.bin holds qkv [T, QKV_OUT], output.bin receives attnOut [T, D]; the output is NaN before the first call.
// Prints the median time of `repeats` calls in milliseconds, and the first CUDA error if there was one.

#include SUBMISSION

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

int main(int, char** argv) {
  const int length = std::atoi(argv[1]);
  const int repeats = std::atoi(argv[4]);
  const size_t inBytes = sizeof(float) * length * QKV_OUT;
  const size_t outBytes = sizeof(float) * length * D;

  std::vector<char> host(std::max(inBytes, outBytes));
  std::FILE* file = std::fopen(argv[2], "rb");
  if (file == nullptr || std::fread(host.data(), 1, inBytes, file) != inBytes) return 2;
  std::fclose(file);

  float *qkv = nullptr, *out = nullptr;
  check(cudaMalloc(&qkv, inBytes), "cudaMalloc");
  check(cudaMalloc(&out, outBytes), "cudaMalloc");
  check(cudaMemcpy(qkv, host.data(), inBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(out, 0xff, outBytes), "cudaMemset");

  runCausalAttention(qkv, out, length);
  const cudaError_t launched = cudaGetLastError();
  if (launched != cudaSuccess) std::printf("launch: %s\n", cudaGetErrorString(launched));
  check(cudaDeviceSynchronize(), "run");
  check(cudaMemcpy(host.data(), out, outBytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  file = std::fopen(argv[3], "wb");
  std::fwrite(host.data(), 1, outBytes, file);
  std::fclose(file);

  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int n = 0; n < repeats; ++n) {
    cudaEventRecord(begin);
    runCausalAttention(qkv, out, length);
    cudaEventRecord(end);
    check(cudaEventSynchronize(end), "timing");
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  std::printf("median_ms %.5f\n", times.empty() ? 0.0 : times[times.size() / 2]);
  return 0;
}
