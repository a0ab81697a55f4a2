#pragma once
// Sparse linear maps along one dimension, the building blocks of interpolation, average pooling and
// padding.
#include <array>
#include <string_view>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/native/functors/Interpolation.h"
#include "aten/native/functors/PaddingSource.h"
#include "aten/native/functors/PoolWindows.h"

namespace at::native {

/// Element j of the result is the sum of weight[t] * input[index[t]] over t in [first[j], first[j +
/// 1]).
struct Taps {
  int64_t in = 1, out = 1;
  std::vector<int64_t> first{0}, index;
  std::vector<double> weight;

  void add(int64_t source, double factor) {
    index.push_back(source);
    weight.push_back(factor);
  }
  /// Ends the taps of one element.
  void next() { first.push_back(static_cast<int64_t>(index.size())); }
  bool is_identity() const;
};

/// The taps of the last three dimensions, in order. Fewer dimensions are preceded by identities of
/// size 1.
using AxesTaps = std::array<Taps, 3>;

Taps identity_taps(int64_t size);

/// The transposed map, which maps gradients of results to gradients of inputs.
Taps transposed_taps(const Taps& taps);
AxesTaps transposed_taps(const AxesTaps& taps);

/// The options of interpolation.
struct Interpolation {
  std::string_view mode;  // nearest, nearest-exact, linear, cubic or area
  bool align_corners, antialias;
  bool single;  // positions of nearest elements are float32, for all dtypes but float64
};

/// Rounds weights to fixed-point fractions of 16-bit integers, as in the interpolation of bytes.
void quantise_weights(Taps& taps);

TORCH_PY_API InterpolationAxis interpolation_axis(const Interpolation& how, int64_t in, int64_t out,
                                                  double scale_factor);
Taps interpolation_taps(const Interpolation& how, int64_t in, int64_t out, double scale_factor);

Taps average_taps(const AverageWindows& windows, int64_t in, int64_t out);

TORCH_PY_API PaddingMode padding_mode(std::string_view mode);

/// Adds `before` and `after` elements (or removes them if negative) in the mode reflect, replicate
/// or circular.
Taps padding_taps(std::string_view mode, int64_t in, int64_t before, int64_t after);

}  // namespace at::native
