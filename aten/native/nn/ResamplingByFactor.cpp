// Interpolation to a size or by factors: the overloads `vec` of the upsample operators.
#include <utility>

#include "aten/native/declarations/nn/ResamplingByFactor.h"
#include "aten/ops/_upsample_bicubic2d_aa.h"
#include "aten/ops/_upsample_bilinear2d_aa.h"
#include "aten/ops/_upsample_nearest_exact1d.h"
#include "aten/ops/_upsample_nearest_exact2d.h"
#include "aten/ops/_upsample_nearest_exact3d.h"
#include "aten/ops/upsample_bicubic2d.h"
#include "aten/ops/upsample_bilinear2d.h"
#include "aten/ops/upsample_linear1d.h"
#include "aten/ops/upsample_nearest1d.h"
#include "aten/ops/upsample_nearest2d.h"
#include "aten/ops/upsample_nearest3d.h"
#include "aten/ops/upsample_trilinear3d.h"

namespace at::native {

namespace {

using Factors = std::optional<ArrayRef<double>>;

/// What is interpolated to: the sizes, and the factor of each dimension where factors are given.
struct Target {
  DimVector sizes;
  std::optional<double> factors[3];

  Target(const Tensor& input, OptionalIntArrayRef output_size, const Factors& scale_factors,
         size_t spatial) {
    TORCH_CHECK(output_size.has_value() != scale_factors.has_value(),
                "Must specify exactly one of output_size and scale_factors");
    TORCH_CHECK(input.dim() == static_cast<int64_t>(spatial) + 2,
                "It is expected input_size equals to ", spatial + 2, ", but got size ",
                input.dim());

    if (output_size.has_value()) {
      sizes = DimVector(*output_size);
      return;
    }

    TORCH_CHECK(scale_factors->size() == spatial, "It is expected scale_factors equals to ",
                spatial, ", but got size ", scale_factors->size());
    for (size_t d = 0; d < spatial; ++d) {
      factors[d] = (*scale_factors)[d];
      sizes.push_back(to_size(static_cast<double>(input.sizes()[2 + d]) * *factors[d]));
    }
  }

  static int64_t to_size(double size) {
    TORCH_CHECK(size >= 0 && size < 0x1p62, "scale_factors give an output of size ", size);
    return static_cast<int64_t>(size);
  }
};

/// Calls an operator that interpolates N dimensions to sizes, with the options between its sizes
/// and its factors.
template <class Operator, size_t N, class... Options>
Tensor resampled(const Tensor& input, OptionalIntArrayRef output_size, const Factors& scale_factors,
                 Options... options) {
  const Target target(input, output_size, scale_factors, N);
  return [&]<size_t... d>(std::index_sequence<d...>) {
    return Operator::call(input, target.sizes, options..., target.factors[d]...);
  }(std::make_index_sequence<N>());
}

}  // namespace

Tensor upsample_nearest1d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                              std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::upsample_nearest1d, 1>(input, output_size, scale_factors);
}

Tensor upsample_nearest2d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                              std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::upsample_nearest2d, 2>(input, output_size, scale_factors);
}

Tensor upsample_nearest3d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                              std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::upsample_nearest3d, 3>(input, output_size, scale_factors);
}

Tensor _upsample_nearest_exact1d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                     std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::_upsample_nearest_exact1d, 1>(input, output_size, scale_factors);
}

Tensor _upsample_nearest_exact2d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                     std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::_upsample_nearest_exact2d, 2>(input, output_size, scale_factors);
}

Tensor _upsample_nearest_exact3d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                     std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::_upsample_nearest_exact3d, 3>(input, output_size, scale_factors);
}

Tensor upsample_linear1d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                             bool align_corners, std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::upsample_linear1d, 1>(input, output_size, scale_factors, align_corners);
}

Tensor upsample_bilinear2d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                               bool align_corners, std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::upsample_bilinear2d, 2>(input, output_size, scale_factors, align_corners);
}

Tensor upsample_trilinear3d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                bool align_corners, std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::upsample_trilinear3d, 3>(input, output_size, scale_factors, align_corners);
}

Tensor upsample_bicubic2d_vec(const Tensor& input, OptionalIntArrayRef output_size,
                              bool align_corners, std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::upsample_bicubic2d, 2>(input, output_size, scale_factors, align_corners);
}

Tensor _upsample_bilinear2d_aa_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                   bool align_corners,
                                   std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::_upsample_bilinear2d_aa, 2>(input, output_size, scale_factors,
                                                    align_corners);
}

Tensor _upsample_bicubic2d_aa_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                  bool align_corners,
                                  std::optional<ArrayRef<double>> scale_factors) {
  return resampled<ops::_upsample_bicubic2d_aa, 2>(input, output_size, scale_factors,
                                                   align_corners);
}

}  // namespace at::native
