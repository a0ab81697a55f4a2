// What one core multiplies and adds per second when everything stays in registers.
#include <chrono>

namespace {

constexpr int kSums = 20;  // more than latency times units, fewer than registers
constexpr int kRounds = 20000;

typedef float Floats __attribute__((vector_size(64)));
typedef double Doubles __attribute__((vector_size(64)));

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Operations per second of `step` on independent sums.
template <class Vector, class Step>
double rate(double operations, const Step& step) {
  Vector sums[kSums] = {};
  const double start = seconds();
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 32
    for (int i = 0; i < kSums; ++i) step(sums[i]);
#pragma GCC unroll 32
    for (int i = 0; i < kSums; ++i) __asm__ volatile("" : "+v"(sums[i]));
  }
  return operations * kSums * kRounds / (seconds() - start);
}

}  // namespace

extern "C" double peak_float32() {
  const Floats half = Floats{} + 0.5f;
  return rate<Floats>(32, [&](Floats& sum) { sum = sum * half + half; });
}

extern "C" double peak_float64() {
  const Doubles half = Doubles{} + 0.5;
  return rate<Doubles>(16, [&](Doubles& sum) { sum = sum * half + half; });
}

/// Pairs of BFloat16; 0 without the instruction.
extern "C" double peak_bfloat16() {
#ifdef __AVX512BF16__
  const Floats zero = {};
  return rate<Floats>(64, [&](Floats& sum) {
    __asm__("vdpbf16ps %1, %1, %0" : "+v"(sum) : "v"(zero));
  });
#else
  return 0;
#endif
}
