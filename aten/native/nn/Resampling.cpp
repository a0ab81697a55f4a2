// Interpolation of the last one to three dimensions: shape rules and the upsample operators.
#include "aten/native/declarations/nn/Resampling.h"

#include <string>

#include "aten/native/shared/ResamplingRules.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/_interpolate.h"

namespace at::native {

namespace {

/// Sizes with the names of their dimensions, such as (H: 2, W: 3).
std::string text_of(IntArrayRef sizes) {
  static constexpr const char* kNames[] = {"D", "H", "W"};
  std::string text = "(";
  for (size_t d = 0; d < sizes.size(); ++d) {
    text += std::string(d == 0 ? "" : ", ") + kNames[3 - sizes.size() + d] + ": " +
            std::to_string(sizes[d]);
  }
  return text + ")";
}

void check_modes(IntArrayRef output_size, std::string_view mode, ArrayRef<double> scales) {
  TORCH_CHECK(!output_size.empty() && output_size.size() <= 3,
              "_interpolate: expected 1 to 3 output sizes, got ", output_size);

  TORCH_CHECK(mode == "nearest" || mode == "nearest-exact" || mode == "linear" || mode == "cubic" ||
                  mode == "area",
              "_interpolate: unknown mode '", mode, "'");

  TORCH_CHECK(scales.empty() || scales.size() == output_size.size(), "_interpolate: expected ",
              output_size.size(), " scales, got ", scales.size());
}

/// `sizes` with the last dimensions replaced by `last`.
DimVector with_last(IntArrayRef sizes, IntArrayRef last) {
  DimVector result(sizes);
  std::copy(last.begin(), last.end(), result.end() - static_cast<int64_t>(last.size()));
  return result;
}

/// The common part of all upsample operators: checks, then interpolates. A missing scale is 0.
Tensor upsample(const Tensor& self, IntArrayRef output_size, size_t spatial, std::string_view mode,
                bool align_corners, std::initializer_list<std::optional<double>> scales,
                bool antialias = false) {
  TORCH_CHECK(output_size.size() == spatial, "It is expected output_size equals to ", spatial,
              ", but got size ", output_size.size());
  TORCH_CHECK(self.dim() == static_cast<int64_t>(spatial) + 2,
              "It is expected input_size equals to ", spatial + 2, ", but got size ", self.dim());

  const IntArrayRef input_size = self.sizes().slice(2);
  for (size_t d = 0; d < spatial; ++d) {
    TORCH_CHECK(input_size[d] > 0 && output_size[d] > 0,
                "Input and output sizes should be greater than 0, but got input ",
                text_of(input_size), " output ", text_of(output_size));
  }

  TORCH_CHECK(self.sizes()[1] > 0, "Non-empty ", spatial + 2,
              "D data tensor expected but got a tensor with sizes ", self.sizes());

  c10::SmallVector<double, 3> factors;
  for (const auto& scale : scales) factors.push_back(scale.value_or(0.0));

  return at::_interpolate(self, output_size, mode, align_corners,
                          ArrayRef<double>(factors.data(), factors.size()), antialias);
}

}  // namespace

/// The taps of three dimensions; missing leading dimensions have one element.
AxesTaps interpolation_axes(const Tensor& self, IntArrayRef sizes, IntArrayRef output_size,
                            std::string_view mode, bool align_corners, ArrayRef<double> scales,
                            bool antialias) {
  AxesTaps taps{identity_taps(1), identity_taps(1), identity_taps(1)};
  const size_t spatial = output_size.size();

  const Interpolation interpolation{mode, align_corners, antialias, self.scalar_type() != kDouble};
  for (size_t d = 0; d < spatial; ++d) {
    taps[3 - spatial + d] = interpolation_taps(interpolation, sizes[sizes.size() - spatial + d],
                                               output_size[d], scales.empty() ? 0.0 : scales[d]);
    if (self.scalar_type() == kByte) quantise_weights(taps[3 - spatial + d]);
  }

  return taps;
}

TensorSpec _interpolate_shape(const Tensor& self, IntArrayRef output_size, std::string_view mode,
                              bool, ArrayRef<double> scales, bool) {
  check_modes(output_size, mode, scales);
  TORCH_CHECK(self.dim() >= static_cast<int64_t>(output_size.size()),
              "_interpolate: expected at least ", output_size.size(), " dimensions, got size ",
              self.sizes());

  for (const int64_t size : output_size)
    TORCH_CHECK(size >= 0, "_interpolate: expected sizes of at least 0, got ", output_size);

  return spec_in_format_of(self, with_last(self.sizes(), output_size), output_size.size());
}

TensorSpec _interpolate_backward_shape(const Tensor& grad, IntArrayRef sizes,
                                       IntArrayRef output_size, std::string_view mode, bool,
                                       ArrayRef<double> scales, bool) {
  check_modes(output_size, mode, scales);
  for (const int64_t size : sizes)
    TORCH_CHECK(size >= 0, "_interpolate_backward: expected sizes of at least 0, got ", sizes);

  TORCH_CHECK(sizes.size() >= output_size.size() &&
                  grad.sizes() == IntArrayRef(with_last(sizes, output_size)),
              "_interpolate_backward: gradient of size ", grad.sizes(),
              " does not fit input of size ", sizes, " and output_size ", output_size);

  return spec_in_format_of(grad, sizes, output_size.size());
}

using Scale = std::optional<double>;

Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size, Scale scales) {
  return upsample(self, output_size, 1, "nearest", false, {scales});
}

/// In a dimension whose size stays or doubles, PyTorch ignores the scale and repeats elements.
Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size, Scale scales_h,
                          Scale scales_w) {
  const auto repeats = [&](size_t d) {
    if (output_size.size() != 2 || self.dim() != 4) return false;
    return output_size[d] == self.sizes()[2 + d] || output_size[d] == 2 * self.sizes()[2 + d];
  };

  return upsample(self, output_size, 2, "nearest", false,
                  {repeats(0) ? Scale() : scales_h, repeats(1) ? Scale() : scales_w});
}

Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size, Scale scales_d,
                          Scale scales_h, Scale scales_w) {
  return upsample(self, output_size, 3, "nearest", false, {scales_d, scales_h, scales_w});
}

Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size, Scale scales) {
  return upsample(self, output_size, 1, "nearest-exact", false, {scales});
}

Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size, Scale scales_h,
                                 Scale scales_w) {
  return upsample(self, output_size, 2, "nearest-exact", false, {scales_h, scales_w});
}

Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size, Scale scales_d,
                                 Scale scales_h, Scale scales_w) {
  return upsample(self, output_size, 3, "nearest-exact", false, {scales_d, scales_h, scales_w});
}

Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                         Scale scales) {
  return upsample(self, output_size, 1, "linear", align_corners, {scales});
}

Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                           Scale scales_h, Scale scales_w) {
  return upsample(self, output_size, 2, "linear", align_corners, {scales_h, scales_w});
}

Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                            Scale scales_d, Scale scales_h, Scale scales_w) {
  return upsample(self, output_size, 3, "linear", align_corners, {scales_d, scales_h, scales_w});
}

Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                          Scale scales_h, Scale scales_w) {
  return upsample(self, output_size, 2, "cubic", align_corners, {scales_h, scales_w});
}

Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                               Scale scales_h, Scale scales_w) {
  return upsample(self, output_size, 2, "linear", align_corners, {scales_h, scales_w}, true);
}

Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                              Scale scales_h, Scale scales_w) {
  return upsample(self, output_size, 2, "cubic", align_corners, {scales_h, scales_w}, true);
}

}  // namespace at::native
