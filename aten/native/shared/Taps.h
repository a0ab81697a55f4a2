#pragma once
// Linear maps along one dimension, of which interpolation, average pooling and padding are made.
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

/// Those of the last three dimensions, in order; identities of size 1 in front where there are
/// fewer.
using AxesTaps = std::array<Taps, 3>;

Taps identity_taps(int64_t size);
/// The map that gradients take.
Taps transposed_taps(const Taps& taps);
AxesTaps transposed_taps(const AxesTaps& taps);

/// How elements between those of the input are made.
struct Interpolation {
  std::string_view mode;  // nearest, nearest-exact, linear, cubic or area
  bool align_corners, antialias;
  bool single;  // positions of the nearest element are rounded to float32, as for all dtypes but
                // float64
};

/// Weights as fractions that 16-bit integers hold, as interpolation of bytes has them.
void quantise_weights(Taps& taps);

Taps interpolation_taps(const Interpolation& how, int64_t in, int64_t out, double scale_factor);

/// Windows of average pooling. `divisor` 0: the number of elements of the window, padding included
/// if `count_include_pad`.
struct AverageWindows {
  int64_t kernel, stride, padding;
  bool count_include_pad;
  int64_t divisor;
};
/// Window j: the elements from begin to end, of which each counts `weight`.
struct AverageWindow {
  int64_t begin, end;
  double weight;
};
AverageWindow average_window(const AverageWindows& windows, int64_t in, int64_t j);
Taps average_taps(const AverageWindows& windows, int64_t in, int64_t out);

/// `before` and `after` more elements (fewer if negative) by mode reflect, replicate or circular.
Taps padding_taps(std::string_view mode, int64_t in, int64_t before, int64_t after);

}  // namespace at::native
