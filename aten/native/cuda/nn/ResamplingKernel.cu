// The kernels of interpolation and its gradient.
#include "aten/Dispatch.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/PlaneIndex.h"
#include "aten/native/shared/Taps.h"
#include "aten/ops/amax.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/zero.h"

// Note [Tables of taps]
// What an element takes along one dimension is computed once, in double, by a small kernel: a table
// of elements and weights for each dimension. The kernel proper then has one thread for each
// element of the result, whatever the mode. First and last elements grow along a table, so the
// gradient finds what an element was given to by binary search instead of by atomic additions.

namespace at::native::cuda {

namespace {

/// What element j of the result takes: `count` taps, which lie in [first, last].
struct TapRange {
  int64_t first, last, count;
};

/// The taps of one dimension, `width` entries for each element; null tables map every element to
/// itself.
struct TapTable {
  int64_t in = 1, out = 1, width = 0;
  TapRange* ranges = nullptr;
  int64_t* index = nullptr;
  double* weight = nullptr;
};

struct TapTables {
  TapTable axis[3];
};

struct FillTable {
  InterpolationAxis axis;
  TapTable table;

  SIMT_DEVICE void operator()(int64_t j) const {
    const TapSpan span = tap_span(axis, j);
    const int64_t count = span.count < table.width ? span.count : table.width;
    for (int64_t t = 0; t < table.width; ++t) {
      table.index[j * table.width + t] = t < count ? tap_index(axis, span, t) : 0;
      table.weight[j * table.width + t] = t < count ? tap_weight(axis, span, t) : 0;
    }

    const int64_t last = span.begin + count - 1;
    table.ranges[j] = {tap_index(axis, span, 0), last < axis.in - 1 ? last : axis.in - 1, count};
  }
};

struct QuantiseTable {
  double* weight;
  const double* largest;

  SIMT_DEVICE void operator()(int64_t index) const {
    weight[index] = quantised_weight(weight[index], *largest > 0 ? *largest : 0);
  }
};

/// Memory of the tables of all dimensions, and how to use it in kernels.
class Tables {
 public:
  Tables(const char* name, const Tensor& self, IntArrayRef sizes, IntArrayRef output_size,
         std::string_view mode, bool align_corners, ArrayRef<double> scales, bool antialias) {
    const Interpolation how{mode, align_corners, antialias, self.scalar_type() != kDouble};
    const size_t spatial = output_size.size();
    for (size_t d = 0; d < spatial; ++d) {
      const InterpolationAxis axis = interpolation_axis(
          how, sizes[sizes.size() - spatial + d], output_size[d], scales.empty() ? 0.0 : scales[d]);
      add(name, axis, self, tables_.axis[3 - spatial + d]);
    }
  }

  const TapTables& get() const { return tables_; }

 private:
  void add(const char* name, const InterpolationAxis& axis, const Tensor& self, TapTable& table) {
    table.in = axis.in;
    table.out = axis.out;
    table.width = axis.most_taps();

    const Tensor ranges = empty_tensor({axis.out * 3}, kLong, self.device());
    const Tensor index = empty_tensor({axis.out * table.width}, kLong, self.device());
    const Tensor weight = empty_tensor({axis.out * table.width}, kDouble, self.device());
    table.ranges = reinterpret_cast<TapRange*>(ranges.data_ptr<int64_t>());
    table.index = index.data_ptr<int64_t>();
    table.weight = weight.data_ptr<double>();
    memory_.insert(memory_.end(), {ranges, index, weight});
    per_index(name, axis.out, FillTable{axis, table});

    if (self.scalar_type() != kByte) return;
    const Tensor largest = at::amax(weight);
    per_index(name, weight.numel(), QuantiseTable{table.weight, largest.data_ptr<double>()});
    memory_.push_back(largest);
  }

  TapTables tables_;
  std::vector<Tensor> memory_;
};

/// Bytes are added up in float.
template <class T>
using sum_type = std::conditional_t<std::is_integral_v<T>, float, opmath_type<T>>;

/// Bytes are rounded after every dimension, as in image libraries.
template <class T, class acc_t>
SIMT_DEVICE acc_t rounded(acc_t sum) {
  if constexpr (std::is_integral_v<T>) {
    sum = std::floor(sum + acc_t(0.5));
    sum = sum < 0 ? acc_t(0) : sum > 255 ? acc_t(255) : sum;
  }
  return sum;
}

template <class T>
struct Interpolate {
  TapTables tables;
  PlaneIndex in_index, out_index;
  const T* in;
  T* out;

