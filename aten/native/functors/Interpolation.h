#pragma once
// The elements and weights of interpolation along one dimension, for host and device.
#include <cmath>
#include <cstdint>

#include "c10/util/Export.h"

namespace at::native {

enum class InterpolationMode : uint8_t { Nearest, NearestExact, Linear, Cubic, Area };

/// One dimension that is interpolated from `in` to `out` elements.
struct InterpolationAxis {
  InterpolationMode mode;
  bool align_corners, antialias;
  bool single;  // positions of nearest elements are float32
  int64_t in, out;
  double scale_factor;  // 0 unless given

  /// Input elements per output element.
  C10_HOST_DEVICE double step() const {
    if (align_corners)
      return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;

    // Positions have to fit into integers, even for a scale factor that contradicts the sizes.
    const double step =
        scale_factor > 0 ? 1.0 / scale_factor : static_cast<double>(in) / static_cast<double>(out);
    return step < 1e9 ? step : 1e9;
  }

  C10_HOST_DEVICE bool is_nearest() const {
    return mode == InterpolationMode::Nearest || mode == InterpolationMode::NearestExact;
  }
  C10_HOST_DEVICE bool is_smoothed() const {
    return antialias && !is_nearest() && mode != InterpolationMode::Area;
  }
  C10_HOST_DEVICE bool is_copied() const {
    return in == out && !(scale_factor > 0 && scale_factor != 1);
  }
  /// The width of the kernel of antialiasing, relative to that without.
  C10_HOST_DEVICE double stretch() const { return step() > 1.0 ? step() : 1.0; }
  C10_HOST_DEVICE double reach() const {
    return (mode == InterpolationMode::Cubic ? 2.0 : 1.0) * stretch();
  }

