// Shapes and checks of pooling over two dimensions.
#include "aten/native/declarations/Pooling.h"

#include "aten/native/PoolingGeometry.h"
#include "aten/ops/flatten.h"
#include "aten/ops/gather.h"
#include "aten/ops/max_pool2d_with_indices.h"
#include "aten/ops/reshape.h"

namespace at::native {

namespace {

void check_pair(const char* op, const char* name, IntArrayRef values, bool may_be_omitted) {
  TORCH_CHECK(values.size() == 1 || values.size() == 2 || (may_be_omitted && values.empty()), op, ": ", name, " must ",
              may_be_omitted ? "either be omitted, a single int, or a tuple of two ints"
                             : "either be a single int, or a tuple of two ints");
}

/// Number of windows along one dimension. With ceil_mode the last one may stick out, but it starts inside input or left padding.
int64_t window_count(int64_t size, int64_t kernel, int64_t padding, int64_t stride, int64_t dilation, bool ceil_mode) {
  const int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  // Rounds down for a negative room too.
  const int64_t count = (room >= 0 ? room / stride : -((-room + stride - 1) / stride)) + 1;
  return ceil_mode && (count - 1) * stride >= size + padding ? count - 1 : count;
}

void check_windows(const PoolingGeometry& g, IntArrayRef input) {
  for (const auto* values : {g.kernel, g.stride, g.padding, g.dilation}) {
    for (int d = 0; d < 2; ++d) {
      TORCH_CHECK(values[d] == static_cast<int32_t>(values[d]), "value cannot be converted to type int without overflow: ", values[d]);
    }
  }
  for (int d = 0; d < 2; ++d) TORCH_CHECK(g.stride[d] != 0, "stride should not be zero");
  TORCH_CHECK(g.kernel[0] > 0 && g.kernel[1] > 0, "kernel size should be greater than zero, but got kH: ", g.kernel[0],
              " kW: ", g.kernel[1]);
  TORCH_CHECK(g.stride[0] > 0 && g.stride[1] > 0, "stride should be greater than zero, but got dH: ", g.stride[0], " dW: ", g.stride[1]);
  TORCH_CHECK(g.dilation[0] > 0 && g.dilation[1] > 0, "dilation should be greater than zero, but got dilationH: ", g.dilation[0],
              " dilationW: ", g.dilation[1]);
  for (int d = 0; d < 2; ++d) {
    TORCH_CHECK(g.padding[d] >= 0, "pad must be non-negative, but got pad: ", g.padding[d]);
    TORCH_CHECK(g.padding[d] <= ((g.kernel[d] - 1) * g.dilation[d] + 1) / 2,
                "pad should be at most half of effective kernel size, but got pad=", g.padding[d], ", kernel_size=", g.kernel[d],
                " and dilation=", g.dilation[d]);
  }
  TORCH_CHECK(input.size() == 3 || input.size() == 4, "non-empty 3D or 4D (batch mode) tensor expected for input");
  for (size_t d = input.size() - 3; d < input.size(); ++d) {
    TORCH_CHECK(input[d] > 0, "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:", input);
  }
}

/// Sizes of the result of pooling an input of sizes `input`.
DimVector pooled_sizes(IntArrayRef input, const PoolingGeometry& g, bool ceil_mode) {
  check_windows(g, input);
  DimVector sizes(input);
  const size_t n = sizes.size();
  for (int d = 0; d < 2; ++d) {
    sizes[n - 2 + d] = window_count(input[n - 2 + d], g.kernel[d], g.padding[d], g.stride[d], g.dilation[d], ceil_mode);
  }
  TORCH_CHECK(sizes[n - 2] > 0 && sizes[n - 1] > 0, "Given input size: (", input[n - 3], "x", input[n - 2], "x", input[n - 1],
              "). Calculated output size: (", input[n - 3], "x", sizes[n - 2], "x", sizes[n - 1], "). Output size is too small");
  return sizes;
}

DimVector avg_pooled_sizes(IntArrayRef input, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                           std::optional<int64_t> divisor_override) {
  check_pair("avg_pool2d", "kernel_size", kernel_size, false);
  check_pair("avg_pool2d", "stride", stride, true);
  check_pair("avg_pool2d", "padding", padding, false);
  TORCH_CHECK(divisor_override.value_or(1) != 0, "divisor must be not zero");
  return pooled_sizes(input, pooling_geometry(kernel_size, stride, padding, int64_t{1}), ceil_mode);
}

void check_adaptive_input(IntArrayRef sizes) {
  TORCH_CHECK(sizes.size() == 3 || sizes.size() == 4, "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got ", sizes);
  for (size_t d = sizes.size() - 2; d < sizes.size(); ++d) {
    TORCH_CHECK(sizes[d] > 0, "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
                sizes, " with dimension ", d, " being empty");
  }
}

/// A gradient has the result's sizes in the planes and the input's everywhere else.
void check_gradient(const char* op, const Tensor& grad_output, IntArrayRef sizes) {
  bool fits = grad_output.dim() == static_cast<int64_t>(sizes.size()) && sizes.size() >= 3;
  for (size_t d = 0; fits && d + 2 < sizes.size(); ++d) fits = grad_output.sizes()[d] == sizes[d];
  TORCH_CHECK(fits, op, ": grad_output of size ", grad_output.sizes(), " does not fit input of size ", sizes);
}

}  // namespace

std::tuple<TensorSpec, TensorSpec> max_pool2d_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                                    IntArrayRef dilation, bool ceil_mode) {
  check_pair("max_pool2d", "kernel_size", kernel_size, false);
  check_pair("max_pool2d", "stride", stride, true);
  check_pair("max_pool2d", "padding", padding, false);
  check_pair("max_pool2d", "dilation", dilation, false);
  const DimVector sizes = pooled_sizes(self.sizes(), pooling_geometry(kernel_size, stride, padding, dilation), ceil_mode);
  return {{sizes, self.scalar_type(), self.device()}, {sizes, kLong, self.device()}};
}