  /// The sum over the taps of dimension d and those after it.
  template <int d>
  SIMT_DEVICE sum_type<T> sum_over(const PlanePlace& place, int64_t (&at)[3]) const {
    using acc_t = sum_type<T>;
    if constexpr (d == 3) {
      return static_cast<acc_t>(in[in_index.offset(place, at[0], at[1], at[2])]);
    } else {
      const TapTable& table = tables.axis[d];
      if (table.ranges == nullptr) {
        at[d] = place.at[d];
        return sum_over<d + 1>(place, at);
      }

      const int64_t begin = place.at[d] * table.width;
      acc_t sum = 0;
      for (int64_t t = begin; t < begin + table.ranges[place.at[d]].count; ++t) {
        at[d] = table.index[t];
        sum += static_cast<acc_t>(table.weight[t]) * sum_over<d + 1>(place, at);
      }
      return rounded<T>(sum);
    }
  }

  SIMT_DEVICE void operator()(int64_t index) const {
    int64_t at[3];
    out[index] = static_cast<T>(sum_over<0>(out_index.find(index), at));
  }
};

/// Adds up what an element gave to the result: for each dimension the elements of the result whose
/// range contains it.
template <class T>
struct InterpolateBackward {
  TapTables tables;
  PlaneIndex in_index, out_index;  // of the operator's input and result
  const T* grad;
  T* out;

  /// The first element of the result whose last tap is at `i` or after, or whose first tap is
  /// after.
  SIMT_DEVICE static int64_t bound(const TapTable& table, int64_t i, bool after) {
    int64_t begin = 0;
    int64_t end = table.out;
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      const TapRange& range = table.ranges[middle];
      if (after ? range.first > i : range.last >= i) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    return begin;
  }

  /// The weight with which element i goes into element j of the result.
  SIMT_DEVICE static opmath_type<T> weight_of(const TapTable& table, int64_t i, int64_t j) {
    opmath_type<T> weight = 0;
    const int64_t begin = j * table.width;
    for (int64_t t = begin; t < begin + table.ranges[j].count; ++t) {
      if (table.index[t] == i) weight += static_cast<opmath_type<T>>(table.weight[t]);
    }
    return weight;
  }

  template <int d>
  SIMT_DEVICE opmath_type<T> sum_over(const PlanePlace& place, int64_t (&at)[3]) const {
    using acc_t = opmath_type<T>;
    if constexpr (d == 3) {
      return static_cast<acc_t>(grad[out_index.offset(place, at[0], at[1], at[2])]);
    } else {
      const TapTable& table = tables.axis[d];
      const int64_t i = place.at[d];
      if (table.ranges == nullptr) {
        at[d] = i;
        return sum_over<d + 1>(place, at);
      }

      acc_t sum = 0;
      const int64_t end = bound(table, i, true);
      for (int64_t j = bound(table, i, false); j < end; ++j) {
        const acc_t weight = weight_of(table, i, j);
        at[d] = j;
        sum += weight * sum_over<d + 1>(place, at);
      }
      return sum;
    }
  }

  SIMT_DEVICE void operator()(int64_t index) const {
    int64_t at[3];
    out[index] = static_cast<T>(sum_over<0>(in_index.find(index), at));
  }
};

}  // namespace

void _interpolate_kernel(const Tensor& self, IntArrayRef output_size, std::string_view mode,
                         bool align_corners, ArrayRef<double> scales, bool antialias,
                         const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (self.numel() == 0) return void(at::zero_(out0));

  const auto spatial = static_cast<int64_t>(output_size.size());
  const PlaneLayout layout(out0, spatial, self);
  const Tensor input = self.contiguous(layout.format);
  const Tables tables("interpolate", self, self.sizes(), output_size, mode, align_corners, scales,
                      antialias);

  const auto run = [&]<class T>() {
    per_index("interpolate", out0.numel(),
              Interpolate<T>{tables.get(), PlaneIndex(self.sizes(), spatial, layout.inner),
                             PlaneIndex(out0.sizes(), spatial, layout.inner),
                             input.const_data_ptr<T>(), out0.data_ptr<T>()});
  };
  if (self.scalar_type() == kByte) return run.template operator()<uint8_t>();
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "interpolate",
                                   [&] { run.template operator()<scalar_t>(); });
}

void _interpolate_backward_kernel(const Tensor& grad, IntArrayRef sizes, IntArrayRef output_size,
                                  std::string_view mode, bool align_corners,
                                  ArrayRef<double> scales, bool antialias, const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (grad.numel() == 0) return void(at::zero_(out0));

  const auto spatial = static_cast<int64_t>(output_size.size());
  const PlaneLayout layout(out0, spatial, grad);
  const Tensor grads = grad.contiguous(layout.format);
  const Tables tables("interpolate_backward", grad, sizes, output_size, mode, align_corners, scales,
                      antialias);

  AT_DISPATCH_FLOATING_AND_REDUCED(grad.scalar_type(), "interpolate_backward", [&] {
    per_index("interpolate_backward", out0.numel(),
              InterpolateBackward<scalar_t>{tables.get(), PlaneIndex(sizes, spatial, layout.inner),
                                            PlaneIndex(grad.sizes(), spatial, layout.inner),
                                            grads.const_data_ptr<scalar_t>(),
                                            out0.data_ptr<scalar_t>()});
  });
}

}  // namespace at::native::cuda