  /// The most elements that one element of the result takes.
  int64_t most_taps() const {
    if (is_nearest()) return 1;
    if (mode == InterpolationMode::Area) return in / out + 2;
    if (!is_smoothed()) return mode == InterpolationMode::Cubic ? 4 : 2;
    const double most = 2 * reach() + 2;
    return most < static_cast<double>(in) ? static_cast<int64_t>(most) : in;
  }
};

/// The elements that one element of the result takes: `count` from `begin` on, those outside being
/// replaced by the first or last.
struct TapSpan {
  int64_t begin = 0, count = 1;
  double position = 0;  // in elements of the input
  double total = 1;     // of weights that are not normalised
};

/// The cubic convolution kernel of Keys (Cubic Convolution Interpolation for Digital Image
/// Processing, 1981), on |x| < 1 and 1 <= |x| < 2. Interpolation takes a = -0.75, smoothing -0.5 as
/// in image libraries.
C10_HOST_DEVICE inline double cubic_kernel(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * a * x - 4 * a : 0.0;
}

/// The nearest input element of output element j. The product is rounded as in PyTorch, which
/// decides ties.
C10_HOST_DEVICE inline int64_t nearest_element(const InterpolationAxis& axis, int64_t j) {
  const double centre = axis.mode == InterpolationMode::NearestExact ? 0.5 : 0.0;
  double position;

  if (axis.single) {
    const float step = axis.scale_factor > 0
                           ? static_cast<float>(1.0 / axis.scale_factor)
                           : static_cast<float>(axis.in) / static_cast<float>(axis.out);
    position = std::floor((static_cast<float>(j) + static_cast<float>(centre)) * step);
  } else {
    position = std::floor((static_cast<double>(j) + centre) * axis.step());
  }

  const auto last = static_cast<double>(axis.in - 1);
  return position >= 0 ? static_cast<int64_t>(position < last ? position : last) : 0;
}

/// The weight of element i in the kernel of antialiasing around `centre`, not normalised.
C10_HOST_DEVICE inline double smoothed_weight(const InterpolationAxis& axis, int64_t i,
                                              double centre) {
  const double x = (static_cast<double>(i) - centre + 0.5) / axis.stretch();
  if (axis.mode == InterpolationMode::Cubic) return cubic_kernel(x, -0.5);
  return 1 - std::abs(x) > 0.0 ? 1 - std::abs(x) : 0.0;
}

/// A kernel stretched by the step if that is more than one element, so that every input element
/// contributes. The weights inside the input are normalised to sum 1.
C10_HOST_DEVICE inline TapSpan smoothed_span(const InterpolationAxis& axis, int64_t j) {
  TapSpan span;
  span.position = axis.step() * (static_cast<double>(j) + 0.5);
  const auto begin = static_cast<int64_t>(span.position - axis.reach() + 0.5);
  const auto end = static_cast<int64_t>(span.position + axis.reach() + 0.5);
  span.begin = begin > 0 ? begin : 0;
  span.count = (end < axis.in ? end : axis.in) - span.begin;

  span.total = 0;
  for (int64_t t = 0; t < span.count; ++t)
    span.total += smoothed_weight(axis, span.begin + t, span.position);
  return span;
}

/// The mean of the elements from floor(j * in / out) to ceil((j + 1) * in / out).
C10_HOST_DEVICE inline TapSpan area_span(const InterpolationAxis& axis, int64_t j) {
  const auto wide = [&](int64_t k) { return static_cast<unsigned __int128>(k) * axis.in; };
  TapSpan span;
  span.begin = static_cast<int64_t>(wide(j) / axis.out);
  span.count = static_cast<int64_t>((wide(j + 1) + axis.out - 1) / axis.out) - span.begin;
  return span;
}

C10_HOST_DEVICE inline TapSpan tap_span(const InterpolationAxis& axis, int64_t j) {
  if (axis.mode == InterpolationMode::Area) return area_span(axis, j);
  if (axis.is_nearest()) return {nearest_element(axis, j)};
  if (axis.antialias) return smoothed_span(axis, j);
  if (axis.is_copied()) return {j};

  // Centres of elements are at j + 0.5, unless the first and last elements are aligned.
  const double step = axis.step();
  const double exact = axis.align_corners ? static_cast<double>(j) * step
                                          : (static_cast<double>(j) + 0.5) * step - 0.5;
  const auto size = static_cast<double>(axis.in);
  TapSpan span;
  span.position = exact < size ? exact : size;
  if (axis.mode == InterpolationMode::Cubic) {
    span.begin = static_cast<int64_t>(std::floor(span.position)) - 1;
    span.count = 4;
    return span;
  }

  if (!(span.position > 0.0)) span.position = 0.0;
  const auto low = static_cast<int64_t>(span.position);
  span.begin = low < axis.in - 1 ? low : axis.in - 1;
  span.count = 2;
  return span;
}

/// The element of the input that tap t takes.
C10_HOST_DEVICE inline int64_t tap_index(const InterpolationAxis& axis, const TapSpan& span,
                                         int64_t t) {
  const int64_t index = span.begin + t;
  return index < 0 ? 0 : index < axis.in ? index : axis.in - 1;
}

C10_HOST_DEVICE inline double tap_weight(const InterpolationAxis& axis, const TapSpan& span,
                                         int64_t t) {
  if (axis.mode == InterpolationMode::Area) return 1.0 / static_cast<double>(span.count);
  if (axis.is_smoothed()) {
    const double weight = smoothed_weight(axis, span.begin + t, span.position);
    return span.total != 0 ? weight / span.total : weight;
  }
  if (span.count == 1) return 1.0;

  const double offset = span.position - static_cast<double>(span.begin);
  if (axis.mode == InterpolationMode::Cubic)
    return cubic_kernel(offset - static_cast<double>(t), -0.75);
  const double part = offset < 1.0 ? offset : 1.0;
  return t == 0 ? 1 - part : part;
}

/// A weight rounded to a fixed-point fraction of 16-bit integers, as in the interpolation of bytes.
/// `largest` is the largest weight of the dimension.
C10_HOST_DEVICE inline double quantised_weight(double weight, double largest) {
  int bits = 0;
  while (bits < 22 && std::floor(0.5 + largest * std::ldexp(1.0, bits + 1)) < 32768.0) ++bits;
  return std::trunc(weight * std::ldexp(1.0, bits) + (weight < 0 ? -0.5 : 0.5)) *
         std::ldexp(1.0, -bits);
}

}  // namespace at::native