TensorSpec pool_backward_shape(const Tensor& grad_output, IntArrayRef sizes, const Tensor& indices) {
  check_gradient("max_pool2d_backward", grad_output, sizes);
  TORCH_CHECK(indices.sizes() == grad_output.sizes() && indices.scalar_type() == kLong,
              "max_pool2d_backward: expected int64 indices of size ", grad_output.sizes(), ", got ", indices.scalar_type(), " of size ",
              indices.sizes());
  return {DimVector(sizes), grad_output.scalar_type(), grad_output.device()};
}

Tensor _max_pool2d_double_backward(const Tensor& grad, const Tensor& indices) {
  const Tensor planes = at::flatten(grad, -2, -1);
  return at::reshape(at::gather(planes, -1, at::flatten(indices, -2, -1)), indices.sizes());
}

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return std::get<0>(at::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

TensorSpec avg_pool2d_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                            bool /*count_include_pad*/, std::optional<int64_t> divisor_override) {
  return {avg_pooled_sizes(self.sizes(), kernel_size, stride, padding, ceil_mode, divisor_override), self.scalar_type(), self.device()};
}

TensorSpec avg_pool2d_backward_shape(const Tensor& grad_output, IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef stride,
                                     IntArrayRef padding, bool ceil_mode, bool, std::optional<int64_t> divisor_override) {
  const DimVector expected = avg_pooled_sizes(sizes, kernel_size, stride, padding, ceil_mode, divisor_override);
  TORCH_CHECK(grad_output.sizes() == IntArrayRef(expected), "avg_pool2d_backward: expected grad_output of size ", IntArrayRef(expected),
              ", got ", grad_output.sizes());
  return {DimVector(sizes), grad_output.scalar_type(), grad_output.device()};
}

TensorSpec adaptive_avg_pool2d_shape(const Tensor& self, IntArrayRef output_size) {
  TORCH_CHECK(output_size.size() == 2, "adaptive_avg_pool2d: output_size must be 2");
  TORCH_CHECK(output_size[0] >= 0 && output_size[1] >= 0,
              "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received {", output_size[0], ", ",
              output_size[1], "}");
  check_adaptive_input(self.sizes());
  DimVector sizes(self.sizes());
  sizes[sizes.size() - 2] = output_size[0];
  sizes[sizes.size() - 1] = output_size[1];
  return {sizes, self.scalar_type(), self.device()};
}

TensorSpec adaptive_avg_pool2d_backward_shape(const Tensor& grad_output, IntArrayRef sizes) {
  check_adaptive_input(sizes);
  check_gradient("adaptive_avg_pool2d_backward", grad_output, sizes);
  return {DimVector(sizes), grad_output.scalar_type(), grad_output.device()};
}

}  // namespace at::native
