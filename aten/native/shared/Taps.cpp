// The taps of interpolation, average pooling and padding along one dimension.
#include "aten/native/shared/Taps.h"

#include <algorithm>

namespace at::native {

namespace {

InterpolationMode interpolation_mode(std::string_view mode) {
  if (mode == "area") return InterpolationMode::Area;
  if (mode == "nearest") return InterpolationMode::Nearest;
  if (mode == "nearest-exact") return InterpolationMode::NearestExact;
  return mode == "cubic" ? InterpolationMode::Cubic : InterpolationMode::Linear;
}

}  // namespace

bool Taps::is_identity() const {
  if (in != out || static_cast<int64_t>(index.size()) != out) return false;
  for (int64_t j = 0; j < out; ++j) {
    if (first[j] != j || index[j] != j || weight[j] != 1) return false;
  }
  return true;
}

Taps identity_taps(int64_t size) {
  Taps taps{size, size};
  for (int64_t j = 0; j < size; ++j) {
    taps.add(j, 1);
    taps.next();
  }
  return taps;
}

Taps transposed_taps(const Taps& taps) {
  Taps result{taps.out, taps.in};

  // Counts the taps of each input element, then adds up where they start.
  result.first.assign(taps.in + 1, 0);
  for (const int64_t i : taps.index) ++result.first[i + 1];
  for (int64_t i = 0; i < taps.in; ++i) result.first[i + 1] += result.first[i];

  std::vector<int64_t> next(result.first.begin(), result.first.end() - 1);
  result.index.resize(taps.index.size());
  result.weight.resize(taps.index.size());

  for (int64_t j = 0; j < taps.out; ++j) {
    for (int64_t t = taps.first[j]; t < taps.first[j + 1]; ++t) {
      const int64_t to = next[taps.index[t]]++;
      result.index[to] = j;
      result.weight[to] = taps.weight[t];
    }
  }

  return result;
}

AxesTaps transposed_taps(const AxesTaps& taps) {
  return {transposed_taps(taps[0]), transposed_taps(taps[1]), transposed_taps(taps[2])};
}

InterpolationAxis interpolation_axis(const Interpolation& how, int64_t in, int64_t out,
                                     double scale_factor) {
  return {interpolation_mode(how.mode),
          how.align_corners,
          how.antialias,
          how.single,
          in,
          out,
          scale_factor};
}

Taps interpolation_taps(const Interpolation& how, int64_t in, int64_t out, double scale_factor) {
  Taps taps{in, out};
  if (in == 0) {
    taps.first.assign(out + 1, 0);
    return taps;
  }

  const InterpolationAxis axis = interpolation_axis(how, in, out, scale_factor);
  for (int64_t j = 0; j < out; ++j) {
    const TapSpan span = tap_span(axis, j);
    for (int64_t t = 0; t < span.count; ++t)
      taps.add(tap_index(axis, span, t), tap_weight(axis, span, t));
    taps.next();
  }

  return taps;
}

void quantise_weights(Taps& taps) {
  double largest = 0;
  for (const double weight : taps.weight) largest = std::max(largest, weight);
  for (double& weight : taps.weight) weight = quantised_weight(weight, largest);
}

Taps average_taps(const AverageWindows& windows, int64_t in, int64_t out) {
  Taps taps{in, out};
  for (int64_t j = 0; j < out; ++j) {
    const AverageWindow window = average_window(windows, in, j);
    for (int64_t i = window.begin; i < window.end; ++i) taps.add(i, window.weight());
    taps.next();
  }
  return taps;
}

PaddingMode padding_mode(std::string_view mode) {
  if (mode == "replicate") return PaddingMode::Replicate;
  return mode == "circular" ? PaddingMode::Circular : PaddingMode::Reflect;
}

Taps padding_taps(std::string_view mode, int64_t in, int64_t before, int64_t after) {
  const PaddedAxis axis{padding_mode(mode), in, before, after};
  Taps taps{in, axis.out()};
  for (int64_t j = 0; j < axis.out(); ++j) {
    taps.add(axis.source(j), 1);
    taps.next();
  }
  return taps;
}

}  // namespace at::native
