// The sizes of the results of convolutions, and the checks of their arguments.
#include "aten/native/shared/ConvolutionSizes.h"

#include <limits>
#include <string>

#include "c10/util/CheckedMath.h"

namespace at::native::convolutions {

namespace {

constexpr int64_t kLargestPadding = std::numeric_limits<int64_t>::max() / 2;

int64_t checked_add(int64_t a, int64_t b) { return c10::checked_add("convolution", a, b); }

int64_t checked_multiply(int64_t a, int64_t b) {
  return c10::checked_multiply("convolution", a, b);
}

/// The sizes of all dimensions as text: "(5 x 5)".
template <typename F>
std::string extents(int64_t spatial, const F& size) {
  std::string text = "(";
  for (int64_t d = 0; d < spatial; ++d) text += (d == 0 ? "" : " x ") + std::to_string(size(d));
  return text + ")";
}

void check_parameters(const Parameters& p, int64_t spatial) {
  check_length("stride", p.stride, spatial);
  check_length("padding", p.padding, spatial);
  check_length("dilation", p.dilation, spatial);
  check_length("output_padding", p.output_padding, spatial);

  for (const int64_t value : p.padding)
    TORCH_CHECK(value >= 0, "negative padding is not supported");
  for (size_t d = 0; d < p.padding.size(); ++d) {
    TORCH_CHECK(p.padding[d] <= kLargestPadding, "Given padding=", p.padding[d], " at dimension ",
                d, " , expected padding to be at most ", kLargestPadding);
  }
  for (const int64_t value : p.output_padding)
    TORCH_CHECK(value >= 0, "negative output_padding is not supported");
  for (const int64_t value : p.stride)
    TORCH_CHECK(value > 0, "non-positive stride is not supported");
  for (const int64_t value : p.dilation)
    TORCH_CHECK(value > 0, "dilation should be greater than zero, but got ", p.dilation);
  TORCH_CHECK(p.groups > 0, "non-positive groups is not supported");
  if (!p.transposed) return;

  for (int64_t d = 0; d < spatial; ++d) {
    TORCH_CHECK(
        at_dim(p.output_padding, d) < at_dim(p.stride, d) ||
            at_dim(p.output_padding, d) < at_dim(p.dilation, d),
        "output padding must be smaller than either stride or dilation, but got output_padding=",
        p.output_padding, ", stride=", p.stride, ", dilation=", p.dilation);
  }
}

void check_tensors(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(weight.dim() >= 3 && weight.dim() <= 5,
              "weight should have 3, 4 or 5 dimensions (convolution over 1, 2 or 3), but got "
              "weight of size ",
              weight.sizes());
  TORCH_CHECK(input.dim() == weight.dim(), "Expected ", weight.dim(), "-dimensional input for ",
              weight.dim(), "-dimensional weight ", weight.sizes(), ", but got ", input.dim(),
              "-dimensional input of size ", input.sizes(), " instead");
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "expected scalar type ",
              input.scalar_type(), " but found ", weight.scalar_type());
  TORCH_CHECK(input.device() == weight.device(),
              "convolution: Expected all tensors to be on the same device, but found at least two "
              "devices, ",
              input.device(), " and ", weight.device(), "!");
  if (!bias.defined()) return;

