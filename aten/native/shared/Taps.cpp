// The taps of interpolation, average pooling and padding along one dimension.
#include "aten/native/shared/Taps.h"

#include <algorithm>
#include <cmath>

namespace at::native {

namespace {

/// Input elements per output element.
double step_of(const Interpolation& how, int64_t in, int64_t out, double scale_factor) {
  if (how.align_corners)
    return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;

  // Positions have to fit into integers, even for a scale factor that contradicts the sizes.
  return std::min(scale_factor > 0 ? 1.0 / scale_factor
                                   : static_cast<double>(in) / static_cast<double>(out),
                  1e9);
}

/// The nearest input element of output element j. The product is rounded as in PyTorch, which
/// decides ties.
int64_t nearest(const Interpolation& how, int64_t in, int64_t out, double scale_factor, int64_t j) {
  const double centre = how.mode == "nearest-exact" ? 0.5 : 0.0;
  double position;

  if (how.single) {
    const float step = scale_factor > 0 ? static_cast<float>(1.0 / scale_factor)
                                        : static_cast<float>(in) / static_cast<float>(out);
    position = std::floor((static_cast<float>(j) + static_cast<float>(centre)) * step);
  } else {
    position = std::floor((static_cast<double>(j) + centre) * step_of(how, in, out, scale_factor));
  }

  return position >= 0 ? static_cast<int64_t>(std::min(position, static_cast<double>(in - 1))) : 0;
}

/// The cubic convolution kernel of Keys (Cubic Convolution Interpolation for Digital Image
/// Processing, 1981), on |x| < 1 and 1 <= |x| < 2. Interpolation takes a = -0.75, smoothing -0.5 as
/// in image libraries.
double cubic_kernel(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * a * x - 4 * a : 0.0;
}

/// The two neighbours of `position`, weighted by their distances.
void add_linear(Taps& taps, double position) {
  const double inside = std::max(position, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(inside), taps.in - 1);
  const double part = std::clamp(inside - static_cast<double>(low), 0.0, 1.0);
  taps.add(low, 1 - part);
  taps.add(std::min(low + 1, taps.in - 1), part);
}

/// The four neighbours of `position`; those outside repeat the first or last element.
void add_cubic(Taps& taps, double position) {
  const double low = std::floor(position);
  for (int64_t k = -1; k <= 2; ++k) {
    taps.add(std::clamp<int64_t>(static_cast<int64_t>(low) + k, 0, taps.in - 1),
             cubic_kernel(position - low - static_cast<double>(k), -0.75));
  }
}

/// A kernel stretched by the step if that is more than one element, so that every input element
/// contributes. The weights inside the input are normalised to sum 1.
void add_smoothed(Taps& taps, bool cubic, double step, int64_t j) {
  const double stretch = std::max(step, 1.0);
  const double reach = (cubic ? 2.0 : 1.0) * stretch;
  const double centre = step * (static_cast<double>(j) + 0.5);
  const int64_t begin = std::max<int64_t>(static_cast<int64_t>(centre - reach + 0.5), 0);
  const int64_t end = std::min<int64_t>(static_cast<int64_t>(centre + reach + 0.5), taps.in);

  double total = 0;
  const size_t start = taps.weight.size();
  for (int64_t i = begin; i < end; ++i) {
    const double x = (static_cast<double>(i) - centre + 0.5) / stretch;
    taps.add(i, cubic ? cubic_kernel(x, -0.5) : std::max(0.0, 1 - std::abs(x)));
    total += taps.weight.back();
  }

  for (size_t t = start; t < taps.weight.size() && total != 0; ++t) taps.weight[t] /= total;
}

/// The mean of the elements from floor(j * in / out) to ceil((j + 1) * in / out).
void add_area(Taps& taps, int64_t j) {
  const auto boundary = [&](int64_t k) { return static_cast<unsigned __int128>(k) * taps.in; };
  const auto begin = static_cast<int64_t>(boundary(j) / taps.out);
  const auto end = static_cast<int64_t>((boundary(j + 1) + taps.out - 1) / taps.out);
  for (int64_t i = begin; i < end; ++i) taps.add(i, 1.0 / static_cast<double>(end - begin));
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

Taps interpolation_taps(const Interpolation& how, int64_t in, int64_t out, double scale_factor) {
  Taps taps{in, out};
  if (in == 0) {
    taps.first.assign(out + 1, 0);
    return taps;
  }

  const double step = step_of(how, in, out, scale_factor);
  for (int64_t j = 0; j < out; ++j) {
    // Centres of elements are at j + 0.5, unless the first and last elements are aligned.
    const double exact = how.align_corners ? static_cast<double>(j) * step
                                           : (static_cast<double>(j) + 0.5) * step - 0.5;
    const double position = std::min(exact, static_cast<double>(in));

    if (how.mode == "area") {
      add_area(taps, j);
    } else if (how.mode == "nearest" || how.mode == "nearest-exact") {
      taps.add(nearest(how, in, out, scale_factor, j), 1);
    } else if (how.antialias) {
      add_smoothed(taps, how.mode == "cubic", step, j);
    } else if (in == out && !(scale_factor > 0 && scale_factor != 1)) {
      taps.add(j, 1);
    } else if (how.mode == "cubic") {
      add_cubic(taps, position);
    } else {
      add_linear(taps, position);
    }
    taps.next();
  }

  return taps;
}

void quantise_weights(Taps& taps) {
  double largest = 0;
  for (const double weight : taps.weight) largest = std::max(largest, weight);

  int bits = 0;
  while (bits < 22 && std::floor(0.5 + largest * std::ldexp(1.0, bits + 1)) < 32768.0) ++bits;

  for (double& weight : taps.weight) {
    weight = std::trunc(weight * std::ldexp(1.0, bits) + (weight < 0 ? -0.5 : 0.5)) *
             std::ldexp(1.0, -bits);
  }
}

AverageWindow average_window(const AverageWindows& windows, int64_t in, int64_t j) {
  const int64_t start = j * windows.stride - windows.padding;
  const int64_t begin = std::max<int64_t>(start, 0);
  const int64_t end = std::min(start + windows.kernel, in);
  const int64_t padded = std::min(start + windows.kernel, in + windows.padding) - start;
  const int64_t count = windows.divisor != 0        ? windows.divisor
                        : windows.count_include_pad ? padded
                                                    : end - begin;
  return {begin, end, 1.0 / static_cast<double>(count)};
}

Taps average_taps(const AverageWindows& windows, int64_t in, int64_t out) {
  Taps taps{in, out};
  for (int64_t j = 0; j < out; ++j) {
    const AverageWindow window = average_window(windows, in, j);
    for (int64_t i = window.begin; i < window.end; ++i) taps.add(i, window.weight);
    taps.next();
  }
  return taps;
}

// With a negative width, circular padding repeats only the elements that remain; the other modes
// may take elements that were cut off.
Taps padding_taps(std::string_view mode, int64_t in, int64_t before, int64_t after) {
  Taps taps{in, in + before + after};
  const int64_t begin = std::max<int64_t>(-before, 0);
  const int64_t size = in - begin - std::max<int64_t>(-after, 0);

  for (int64_t position = -before; position < in + after; ++position) {
    int64_t source = position;
    if (mode == "replicate") {
      source = std::clamp<int64_t>(position, 0, in - 1);
    } else if (mode == "circular") {
      source = begin + ((position - begin) % size + size) % size;
    } else {
      source = in - 1 - std::abs(in - 1 - std::abs(position));  // reflect
    }
    taps.add(source, 1);
    taps.next();
  }

  return taps;
}

}  // namespace at::native
