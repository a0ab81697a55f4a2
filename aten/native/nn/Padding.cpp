// Padding with a constant, or with the tensor's elements reflected, replicated or wrapped around.
#include <algorithm>
#include <limits>

#include "aten/native/declarations/nn/Padding.h"
#include "aten/native/shared/ResamplingRules.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/native/shared/ResultLayout.h"
#include "aten/ops/_pad_by_copy.h"
#include "aten/ops/constant_pad_nd.h"

namespace at::native {

namespace {

/// Rejects widths that the mode cannot fill, and results that are empty in a dimension.
void check_width(std::string_view mode, IntArrayRef sizes, size_t dim, int64_t before,
                 int64_t after) {
  const int64_t size = sizes[dim];
  const int64_t widest = std::max(before, after);
  constexpr int64_t kLimit = int64_t{1} << 60;
  TORCH_CHECK(std::min(before, after) > -kLimit && widest < kLimit, "padding (", before, ", ",
              after, ") is too large");

  if (mode == "reflect") {
    TORCH_CHECK(
        widest < size,
        "Padding size should be less than the corresponding input dimension, but got: padding (",
        before, ", ", after, ") at dimension ", dim, " of input ", sizes);
  } else if (mode == "circular") {
    TORCH_CHECK(widest <= size, "Padding value causes wrapping around more than once: padding (",
                before, ", ", after, ") at dimension ", dim, " of input ", sizes);
    TORCH_CHECK(size + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0) > 0 ||
                    widest <= 0,
                "Negative padding value leaves nothing to wrap around: padding (", before, ", ",
                after, ") at dimension ", dim, " of input ", sizes);
  }

  const int64_t result = size + before + after;
  TORCH_CHECK(mode == "circular" ? result >= 0 : result >= 1, "input (", sizes,
              ") is too small: padding (", before, ", ", after, ") at dimension ", dim,
              " gives size ", result);
}

bool is_mode(std::string_view mode) {
  return mode == "reflect" || mode == "replicate" || mode == "circular";
}

/// `pad` lists the width before and after each dimension, from the last dimension on.
DimVector padded_sizes(IntArrayRef sizes, IntArrayRef pad) {
  DimVector result(sizes);
  for (size_t d = 0; d < pad.size() / 2; ++d)
    result[sizes.size() - 1 - d] += pad[2 * d] + pad[2 * d + 1];
  return result;
}

void check_padding(IntArrayRef sizes, IntArrayRef pad, std::string_view mode) {
  TORCH_CHECK(is_mode(mode), "Unrecognised padding mode ", mode);

  const size_t spatial = pad.size() / 2;
  TORCH_CHECK(pad.size() % 2 == 0 && spatial >= 1 && spatial <= 3,
              "padding size is expected to be 2, 4 or 6, but got: ", pad.size());

  TORCH_CHECK(sizes.size() == spatial + 1 || sizes.size() == spatial + 2, "Expected ", spatial + 1,
              "D or ", spatial + 2, "D (batch mode) tensor for ", mode, " padding of ", spatial,
              " dimensions, but got input of size ", sizes);

  for (size_t d = sizes.size() - spatial - 1; d < sizes.size() && mode != "circular"; ++d) {
    TORCH_CHECK(sizes[d] > 0, "Expected ", spatial + 1, "D or ", spatial + 2,
                "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
                "for input, but got: ",
                sizes);
  }

  for (size_t d = 0; d < spatial; ++d)
    check_width(mode, sizes, sizes.size() - 1 - d, pad[2 * d], pad[2 * d + 1]);
}

/// Keeps the memory format of `like`, except that a circular result is always contiguous.
TensorSpec spec_of(const Tensor& like, IntArrayRef sizes, size_t widths, std::string_view mode) {
  if (mode == "circular") return {DimVector(sizes), like.scalar_type(), like.device()};
  return spec_in_format_of(like, sizes, widths / 2);
}

/// Pads exactly `spatial` dimensions.
Tensor pad_dimensions(const Tensor& self, IntArrayRef padding, size_t spatial,
                      std::string_view mode) {
  TORCH_CHECK(padding.size() == 2 * spatial, "padding size is expected to be ", 2 * spatial,
              ", but got: ", padding.size());
  return at::_pad_by_copy(self, padding, mode);
}

}  // namespace

/// For each of the last three dimensions, the input element that every output element repeats.
AxesTaps padding_axes(IntArrayRef sizes, IntArrayRef pad, std::string_view mode) {
  AxesTaps taps{identity_taps(1), identity_taps(1), identity_taps(1)};
  for (size_t d = 0; d < pad.size() / 2; ++d) {
    taps[2 - d] = padding_taps(mode, sizes[sizes.size() - 1 - d], pad[2 * d], pad[2 * d + 1]);
  }
  return taps;
}

