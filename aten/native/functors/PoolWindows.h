#pragma once
// The windows of pooling along one dimension, for host and device.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "c10/util/CheckedMath.h"
#include "c10/util/Export.h"

namespace at::native {

/// A window of average pooling: the input elements [begin, end), divided by `count`.
struct AverageWindow {
  int64_t begin, end, count;
  double weight() const { return 1.0 / static_cast<double>(count); }
};

/// Windows of average pooling. A `divisor` of 0 means the number of elements of each window,
/// including padding if `count_include_pad`.
struct AverageWindows {
  int64_t kernel, stride, padding;
  bool count_include_pad;
  int64_t divisor;
};

namespace {

/// The elements begin, begin + step, ... below end, where the step is the dilation.
struct PoolWindow {
  int64_t begin, end;
};

/// Window j of a kernel. One that begins in the padding starts at its first element inside.
C10_HOST_DEVICE inline PoolWindow dilated_window(int64_t in, int64_t kernel, int64_t stride,
                                                 int64_t padding, int64_t dilation, int64_t j) {
  int64_t begin = j * stride - padding;
  const int64_t behind = begin + (kernel - 1) * dilation + 1;
  // Mostly without the division, for which a GPU calls a function.
  if (begin < 0) begin = dilation == 1 ? 0 : begin + (-begin + dilation - 1) / dilation * dilation;
  return {begin, behind < in ? behind : in};
}

/// Windows that divide the input evenly: j * in / out, rounded down, up to the next one rounded up.
C10_HOST_DEVICE inline PoolWindow adaptive_window(int64_t in, int64_t out, int64_t j) {
  // Pooling refuses planes so large that the products wrap around.
  return {c10::wrapping_multiply(j, in) / out,
          c10::wrapping_add(c10::wrapping_multiply(j + 1, in), out - 1) / out};
}

/// Windows at pseudo-random steps that together cover the input (Graham, "Fractional Max-Pooling",
/// 2014).
template <typename T>
C10_HOST_DEVICE inline PoolWindow fractional_window(int64_t in, int64_t out, int64_t kernel,
                                                    T sample, int64_t j) {
  const int64_t last = in - kernel;
  const T step = out > 1 ? static_cast<T>(last) / static_cast<T>(out - 1) : T(0);

  // The samples of a caller may be of any size; positions are clamped.
  int64_t begin = c10::wrapping_subtract(static_cast<int64_t>((static_cast<T>(j) + sample) * step),
                                         static_cast<int64_t>(sample * step));
  begin = begin < 0 ? 0 : begin < last ? begin : last;
  if (j + 1 == out) begin = last;
  return {begin, begin + kernel};
}

/// The maximum of zero elements, with which every window starts.
template <typename value_t>
C10_HOST_DEVICE constexpr value_t lowest_value() {
  if constexpr (std::numeric_limits<value_t>::has_infinity)
    return -std::numeric_limits<value_t>::infinity();
  return std::numeric_limits<value_t>::lowest();
}

C10_HOST_DEVICE inline AverageWindow average_window(const AverageWindows& windows, int64_t in,
                                                    int64_t j) {
  const int64_t start = j * windows.stride - windows.padding;
  const int64_t behind = start + windows.kernel;
  const int64_t begin = start > 0 ? start : 0;
  const int64_t end = behind < in ? behind : in;
  const int64_t padded = (behind < in + windows.padding ? behind : in + windows.padding) - start;
  const int64_t count = windows.divisor != 0        ? windows.divisor
                        : windows.count_include_pad ? padded
                                                    : end - begin;
  return {begin, end, count};
}

}  // namespace
}  // namespace at::native
