// Euclidean norms in one pass over elements that are adjacent in memory. All other norms are
// composed of operators in linalg/Norm.cpp.
#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/ReductionOrder.h"
#include "aten/iteration/ReductionPlan.h"
#include "aten/native/declarations/cpu/linalg/NormKernel.isa.h"
#include "aten/native/declarations/linalg/Norm.h"
#include "aten/native/functors/Norm.h"
#include "aten/native/shared/AdjacentRows.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

// Squares are summed in the arithmetic dtype within a chunk of kChunk elements, in lanes that fill
// several vector registers. The sums of chunks are added in double.
template <typename T>
double sum_of_squares(const T* x, int64_t n) {
  using opmath_t = opmath_type<T>;
  double total = 0;

  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t end = std::min(n, begin + kChunk);
    opmath_t lanes[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) {
        const opmath_t value = static_cast<opmath_t>(x[i + l]);
        lanes[l] += value * value;
      }
    }
    for (; i < end; ++i) {
      const opmath_t value = static_cast<opmath_t>(x[i]);
      lanes[i % kLanes] += value * value;
    }

    double eighths[8] = {};
    for (int64_t l = 0; l < kLanes; ++l) eighths[l % 8] += static_cast<double>(lanes[l]);
    for (const double eighth : eighths) total += eighth;
  }

  return total;
}

/// The sum of squares of one long vector, in parallel. The parts depend only on its length, so the
/// result is the same for any number of threads.
template <typename T>
double sum_in_parts(const T* x, int64_t n) {
  constexpr int64_t kPart = 16 * kChunk;
  const int64_t parts = (n + kPart - 1) / kPart;
  if (parts <= 1) return sum_of_squares(x, n);

  std::vector<double> sums(parts);
  parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      sums[part] = sum_of_squares(x + part * kPart, std::min(kPart, n - part * kPart));
  });

  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

/// The norms of `count` rows of `length` contiguous elements, in the calling thread.
template <typename T>
void norms_of_rows(const T* rows, int64_t length, int64_t count, T* out) {
  const EuclideanNorm<T> ops;
  if (length <= kTiny) {
    const int64_t step = length * static_cast<int64_t>(sizeof(T));
    reduce_tiny_rows(ops, reinterpret_cast<const char*>(rows), step, length, count,
                     [&](int64_t k, opmath_type<T> sum) { out[k] = ops.project(sum); });
    return;
  }

  for (int64_t k = 0; k < count; ++k) {
    const T* row = rows + k * length;
    out[k] = length <= kChunk ? ops.project(reduce_short_row(ops, row, length))
                              : static_cast<T>(std::sqrt(sum_of_squares(row, length)));
  }
}

}  // namespace

Tensor norm_kernel(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                   bool keepdim) {
  const bool euclidean = !p.has_value() || (!p->is_complex() && p->to_double() == 2);
  if (!euclidean || !self.is_floating_point() || self.numel() == 0 || self.dim() == 0)
    return norm_dim(self, p, dim, keepdim);

  const int64_t length = length_of_rows(self, dim);
  if (length == 0) return norm_dim(self, p, dim, keepdim);

  const DimVector sizes = reduced_sizes(self, dim, keepdim);
  const Tensor result = empty_tensor(sizes, self.scalar_type(), self.device());
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "norm", [&] {
    const scalar_t* data = self.const_data_ptr<scalar_t>();
    scalar_t* out = result.data_ptr<scalar_t>();
    const int64_t count = result.numel();
    if (count == 1) {
      *out = static_cast<scalar_t>(std::sqrt(sum_in_parts(data, length)));
      return;
    }
    parallel_for(0, count, std::max<int64_t>(1, kDefaultGrainSize / length),
                 [&](int64_t begin, int64_t end) {
                   norms_of_rows(data + begin * length, length, end - begin, out + begin);
                 });
  });

  return result;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
