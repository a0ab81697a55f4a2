// Kernels of the programs in these tests, as a compiler would print them.
#include <cstdint>

using Data = void* const*;
using Sizes = const int64_t*;

extern "C" void add_relu(Data data, Sizes, int64_t begin, int64_t end) {
  const float* a = static_cast<const float*>(data[0]);
  const float* b = static_cast<const float*>(data[1]);
  float* out = static_cast<float*>(data[2]);
  for (int64_t i = begin; i < end; ++i) out[i] = a[i] + b[i] > 0 ? a[i] + b[i] : 0;
}

extern "C" void twice(Data data, Sizes, int64_t begin, int64_t end) {
  const float* a = static_cast<const float*>(data[0]);
  float* out = static_cast<float*>(data[1]);
  for (int64_t i = begin; i < end; ++i) out[i] = 2 * a[i];
}

extern "C" void sum_rows(Data data, Sizes sizes, int64_t begin, int64_t end) {
  const float* a = static_cast<const float*>(data[0]);
  float* out = static_cast<float*>(data[1]);
  for (int64_t row = begin; row < end; ++row) {
    out[row] = 0;
    for (int64_t i = 0; i < sizes[0]; ++i) out[row] += a[row * sizes[0] + i];
  }
}

extern "C" void increment(Data data, Sizes, int64_t begin, int64_t end) {
  float* a = static_cast<float*>(data[0]);
  for (int64_t i = begin; i < end; ++i) a[i] += 1;
}

extern "C" void nothing(Data, Sizes, int64_t, int64_t) {}
