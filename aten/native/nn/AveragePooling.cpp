// Average pooling and adaptive average pooling over one to three dimensions.
#include "aten/native/declarations/nn/AveragePooling.h"

#include <algorithm>

#include "aten/native/shared/HostValues.h"
#include "aten/native/shared/PoolingGeometry.h"
#include "aten/native/shared/ResamplingRules.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/_avg_pool.h"
#include "aten/ops/_interpolate.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/div.h"
#include "aten/ops/mean.h"
#include "aten/ops/mul.h"
#include "aten/ops/scalar_tensor.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"
#include "aten/ops/unfold.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

namespace {

/// The sizes after average pooling; checks the arguments.
DimVector average_sizes(IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef stride,
                        IntArrayRef padding, bool ceil_mode) {
  const char* names[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
  const char* op = names[kernel_size.size() - 1];
  TORCH_CHECK(stride.size() == kernel_size.size() && padding.size() == kernel_size.size(), op,
              ": expected as many strides and paddings as ", "dimensions, got ", stride, " and ",
              padding, " for ", kernel_size);

  return pooled_sizes(
      op, sizes, pooling_windows(op, kernel_size.size(), kernel_size, stride, padding, int64_t{1}),
      ceil_mode);
}

/// A result of these sizes; as in PyTorch, channels_last is kept over two dimensions only.
TensorSpec average_spec(const Tensor& like, IntArrayRef sizes, size_t spatial) {
  if (spatial == 2) return spec_in_format_of(like, sizes, spatial);
  return {DimVector(sizes), like.scalar_type(), like.device()};
}

/// How many elements each window of a dimension averages.
Tensor window_counts(const AverageWindows& windows, int64_t in, int64_t out) {
  const Tensor counts = empty_real_tensor({out}, kLong, kCPU);
  for (int64_t j = 0; j < out; ++j) {
    const int64_t begin = j * windows.stride - windows.padding;
    const int64_t end = std::min(begin + windows.kernel, in + windows.padding);
    const int64_t inside = std::min(end, in) - std::max<int64_t>(begin, 0);
    counts.data_ptr<int64_t>()[j] =
        std::max<int64_t>(1, windows.count_include_pad ? end - begin : inside);
  }
  return lifted(counts);
}

/// Average pooling of int64: sums of windows, divided with rounding towards zero.
Tensor average_of_integers(const char* op, const Tensor& self, const PoolingWindows& w,
                           bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  const DimVector sizes = average_sizes(self.sizes(), w.kernel, w.stride, w.padding, ceil_mode);
  const int64_t spatial = static_cast<int64_t>(w.spatial());
  Tensor sums = self;
  Tensor divisor = at::scalar_tensor(Scalar(divisor_override.value_or(1)), kLong);

  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t axis = self.dim() - spatial + d;
    const int64_t in = self.size(axis);
    const int64_t out = sizes[axis];

    // Zeros on both sides, at the end so many that the last window is complete.
    DimVector padding(static_cast<size_t>(2 * (spatial - d)), 0);
    padding[padding.size() - 2] = w.padding[d];
    padding[padding.size() - 1] =
        std::max<int64_t>(0, (out - 1) * w.stride[d] + w.kernel[d] - in - w.padding[d]);

    const Tensor windows =
        at::unfold(at::constant_pad_nd(sums, padding, Scalar(0)), axis, w.kernel[d], w.stride[d]);
    sums = at::sum(windows.narrow(axis, 0, out), IntArrayRef(int64_t{-1}));
    if (divisor_override) continue;

    // The number of elements of a window is the product of the counts along all dimensions.
    const Tensor counts =
        window_counts({w.kernel[d], w.stride[d], w.padding[d], count_include_pad, 0}, in, out);
    divisor = at::unsqueeze(divisor, -1) * counts;
  }

  TORCH_CHECK(sums.sizes() == IntArrayRef(sizes), op, ": expected size ", IntArrayRef(sizes),
              ", got ", sums.sizes());
  return at::div(sums, at::to(divisor, self.device()), "trunc");
}

Tensor average(const char* op, size_t spatial, const Tensor& self, IntArrayRef kernel_size,
               IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
               std::optional<int64_t> divisor_override = std::nullopt) {
  const PoolingWindows w = pooling_windows(op, spatial, kernel_size, stride, padding, int64_t{1});
  if (self.scalar_type() == kLong) {
    return average_of_integers(op, self, w, ceil_mode, count_include_pad, divisor_override);
  }
  return at::_avg_pool(self, w.kernel, w.stride, w.padding, ceil_mode, count_include_pad,
                       divisor_override);
}

Tensor adaptive_average(const char* op, size_t spatial, const Tensor& self,
                        IntArrayRef output_size) {
  const DimVector sizes = adaptive_sizes(op, self.sizes(), output_size);
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"", op, "\" not implemented for '",
                              dtype_name(self.scalar_type()), "'");

  const Tensor input = spatial == 2 ? self : self.contiguous();
  const bool global =
      std::all_of(output_size.begin(), output_size.end(), [](int64_t size) { return size == 1; });
  if (!global || !input.is_contiguous())
    return at::_interpolate(input, output_size, "area", false, {}, false);

  // One window of the whole plane is its mean.
  DimVector plane_dims;
  for (size_t d = sizes.size() - spatial; d < sizes.size(); ++d)
    plane_dims.push_back(static_cast<int64_t>(d));
  return at::mean(input, plane_dims, true);
}

}  // namespace

AxesTaps average_axes(IntArrayRef sizes, IntArrayRef output_sizes, IntArrayRef kernel_size,
                      IntArrayRef stride, IntArrayRef padding, bool count_include_pad,
                      std::optional<int64_t> divisor_override) {
  AxesTaps taps{identity_taps(1), identity_taps(1), identity_taps(1)};
  const size_t spatial = kernel_size.size();

  for (size_t d = 0; d < spatial; ++d) {
    // The override replaces the product of all counts, so one dimension gets it and the others 1;
    // 0 means the number of elements of the window.
    const int64_t divisor = !divisor_override ? 0 : d == 0 ? *divisor_override : 1;
    const size_t at = sizes.size() - spatial + d;
    taps[3 - spatial + d] =
        average_taps({kernel_size[d], stride[d], padding[d], count_include_pad, divisor}, sizes[at],
                     output_sizes[at]);
  }
  return taps;
}

TensorSpec _avg_pool_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                           IntArrayRef padding, bool ceil_mode, bool,
                           std::optional<int64_t> divisor_override) {
  return average_spec(self, average_sizes(self.sizes(), kernel_size, stride, padding, ceil_mode),
                      kernel_size.size());
}

TensorSpec _avg_pool_backward_shape(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size,
                                    IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool,
                                    std::optional<int64_t> divisor_override) {
  const DimVector expected = average_sizes(sizes, kernel_size, stride, padding, ceil_mode);
  TORCH_CHECK(grad.sizes() == IntArrayRef(expected),
              "_avg_pool_backward: expected a gradient of size ", IntArrayRef(expected), ", got ",
              grad.sizes());
  return average_spec(grad, sizes, kernel_size.size());
}

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  return average("avg_pool1d", 1, self, kernel_size, stride, padding, ceil_mode, count_include_pad);
}

Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                  std::optional<int64_t> divisor_override) {
  return average("avg_pool2d", 2, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 divisor_override);
}

Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                  std::optional<int64_t> divisor_override) {
  return average("avg_pool3d", 3, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 divisor_override);
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
