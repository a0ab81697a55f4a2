#pragma once
// Sparse linear maps along one dimension, the building blocks of interpolation, average pooling and
// padding.
#include <array>
#include <string_view>
#include <vector>

#include "aten/core/Tensor.h"

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

Taps interpolation_taps(const Interpolation& how, int64_t in, int64_t out, double scale_factor);

/// Windows of average pooling. A `divisor` of 0 means the number of elements of each window,
/// including padding if `count_include_pad`.
struct AverageWindows {
  int64_t kernel, stride, padding;
  bool count_include_pad;
  int64_t divisor;
};

/// One window: the input elements [begin, end), each with the weight `weight`.
struct AverageWindow {
  int64_t begin, end;
  double weight;
};
AverageWindow average_window(const AverageWindows& windows, int64_t in, int64_t j);
Taps average_taps(const AverageWindows& windows, int64_t in, int64_t out);

/// Adds `before` and `after` elements (or removes them if negative) in the mode reflect, replicate
/// or circular.
Taps padding_taps(std::string_view mode, int64_t in, int64_t before, int64_t after);

}  // namespace at::native
