// Means of windows, over one to three dimensions.
#include "aten/native/declarations/Pooling.h"

#include <algorithm>

#include "aten/native/PoolingGeometry.h"
#include "aten/native/ResamplingRules.h"
#include "aten/native/ResultFormat.h"
#include "aten/ops/_avg_pool.h"
#include "aten/ops/_interpolate.h"
#include "aten/ops/reshape.h"

namespace at::native {

AxesTaps average_axes(IntArrayRef sizes, IntArrayRef output_sizes, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                      bool count_include_pad, std::optional<int64_t> divisor_override) {
  AxesTaps taps{identity_taps(1), identity_taps(1), identity_taps(1)};
  const size_t spatial = kernel_size.size();
  for (size_t d = 0; d < spatial; ++d) {
    // The override replaces the product of all counts: it belongs to one dimension.
    const int64_t divisor = !divisor_override ? 0 : d == 0 ? *divisor_override : 1;
    const size_t at = sizes.size() - spatial + d;
    taps[3 - spatial + d] = average_taps({kernel_size[d], stride[d], padding[d], count_include_pad, divisor}, sizes[at], output_sizes[at]);
  }
  return taps;
}

namespace {

DimVector average_sizes(IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                        std::optional<int64_t> divisor_override) {
  TORCH_CHECK(divisor_override.value_or(1) != 0, "divisor must be not zero");
  const char* names[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
  TORCH_CHECK(!kernel_size.empty() && kernel_size.size() <= 3, "_avg_pool: expected 1 to 3 dimensions, got kernel_size ", kernel_size);
  const char* op = names[kernel_size.size() - 1];
  TORCH_CHECK(stride.size() == kernel_size.size() && padding.size() == kernel_size.size(), op,
              ": expected as many strides and paddings as ", "dimensions, got ", stride, " and ", padding, " for ", kernel_size);
  return pooled_sizes(op, sizes, pooling_windows(op, kernel_size.size(), kernel_size, stride, padding, int64_t{1}), ceil_mode);
}

/// PyTorch keeps channels_last over two dimensions only.
TensorSpec average_spec(const Tensor& like, IntArrayRef sizes, size_t spatial) {
  if (spatial == 2) return spec_in_format_of(like, sizes, spatial);
  return {DimVector(sizes), like.scalar_type(), like.device()};
}

}  // namespace

TensorSpec _avg_pool_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool,
                           std::optional<int64_t> divisor_override) {
  return average_spec(self, average_sizes(self.sizes(), kernel_size, stride, padding, ceil_mode, divisor_override), kernel_size.size());
}

TensorSpec _avg_pool_backward_shape(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                    bool ceil_mode, bool, std::optional<int64_t> divisor_override) {
  const DimVector expected = average_sizes(sizes, kernel_size, stride, padding, ceil_mode, divisor_override);
  TORCH_CHECK(grad.sizes() == IntArrayRef(expected), "_avg_pool_backward: expected a gradient of size ", IntArrayRef(expected), ", got ",
              grad.sizes());
  return average_spec(grad, sizes, kernel_size.size());
}

namespace {

Tensor average(const char* op, size_t spatial, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
               bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override = std::nullopt) {
  const PoolingWindows w = pooling_windows(op, spatial, kernel_size, stride, padding, int64_t{1});
  return at::_avg_pool(self, w.kernel, w.stride, w.padding, ceil_mode, count_include_pad, divisor_override);
}

Tensor adaptive_average(const char* op, size_t spatial, const Tensor& self, IntArrayRef output_size) {
  TORCH_CHECK(output_size.size() == spatial, op, ": output_size must be ", spatial, ", but got ", output_size);
  const DimVector sizes = adaptive_sizes(op, self.sizes(), output_size);
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"", op, "\" not implemented for '", dtype_name(self.scalar_type()), "'");
  const Tensor input = spatial == 2 ? self : self.contiguous();
  const bool global = std::all_of(output_size.begin(), output_size.end(), [](int64_t size) { return size == 1; });
  if (!global || spatial == 1 || !input.is_contiguous()) return at::_interpolate(input, output_size, "area", false, {}, false);
  // One mean over everything: the plane as a single line.
  DimVector line(sizes);
  const IntArrayRef plane = self.sizes().slice(self.sizes().size() - spatial);
  for (const int64_t size : plane) line.back() *= size;
  return at::reshape(at::_interpolate(at::reshape(input, line), output_size, "area", false, {}, false), sizes);
}

}  // namespace

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad) {
  return average("avg_pool1d", 1, self, kernel_size, stride, padding, ceil_mode, count_include_pad);
}
Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int64_t> divisor_override) {
  return average("avg_pool2d", 2, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
}
Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad, std::optional<int64_t> divisor_override) {
  return average("avg_pool3d", 3, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  return adaptive_average("adaptive_avg_pool1d", 1, self, output_size);
}
Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  return adaptive_average("adaptive_avg_pool2d", 2, self, output_size);
}
Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  return adaptive_average("adaptive_avg_pool3d", 3, self, output_size);
}

}  // namespace at::native
