// Convolutions: shapes, the forms for one to three dimensions (conv1d, conv_transpose2d,
// ...), and second derivatives.
#include <string_view>
#include <vector>

#include "aten/native/declarations/nn/Convolution.h"
#include "aten/native/shared/ConvolutionSizes.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/conv1d.h"
#include "aten/ops/convolution.h"
#include "aten/ops/convolution_backward.h"
#include "aten/ops/expand.h"
#include "aten/ops/imag.h"
#include "aten/ops/permute.h"
#include "aten/ops/real.h"
#include "aten/ops/reshape.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/stack.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/view_as_complex.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

using namespace convolutions;

/// at::convolution, also for complex numbers: four convolutions of their parts.
Tensor convolve_parts(const Tensor& x, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef dilation, bool transposed,
                      IntArrayRef output_padding, int64_t groups) {
  const auto convolved = [&](const Tensor& a, const Tensor& b, const Tensor& added) {
    return at::convolution(a, b, added, stride, padding, dilation, transposed, output_padding,
                           groups);
  };
  const bool is_complex = x.is_complex() && weight.scalar_type() == x.scalar_type();
  if (!is_complex || (bias.defined() && bias.scalar_type() != x.scalar_type()))
    return convolved(x, weight, bias);

  // (xr + i xi) (wr + i wi) = xr wr - xi wi + i (xr wi + xi wr)
  const Tensor xr = at::real(x);
  const Tensor xi = at::imag(x);
  const Tensor wr = at::real(weight);
  const Tensor wi = at::imag(weight);
  const Tensor real =
      convolved(xr, wr, bias.defined() ? at::real(bias) : bias) - convolved(xi, wi, Tensor());
  const Tensor imaginary =
      convolved(xr, wi, bias.defined() ? at::imag(bias) : bias) + convolved(xi, wr, Tensor());
  return at::view_as_complex(at::stack(std::vector<Tensor>{real, imaginary}, -1));
}

/// Runs f on a batch; an input without batch dimension becomes a batch of one.
template <typename F>
Tensor batched(const char* name, int64_t spatial, const Tensor& input, const F& f) {
  TORCH_CHECK(input.dim() == spatial + 1 || input.dim() == spatial + 2, "Expected ", spatial + 1,
              "D (unbatched) or ", spatial + 2, "D (batched) input to ", name,
              ", but got input of size: ", input.sizes());
  return input.dim() == spatial + 2 ? f(input) : at::squeeze(f(at::unsqueeze(input, 0)), 0);
}

Tensor convolve(const char* name, int64_t spatial, const Tensor& input, const Tensor& weight,
                const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                int64_t groups) {
  return batched(name, spatial, input, [&](const Tensor& x) {
    return convolve_parts(x, weight, bias, stride, padding, dilation, false,
                          IntArrayRef(int64_t{0}), groups);
  });
}

/// padding='same': as many zeros as give the output the input's size. If their number is odd, the
/// extra one goes to the end.
Tensor convolve_same(const Tensor& x, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                     IntArrayRef dilation, int64_t groups) {
  const int64_t spatial = x.dim() - 2;
  TORCH_CHECK(weight.dim() == x.dim(), "Expected ", weight.dim(), "-dimensional input for ",
              weight.dim(), "-dimensional weight ", weight.sizes(), ", but got ", x.dim(),
              "-dimensional input of size ", x.sizes(), " instead");
  check_length("stride", stride, spatial);
  check_length("dilation", dilation, spatial);
  for (const int64_t value : stride)
    TORCH_CHECK(value == 1, "padding='same' is not supported for strided convolutions");

  DimVector padding(spatial);
  DimVector extra(2 * spatial, 0);
  bool uneven = false;
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t total =
        c10::checked_multiply("convolution", at_dim(dilation, d), weight.sizes()[d + 2] - 1);
    padding[d] = total / 2;
    extra[2 * (spatial - 1 - d) + 1] = total % 2;
    uneven = uneven || total % 2 != 0;
  }

  const Tensor padded = uneven ? at::constant_pad_nd(x, extra) : x;
  return convolve_parts(padded, weight, bias, stride, padding, dilation, false,
                        IntArrayRef(int64_t{0}), groups);
}

/// A convolution with padding "valid" or "same".
Tensor convolve_named(const char* name, int64_t spatial, const Tensor& input, const Tensor& weight,
                      const Tensor& bias, IntArrayRef stride, std::string_view padding,
                      IntArrayRef dilation, int64_t groups) {
  TORCH_CHECK(padding == "valid" || padding == "same", "Invalid padding string: '", padding, "'");
  if (padding == "valid")
    return convolve(name, spatial, input, weight, bias, stride, IntArrayRef(int64_t{0}), dilation,
                    groups);

  return batched(name, spatial, input, [&](const Tensor& x) {
    return convolve_same(x, weight, bias, stride, dilation, groups);
  });
}

Tensor convolve_transposed(const char* name, int64_t spatial, const Tensor& input,
                           const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef output_padding, int64_t groups,
                           IntArrayRef dilation) {
  return batched(name, spatial, input, [&](const Tensor& x) {
    return convolve_parts(x, weight, bias, stride, padding, dilation, true, output_padding, groups);
  });
}

}  // namespace

TensorSpec convolution_shape(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                             bool transposed, IntArrayRef output_padding, int64_t groups) {
  const DimVector sizes = output_sizes(
      input, weight, bias, {stride, padding, dilation, output_padding, transposed, groups});
  const bool as_input = input.suggest_memory_format() != MemoryFormat::Contiguous;
  return spec_in_format_of(as_input ? input : weight, sizes, sizes.size() - 2);
}

