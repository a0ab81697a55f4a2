// Variances of elements that are adjacent in memory, without temporary tensors: their mean, then
// the squares of what differs from it. All others are composed in reduction/Variance.cpp.
#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/ReductionOrder.h"
#include "aten/iteration/ReductionPlan.h"
#include "aten/native/declarations/cpu/reduction/VarianceKernel.isa.h"
#include "aten/native/declarations/reduction/Variance.h"
#include "aten/native/shared/AdjacentRows.h"
#include "aten/native/shared/Freedom.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

using Pair = std::tuple<Tensor, Tensor>;

/// Sums of differences and of their squares.
struct Sums {
  double differences = 0;
  double squares = 0;
};

// Sums are in the arithmetic dtype within a chunk of kChunk elements, in lanes that fill several
// vector registers. The sums of chunks are added in double.
template <class T>
Sums sums_from(const T* x, int64_t n, opmath_type<T> origin) {
  using opmath_t = opmath_type<T>;
  Sums total;
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t end = std::min(n, begin + kChunk);
    opmath_t differences[kLanes] = {};
    opmath_t squares[kLanes] = {};
    const auto add = [&](int64_t lane, int64_t i) {
      const opmath_t difference = static_cast<opmath_t>(x[i]) - origin;
      differences[lane] += difference;
      squares[lane] += difference * difference;
    };

    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) add(lane, i + lane);
    }
    for (; i < end; ++i) add(i % kLanes, i);

    for (int64_t lane = 0; lane < kLanes; ++lane) {
      total.differences += static_cast<double>(differences[lane]);
      total.squares += static_cast<double>(squares[lane]);
    }
  }
  return total;
}

/// The sums of one long lane, in parallel. The parts depend only on its length, so the result is
/// the same for any number of threads.
template <class T>
Sums sums_in_parts(const T* x, int64_t n, opmath_type<T> origin) {
  constexpr int64_t kPart = 16 * kChunk;
  const int64_t parts = (n + kPart - 1) / kPart;
  if (parts <= 1) return sums_from(x, n, origin);

  std::vector<Sums> sums(parts);
  parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      sums[part] = sums_from(x + part * kPart, std::min(kPart, n - part * kPart), origin);
  });

  Sums total;
  for (const Sums& part : sums) {
    total.differences += part.differences;
    total.squares += part.squares;
  }
  return total;
}

struct Moments {
  double squares;  // of what differs from the mean, added up
  double mean;
};

/// Nothing is counted from an infinite element: the mean is infinite then, not NaN. What the mean
/// loses where it is rounded is made good by the sum of the differences from it.
template <class T>
Moments moments_of(const T* x, int64_t n) {
  using opmath_t = opmath_type<T>;
  const auto first = static_cast<opmath_t>(x[0]);
  const opmath_t origin = std::isfinite(first) ? first : opmath_t(0);
  const auto count = static_cast<double>(n);
  const double mean = static_cast<double>(origin) + sums_in_parts(x, n, origin).differences / count;

  const Sums sums = sums_in_parts(x, n, static_cast<opmath_t>(mean));
  const double squares = sums.squares - sums.differences * (sums.differences / count);
  return {squares < 0 ? 0 : squares, mean};
}

/// The variance, or its root, and the mean if `means` is defined, of rows of `length` elements.
void moments_of_rows(const char* name, const Tensor& self, int64_t length, double freedom,
                     bool takes_root, const Tensor& spreads, const Tensor& means) {
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), name, [&] {
    const scalar_t* const data = self.const_data_ptr<scalar_t>();
    scalar_t* const spread = spreads.data_ptr<scalar_t>();
    scalar_t* const mean = means.defined() ? means.data_ptr<scalar_t>() : nullptr;
    const auto run = [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const Moments found = moments_of(data + row * length, length);
        const double variance = found.squares / freedom;
        spread[row] = convert<scalar_t>(takes_root ? std::sqrt(variance) : variance);
        if (mean != nullptr) mean[row] = convert<scalar_t>(found.mean);
      }
    };

    const int64_t rows = spreads.numel();
    if (rows == 1) return run(0, 1);  // which shares out the elements
    parallel_for(0, rows, std::max<int64_t>(1, kDefaultGrainSize / length), run);
  });
}

Pair moments(const char* name, const Tensor& self, int64_t length, OptionalIntArrayRef dim,
             const std::optional<Scalar>& correction, bool keepdim, bool takes_root,
             bool wants_mean) {
  const DimVector sizes = reduced_sizes(self, dim, keepdim);
  const Tensor spread = empty_tensor(sizes, self.scalar_type(), self.device());
  const Tensor mean =
      wants_mean ? empty_tensor(sizes, self.scalar_type(), self.device()) : Tensor();
  moments_of_rows(name, self, length, degrees_of_freedom(self, dim, correction), takes_root, spread,
                  mean);
  return {spread, mean};
}

/// The length of the rows whose moments are computed here, or 0.
int64_t length_here(const Tensor& self, OptionalIntArrayRef dim) {
  return self.is_floating_point() && self.dim() > 0 ? length_of_rows(self, dim) : 0;
}

}  // namespace

Tensor var_kernel(const Tensor& self, OptionalIntArrayRef dim,
                  const std::optional<Scalar>& correction, bool keepdim) {
  const int64_t length = length_here(self, dim);
  if (length == 0) return var_correction(self, dim, correction, keepdim);
  return std::get<0>(moments("var", self, length, dim, correction, keepdim, false, false));
}

Tensor std_kernel(const Tensor& self, OptionalIntArrayRef dim,
                  const std::optional<Scalar>& correction, bool keepdim) {
  const int64_t length = length_here(self, dim);
  if (length == 0) return std_correction(self, dim, correction, keepdim);
  return std::get<0>(moments("std", self, length, dim, correction, keepdim, true, false));
}

Pair var_mean_kernel(const Tensor& self, OptionalIntArrayRef dim,
                     const std::optional<Scalar>& correction, bool keepdim) {
  const int64_t length = length_here(self, dim);
  if (length == 0) return var_mean_correction(self, dim, correction, keepdim);
  return moments("var_mean", self, length, dim, correction, keepdim, false, true);
}

Pair std_mean_kernel(const Tensor& self, OptionalIntArrayRef dim,
                     const std::optional<Scalar>& correction, bool keepdim) {
  const int64_t length = length_here(self, dim);
  if (length == 0) return std_mean_correction(self, dim, correction, keepdim);
  return moments("std_mean", self, length, dim, correction, keepdim, true, true);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
