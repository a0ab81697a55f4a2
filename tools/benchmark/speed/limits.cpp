// What this machine can do at most: arithmetic in registers, and bytes moved through memory and
// caches.
//
// A shared library for limits.py, compiled for the processor at hand. Every function runs for about
// the given number of seconds and returns a rate: operations or bytes per second, the best of its
// repetitions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// Enough independent sums to hide the latency of two units, few enough for 16 registers.
constexpr int kSums = 12;
constexpr int kRepetitions = 20'000;

/// Seconds that this thread has run: programs that take turns with it do not count.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The best rate of `work`, which does `amount` operations in a call.
template <class Work>
double best_rate(double seconds, double amount, Work&& work) {
  const double end = now() + seconds;
  double best = 0;

  do {
    const double start = now();
    work();
    best = std::max(best, amount / (now() - start));
  } while (now() < end);

  return best;
}

/// Keeps a value from being computed in vain, in the compiler's eyes.
template <class Value>
void use(Value& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

/// `step` on every one of kSums registers, kRepetitions times.
template <class Vector, class Step>
void turn(Step&& step) {
  Vector sums[kSums] = {};
  // The compiler must not see that they are equal, or it computes them once.
  for (Vector& sum : sums) use(sum);

  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
#pragma GCC unroll 12
    for (int sum = 0; sum < kSums; ++sum) sums[sum] = step(sums[sum]);
  }

  for (Vector& sum : sums) use(sum);
}

template <class Number>
double multiply_add(double seconds) {
  typedef Number Vector __attribute__((vector_size(kVectorBytes)));
  constexpr int kLanes = kVectorBytes / sizeof(Number);

  Vector factor = {};
  Vector addend = {};
  use(factor);
  use(addend);

  const double amount = 2.0 * kLanes * kSums * kRepetitions;
  return best_rate(seconds, amount,
                   [&] { turn<Vector>([&](Vector sum) { return sum * factor + addend; }); });
}

}  // namespace

extern "C" {

double multiply_add_float32(double seconds) { return multiply_add<float>(seconds); }

double multiply_add_float64(double seconds) { return multiply_add<double>(seconds); }

/// Pairs of bfloat16 summed in float32; 0 where the processor has no such instruction.
double dot_bfloat16(double seconds) {
#ifdef __AVX512BF16__
  __m512bh left = {};
  __m512bh right = {};
  use(left);
  use(right);

  const double amount = 64.0 * kSums * kRepetitions;
  return best_rate(seconds, amount, [&] {
    turn<__m512>([&](__m512 sum) { return _mm512_dpbf16_ps(sum, left, right); });
  });
#else
  return seconds * 0;
#endif
}

/// Four products of uint8 and int8 summed in int32; 0 where the processor has no such instruction.
double dot_int8(double seconds) {
#ifdef __AVX512VNNI__
  __m512i left = {};
  __m512i right = {};
  use(left);
  use(right);

  const double amount = 128.0 * kSums * kRepetitions;
  return best_rate(seconds, amount, [&] {
    turn<__m512i>([&](__m512i sum) { return _mm512_dpbusd_epi32(sum, left, right); });
  });
#else
  return seconds * 0;
#endif
}

/// memcpy between buffers of `size` bytes: bytes read and written.
double copy(double seconds, size_t size) {
  std::vector<char> from(size, 1);
  std::vector<char> to(size, 2);
  const size_t times = std::max<size_t>(1, (size_t{1} << 22) / size);

  return best_rate(seconds, 2.0 * size * times, [&] {
    for (size_t time = 0; time < times; ++time) {
      std::memcpy(to.data(), from.data(), size);
      use(to[0]);
    }
  });
}

/// a = b + s * c over float32 buffers of `size` bytes: bytes read and written.
double triad(double seconds, size_t size) {
  const size_t count = size / sizeof(float);
  std::vector<float> sums(count, 0.f);
  std::vector<float> left(count, 1.f);
  std::vector<float> right(count, 2.f);
  float scale = 3.f;
  use(scale);

  return best_rate(seconds, 3.0 * size, [&] {
    for (size_t i = 0; i < count; ++i) sums[i] = left[i] + scale * right[i];
    use(sums[0]);
  });
}

}  // extern "C"
