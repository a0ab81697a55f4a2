// The kernels of bernoulli_ and exponential_, and the samples of multinomial. See Note [Random
// numbers] in RandomDraws.h.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/cpu/reduction/RowScan.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/DistributionsKernel.isa.h"
#include "aten/native/random/SerialDraws.h"
#include "aten/vec/math.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The running sums of `rows` rows of n weights, at most kScanRows, each divided by the last one of
/// its row.
template <typename T>
void cumulate(const T* weights, int64_t rows, int64_t n, T* sums) {
  const auto plus = [](auto a, auto b) { return a + b; };
  if (rows == kScanRows) {
    scan_rows(sums, n, weights, n, n, T(0), plus);
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      T sum = 0;
      for (int64_t j = 0; j < n; ++j) sums[row * n + j] = sum += weights[row * n + j];
    }
  }

  for (int64_t row = 0; row < rows; ++row) {
    T* values = sums + row * n;
    const T total = values[n - 1];
    for (int64_t j = 0; j < n; ++j) values[j] /= total;
  }
}

/// The first of n sums that reaches `wanted`, or n - 1. Selections replace branches, half of which
/// would be mispredicted.
template <typename T>
int64_t first_reaching(const T* sums, int64_t n, double wanted) {
  int64_t begin = 0;
  for (int64_t left = n; left > 1;) {
    const int64_t half = left / 2;
    begin += static_cast<double>(sums[begin + half - 1]) < wanted ? half : 0;
    left -= half;
  }
  return begin;
}

/// Samples with replacement: finds the first running sum of the weights that reaches a uniform
/// number.
template <typename T>
void sample_by_sums(const Tensor& weights, int64_t num_samples, const Tensor& out,
                    Generator* generator) {
  SerialDraws source(generator);
  const int64_t n = weights.size(-1);
  const int64_t rows = weights.numel() / n;
  const T* weight = weights.const_data_ptr<T>();
  int64_t* sample = out.data_ptr<int64_t>();
  std::vector<T> sums(static_cast<size_t>(kScanRows * n));

  for (int64_t row = 0; row < rows; ++row, weight += n) {
    const int64_t place = row % kScanRows;
    if (place == 0) cumulate(weight, std::min(kScanRows, rows - row), n, sums.data());

    // If rounding leaves all sums below the draw, the result is the last category of positive
    // weight.
    int64_t last = n - 1;
    while (last > 0 && !(weight[last] > 0)) --last;
    TORCH_CHECK(weight[last] > 0, "multinomial: expected a positive weight in every row");

    for (int64_t s = 0; s < num_samples; ++s) {
      const int64_t found = first_reaching(sums.data() + place * n, n, source.uniform());

      // A draw of exactly 0 finds leading weights of 0, which are skipped.
      int64_t index = std::min(found, last);
      while (!(weight[index] > 0)) ++index;
      *sample++ = index;
    }
  }
}

}  // namespace

void bernoulli_kernel(const Tensor& self, double p, Generator* generator) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);

  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);

  // A draw k / 2^53 is less than p exactly if the integer k is less than p * 2^53 rounded up.
  const auto threshold = static_cast<int64_t>(std::ceil(p * 0x1p53));

  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "bernoulli_", [&] {
    fill_in_order<scalar_t>(self, "bernoulli_", [&](scalar_t* out, int64_t count) {
      uint64_t words[kDraws];
      draw_words(source, words, count);

      const scalar_t one = convert<scalar_t>(1.0f);
      const scalar_t zero = convert<scalar_t>(0.0f);
      for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<int64_t>(words[i] & kMantissa) < threshold ? one : zero;
    });
  });
}

void exponential_kernel(const Tensor& self, double lambd, Generator* generator) {
  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);

  // Inverts the distribution function: log(1 - uniform) / -lambd.
  const double scale = -1.0 / lambd;
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "exponential_", [&] {
    fill_in_order<scalar_t>(self, "exponential_", [&](scalar_t* out, int64_t count) {
      double draws[kDraws];
      draw_uniform(source, draws, count);
      for (int64_t i = 0; i < count; ++i) out[i] = convert<scalar_t>(scale * vec::log1p(-draws[i]));
    });
  });
}

void sample_with_replacement_kernel(const Tensor& weights, int64_t num_samples,
                                    Generator* generator, const Tensor& out0) {
  const Tensor rows = weights.contiguous();
  if (weights.scalar_type() == kDouble)
    return sample_by_sums<double>(rows, num_samples, out0, generator);
  sample_by_sums<float>(rows, num_samples, out0, generator);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