// The gradient of a tensor that does not require one, such as the input of a network, is an empty
// tensor and is not computed.
std::tuple<TensorSpec, TensorSpec, TensorSpec>
convolution_backward_shape(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                           bool has_bias, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                           int64_t groups) {
  const DimVector sizes = output_sizes(
      input, weight, Tensor(), {stride, padding, dilation, output_padding, transposed, groups});
  TORCH_CHECK(grad_output.sizes() == IntArrayRef(sizes),
              "convolution_backward: expected grad_output of size ", IntArrayRef(sizes), ", got ",
              grad_output.sizes());
  TORCH_CHECK(grad_output.scalar_type() == input.scalar_type(),
              "convolution_backward: expected grad_output of dtype ", input.scalar_type(), ", got ",
              grad_output.scalar_type());

  const auto spec = [&](bool wanted, const Tensor& like) {
    return wanted ? spec_in_format_of(like, like.sizes(), like.sizes().size() - 2)
                  : TensorSpec{{0}, input.scalar_type(), input.device()};
  };
  const TensorSpec bias_spec{{has_bias ? sizes[1] : 0}, input.scalar_type(), input.device()};
  return {spec(input.requires_grad(), input), spec(weight.requires_grad(), weight), bias_spec};
}

// convolution_backward is linear in grad_output and in each of input and weight, so its derivatives
// are convolutions and convolution_backward again. `grads` belong to its three results.
std::tuple<Tensor, Tensor, Tensor>
_convolution_double_backward(TensorList grads, const Tensor& grad_output, const Tensor& input,
                             const Tensor& weight, bool /*has_bias*/, IntArrayRef stride,
                             IntArrayRef padding, IntArrayRef dilation, bool transposed,
                             IntArrayRef output_padding, int64_t groups) {
  TORCH_CHECK(grads.size() == 3,
              "_convolution_double_backward: expected the gradients of three results, got ",
              grads.size());
  TORCH_CHECK(
      grad_output.dim() >= 2,
      "_convolution_double_backward: expected grad_output of (batch, channels, ...), got size ",
      grad_output.sizes());

  Tensor for_grad_output, for_input, for_weight;
  const auto add = [&](const Tensor& term) {
    for_grad_output = for_grad_output.defined() ? for_grad_output + term : term;
  };
  const auto forward = [&](const Tensor& x, const Tensor& w) {
    return at::convolution(x, w, Tensor(), stride, padding, dilation, transposed, output_padding,
                           groups);
  };
  const auto backward = [&](const Tensor& x, const Tensor& w) {
    return at::convolution_backward(grad_output, x, w, false, stride, padding, dilation, transposed,
                                    output_padding, groups);
  };

  // Gradients that were not asked for have another size.
  const bool through_input = grads[0].defined() && grads[0].numel() == input.numel();
  const bool through_weight = grads[1].defined() && grads[1].numel() == weight.numel();

  if (through_input) {
    add(forward(grads[0], weight));
    if (weight.requires_grad()) for_weight = std::get<1>(backward(grads[0], weight));
  }
  if (through_weight) {
    add(forward(input, grads[1]));
    if (input.requires_grad()) for_input = std::get<0>(backward(input, grads[1]));
  }
  if (grads[2].defined() && grads[2].numel() == grad_output.sizes()[1]) {
    DimVector sizes(grad_output.dim(), 1);
    sizes[1] = grads[2].numel();
    add(at::expand(at::reshape(grads[2], sizes), grad_output.sizes()));
  }

  return {for_grad_output, for_input, for_weight};
}

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  return convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv1d_padding(const Tensor& input, const Tensor& weight, const Tensor& bias,
                      IntArrayRef stride, std::string_view padding, IntArrayRef dilation,
                      int64_t groups) {
  return convolve_named("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv2d_padding(const Tensor& input, const Tensor& weight, const Tensor& bias,
                      IntArrayRef stride, std::string_view padding, IntArrayRef dilation,
                      int64_t groups) {
  return convolve_named("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv3d_padding(const Tensor& input, const Tensor& weight, const Tensor& bias,
                      IntArrayRef stride, std::string_view padding, IntArrayRef dilation,
                      int64_t groups) {
  return convolve_named("conv3d", 3, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return convolve_transposed("conv_transpose1d", 1, input, weight, bias, stride, padding,
                             output_padding, groups, dilation);
}

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return convolve_transposed("conv_transpose2d", 2, input, weight, bias, stride, padding,
                             output_padding, groups, dilation);
}

Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                        int64_t groups, IntArrayRef dilation) {
  return convolve_transposed("conv_transpose3d", 3, input, weight, bias, stride, padding,
                             output_padding, groups, dilation);
}

// conv1d with dimensions in another order: input (T, N, C) instead of (N, C, T), weight
// (kernel, C, O) instead of (O, C, kernel).
Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  TORCH_CHECK(self.dim() == 3, "Input must have 3 dims: time, batch, in_channel, but got ",
              self.sizes());
  TORCH_CHECK(weight.dim() == 3,
              "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels, but got ",
              weight.sizes());
  TORCH_CHECK(bias.dim() == 1, "Bias must be 1-D, but got ", bias.sizes());
  TORCH_CHECK(self.sizes()[2] == weight.sizes()[1],
              "Input dim 2 (input channels) is not == dim 1 in the weight tensor: ", self.sizes(),
              " and ", weight.sizes());
  TORCH_CHECK(weight.sizes()[2] == bias.sizes()[0],
              "Bias size must equal dim 2 in the weight tensor (output channels): ", bias.sizes(),
              " and ", weight.sizes());

  const Tensor result = at::conv1d(at::permute(self, {1, 2, 0}), at::permute(weight, {2, 1, 0}),
                                   bias, int64_t{1}, IntArrayRef(pad), int64_t{1}, 1);
  return at::permute(result, {2, 0, 1}).contiguous();
}

}  // namespace at::native