TensorSpec _pad_by_copy_shape(const Tensor& self, IntArrayRef pad, std::string_view mode) {
  check_padding(self.sizes(), pad, mode);
  return spec_of(self, padded_sizes(self.sizes(), pad), pad.size(), mode);
}

TensorSpec _pad_by_copy_backward_shape(const Tensor& grad, IntArrayRef sizes, IntArrayRef pad,
                                       std::string_view mode) {
  check_padding(sizes, pad, mode);

  TORCH_CHECK(grad.sizes() == IntArrayRef(padded_sizes(sizes, pad)),
              "_pad_by_copy_backward: gradient of size ", grad.sizes(),
              " does not fit input of size ", sizes, " and padding ", pad);
  return spec_of(grad, sizes, pad.size(), mode);
}

Tensor reflection_pad1d(const Tensor& self, IntArrayRef padding) {
  return pad_dimensions(self, padding, 1, "reflect");
}

Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad_dimensions(self, padding, 2, "reflect");
}

Tensor reflection_pad3d(const Tensor& self, IntArrayRef padding) {
  return pad_dimensions(self, padding, 3, "reflect");
}

Tensor replication_pad1d(const Tensor& self, IntArrayRef padding) {
  return pad_dimensions(self, padding, 1, "replicate");
}

Tensor replication_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad_dimensions(self, padding, 2, "replicate");
}

Tensor replication_pad3d(const Tensor& self, IntArrayRef padding) {
  return pad_dimensions(self, padding, 3, "replicate");
}

Tensor _pad_circular(const Tensor& self, IntArrayRef padding) {
  return at::_pad_by_copy(self, padding, "circular");
}

Tensor pad(const Tensor& self, IntArrayRef widths, std::string_view mode,
           std::optional<double> value) {
  TORCH_CHECK(widths.size() % 2 == 0, "Padding length must be divisible by 2");
  TORCH_CHECK(static_cast<int64_t>(widths.size()) <= 2 * self.dim(),
              "Padding length should be less than or equal to two times the input "
              "dimension but got padding length ",
              widths.size(), " and input of dimension ", self.dim());

  if (mode == "constant") return at::constant_pad_nd(self, widths, value.value_or(0.0));

  TORCH_CHECK(!value.has_value() || *value == 0, "Padding mode \"", mode,
              "\" doesn't take in value argument");

  const int64_t spatial = static_cast<int64_t>(widths.size()) / 2;
  const bool known =
      spatial >= 1 && spatial <= 3 && (self.dim() == spatial + 1 || self.dim() == spatial + 2);
  TORCH_CHECK_NOT_IMPLEMENTED(
      known, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
  TORCH_CHECK_NOT_IMPLEMENTED(is_mode(mode), "Unrecognised padding mode ", mode);

  return at::_pad_by_copy(self, widths, mode);
}

TensorSpec constant_pad_nd_shape(const Tensor& self, IntArrayRef pad, const Scalar&) {
  TORCH_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  TORCH_CHECK(static_cast<int64_t>(pad.size()) <= 2 * self.dim(),
              "Length of pad should be no more than twice the number of dimensions of the input. "
              "Pad length is ",
              pad.size(), " while the input has ", self.dim(), " dimensions.");

  DimVector sizes(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = sizes[sizes.size() - 1 - i];
    int64_t padded = 0;
    TORCH_CHECK(!__builtin_add_overflow(size, pad[2 * i], &padded) &&
                    !__builtin_add_overflow(padded, pad[2 * i + 1], &padded),
                "constant_pad_nd: padding of ", pad[2 * i], " and ", pad[2 * i + 1],
                " overflows at size ", size);

    // Cutting can only remove existing elements, however much is added on the other side.
    const bool cuts_all = size + std::min<int64_t>(pad[2 * i], 0) < 0 ||
                          size + std::min<int64_t>(pad[2 * i + 1], 0) < 0;
    TORCH_CHECK(!cuts_all || padded < 0, "narrow(): length must be non-negative: padding of ",
                pad[2 * i], " and ", pad[2 * i + 1], " cuts more than the ", size,
                " elements of dimension ", sizes.size() - 1 - i);

    TORCH_CHECK(padded >= 0, "The input size ", size, ", plus negative padding ", pad[2 * i],
                " and ", pad[2 * i + 1],
                " resulted in a negative output size, which is invalid. Check dimension ",
                sizes.size() - 1 - i, " of your input.");

    size = padded;
  }

  return {sizes, self.scalar_type(), self.device(), strides_in_format(sizes, format_like(self))};
}

Tensor _constant_pad_backward(const Tensor& grad, IntArrayRef pad) {
  DimVector negated;
  for (const int64_t width : pad) {
    TORCH_CHECK(width != std::numeric_limits<int64_t>::min(), "constant_pad_nd: a padding of ",
                width, " cannot be reversed");
    negated.push_back(-width);
  }
  return at::constant_pad_nd(grad, negated);
}

}  // namespace at::native