  TORCH_CHECK(input.scalar_type() == bias.scalar_type(), "Input type (",
              dtype_name(input.scalar_type()), ") and bias type (", dtype_name(bias.scalar_type()),
              ") should be the same");
  TORCH_CHECK(input.device() == bias.device(),
              "convolution: Expected all tensors to be on the same device, but found at least two "
              "devices, ",
              input.device(), " and ", bias.device(), "!");
}

void check_channels(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Parameters& p) {
  const int64_t first = weight.sizes()[0];
  const int64_t channels = input.sizes()[1];
  TORCH_CHECK(first >= p.groups, "Given groups=", p.groups, ", expected weight to be at least ",
              p.groups, " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  TORCH_CHECK(first % p.groups == 0, "Given groups=", p.groups,
              ", expected weight to be divisible by ", p.groups,
              " at dimension 0, but got weight of size ", weight.sizes(), " instead");

  const int64_t per_groups = checked_multiply(weight.sizes()[1], p.groups);
  if (p.transposed) {
    TORCH_CHECK(channels == first, "Given transposed=1, weight of size ", weight.sizes(),
                ", expected input", input.sizes(), " to have ", first, " channels, but got ",
                channels, " channels instead");
  } else {
    TORCH_CHECK(channels == per_groups, "Given groups=", p.groups, ", weight of size ",
                weight.sizes(), ", expected input", input.sizes(), " to have ", per_groups,
                " channels, but got ", channels, " channels instead");
  }

  const int64_t outputs = p.transposed ? per_groups : first;
  TORCH_CHECK(!bias.defined() || (bias.dim() == 1 && bias.numel() == outputs), "Given ",
              p.transposed ? "transposed=1, " : "", "weight of size ", weight.sizes(),
              ", expected bias to be 1-dimensional with ", outputs,
              " elements, but got bias of size ", bias.defined() ? bias.sizes() : IntArrayRef(),
              " instead");
}

/// (input - 1) stride + dilation (kernel - 1) + output_padding + 1 - 2 padding, per dimension.
DimVector transposed_sizes(IntArrayRef input, IntArrayRef weight, const Parameters& p) {
  DimVector sizes{input[0], weight[1] * p.groups};
  const int64_t spatial = static_cast<int64_t>(input.size()) - 2;

  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t windows =
        checked_multiply(std::max<int64_t>(input[d + 2], 1) - 1, at_dim(p.stride, d));
    const int64_t reach = checked_add(checked_multiply(at_dim(p.dilation, d), weight[d + 2] - 1),
                                      at_dim(p.output_padding, d));
    const int64_t size = checked_add(checked_add(windows, reach), 1 - 2 * at_dim(p.padding, d));
    sizes.push_back(input[d + 2] == 0 ? size - at_dim(p.stride, d) : size);
  }

  for (int64_t d = 0; d < spatial; ++d) {
    TORCH_CHECK(
        sizes[d + 2] > 0,
        "Given input size per channel: ", extents(spatial, [&](int64_t k) { return input[k + 2]; }),
        ". Calculated output size per channel: ",
        extents(spatial, [&](int64_t k) { return sizes[k + 2]; }), ". Output size is too small");
  }
  return sizes;
}

/// (input + 2 padding - dilation (kernel - 1) - 1) / stride + 1, per dimension.
DimVector convolved_sizes(IntArrayRef input, IntArrayRef weight, const Parameters& p) {
  DimVector sizes{input[0], weight[0]};
  const int64_t spatial = static_cast<int64_t>(input.size()) - 2;
  const auto padded = [&](int64_t d) {
    return checked_add(input[d + 2], 2 * at_dim(p.padding, d));
  };
  const auto extent = [&](int64_t d) {
    return checked_add(checked_multiply(at_dim(p.dilation, d), weight[d + 2] - 1), 1);
  };

  for (int64_t d = 0; d < spatial; ++d) {
    TORCH_CHECK(padded(d) >= extent(d),
                "Calculated padded input size per channel: ", extents(spatial, padded),
                ". Kernel size: ", extents(spatial, extent),
                ". Kernel size can't be greater than actual input size");
    sizes.push_back((padded(d) - extent(d)) / at_dim(p.stride, d) + 1);
  }
  return sizes;
}

}  // namespace

void check_length(const char* name, IntArrayRef parameter, int64_t spatial) {
  TORCH_CHECK(parameter.size() == 1 || static_cast<int64_t>(parameter.size()) == spatial,
              "expected ", name, " to be a single integer value or a list of ", spatial,
              " values to match the convolution dimensions, but got ", name, "=", parameter);
}

DimVector output_sizes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Parameters& p) {
  check_tensors(input, weight, bias);
  check_parameters(p, input.dim() - 2);
  for (int64_t d = 2; d < weight.dim(); ++d) {
    TORCH_CHECK(weight.sizes()[d] > 0,
                "kernel size should be greater than zero, but got weight of size ", weight.sizes());
  }
  check_channels(input, weight, bias, p);

  return p.transposed ? transposed_sizes(input.sizes(), weight.sizes(), p)
                      : convolved_sizes(input.sizes(), weight.sizes(), p);
}

}  // namespace at::native::convolutions
