// Average pooling over wide windows, one dimension after another, in double.
#include "aten/native/shared/WideAverage.h"

#include <algorithm>
#include <vector>

#include "aten/native/shared/Taps.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

// More window elements than this in one dimension are not listed as taps.
constexpr int64_t kMostTaps = int64_t{1} << 20;

/// Sums of neighbours along one dimension: result j is the sum of elements [begin[j], end[j]). It
/// is multiplied by factor[j]; with `factor_of_source`, element k is multiplied by factor[k] before
/// it is added.
struct Sums {
  std::vector<int64_t> begin, end;
  std::vector<double> factor;
  bool factor_of_source = false;
};

/// The sums along dimension d, counted among those that are pooled.
Sums sums_of(const AverageArguments& a, size_t d) {
  const size_t at = a.sizes.size() - a.kernel_size.size() + d;
  // The override replaces the product of all counts: it belongs to one dimension.
  const int64_t divisor = !a.divisor_override ? 0 : d == 0 ? *a.divisor_override : 1;
  const AverageWindows windows{a.kernel_size[d], a.stride[d], a.padding[d], a.count_include_pad,
                               divisor};

  Sums sums;
  for (int64_t j = 0; j < a.output_sizes[at]; ++j) {
    const AverageWindow window = average_window(windows, a.sizes[at], j);
    sums.begin.push_back(window.begin);
    sums.end.push_back(window.end);
    sums.factor.push_back(window.weight());
  }
  return sums;
}

/// The transposed sums, for gradients: the windows that contain an element are neighbours as well.
Sums transposed(const Sums& sums, int64_t size) {
  Sums result{{}, {}, sums.factor, true};
  size_t begin = 0, end = 0;
  for (int64_t i = 0; i < size; ++i) {
    while (begin < sums.end.size() && sums.end[begin] <= i) ++begin;
    while (end < sums.begin.size() && sums.begin[end] <= i) ++end;
    result.begin.push_back(static_cast<int64_t>(begin));
    result.end.push_back(static_cast<int64_t>(end));
  }
  return result;
}

/// The sum of n adjacent values, weighted if `factors` is not null.
double sum_of_line(const double* values, const double* factors, int64_t n) {
  constexpr int64_t kLanes = 8;
  double lanes[kLanes] = {}, sum = 0;
  int64_t i = 0;

  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l)
      lanes[l] += factors == nullptr ? values[i + l] : factors[i + l] * values[i + l];
  }

  for (; i < n; ++i) sum += factors == nullptr ? values[i] : factors[i] * values[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// Computes row j of the result, which has `after` elements.
void sum_rows(const Sums& sums, int64_t j, int64_t after, const double* from, double* to) {
  const int64_t begin = sums.begin[j];
  const int64_t end = sums.end[j];
  const double scale = sums.factor_of_source ? 1.0 : sums.factor[j];
  const double* factors = sums.factor_of_source ? sums.factor.data() : nullptr;

  if (after == 1) {
    *to = scale *
          sum_of_line(from + begin, factors == nullptr ? nullptr : factors + begin, end - begin);
    return;
  }

  std::fill_n(to, after, 0.0);
  for (int64_t k = begin; k < end; ++k) {
    const double factor = factors == nullptr ? 1.0 : factors[k];
    for (int64_t i = 0; i < after; ++i) to[i] += factor * from[k * after + i];
  }
  for (int64_t i = 0; i < after; ++i) to[i] *= scale;
}

Tensor summed(const Tensor& x, size_t dim, const Sums& sums) {
  DimVector sizes(x.sizes());
  const int64_t in = sizes[dim];
  const int64_t out = static_cast<int64_t>(sums.begin.size());
  sizes[dim] = out;

  int64_t before = 1;
  int64_t after = 1;
  int64_t width = 1;  // of the widest window
  for (size_t d = 0; d < dim; ++d) before *= sizes[d];
  for (size_t d = dim + 1; d < sizes.size(); ++d) after *= sizes[d];
  for (int64_t j = 0; j < out; ++j) width = std::max(width, sums.end[j] - sums.begin[j]);

  const Tensor result = empty_tensor(sizes, kDouble, kCPU);
  const double* from = x.const_data_ptr<double>();
  double* to = result.data_ptr<double>();

  parallel_for(0, before * out, std::max<int64_t>(1, kDefaultGrainSize / (after * width)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row)
                   sum_rows(sums, row % out, after, from + row / out * in * after,
                            to + row * after);
               });

  return result;
}

}  // namespace

bool has_wide_windows(const AverageArguments& a) {
  for (size_t d = 0; d < a.kernel_size.size(); ++d) {
    const size_t at = a.sizes.size() - a.kernel_size.size() + d;
    int64_t taps = 0;
    if (__builtin_mul_overflow(std::min(a.kernel_size[d], a.sizes[at]), a.output_sizes[at],
                               &taps) ||
        taps > kMostTaps)
      return true;
  }
  return false;
}

void average_wide_windows(const AverageArguments& a, bool backward, const Tensor& from,
                          const Tensor& to) {
  if (to.numel() == 0) return;
  Tensor x = from.to(kDouble).contiguous();
  const size_t spatial = a.kernel_size.size();
  const size_t leading = a.sizes.size() - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    const Sums sums = sums_of(a, d);
    x = summed(x, leading + d, backward ? transposed(sums, a.sizes[leading + d]) : sums);
  }
  at::copy_(to, x);
}

}  // namespace at::native
