#pragma once
// The elements of an input plane that each kernel element sees at the output positions. Included by
// files compiled once per instruction set.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "aten/native/nn/ConvolutionGeometry.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// For output positions in one line of the output and one kernel element: which of them read an
/// element inside the input.
struct WindowRun {
  int64_t line;        // offset of the input line; meaningless if begin == end
  int64_t begin, end;  // positions of the line that read inside the input
  int64_t source;      // input coordinate of position 0
};

/// Calls f(offset in the positions, first position in its line, length, run) for every piece of an
/// output line.
template <typename F>
inline void for_each_run(const ConvolutionGeometry& g, int64_t kernel_element, int64_t first,
                         int64_t positions, const F& f) {
  if (positions == 0) return;  // lines may have no positions to divide by

  const int64_t k2 = kernel_element % g.kernel[2];
  const int64_t k1 = kernel_element / g.kernel[2] % g.kernel[1];
  const int64_t k0 = kernel_element / g.kernel[2] / g.kernel[1];
  const int64_t width = g.output[2];
  const int64_t stride = g.stride[2];

  // Positions x in [low, high) of a line have source + x * stride in [0, input[2]).
  const int64_t source = k2 * g.dilation[2] - g.padding[2];
  const int64_t low = source >= 0 ? 0 : (-source - 1) / stride + 1;
  const int64_t high = g.input[2] > source ? (g.input[2] - source - 1) / stride + 1 : 0;

  int64_t x = first % width;
  int64_t y = first / width % g.output[1];
  int64_t z = first / width / g.output[1];
  for (int64_t done = 0; done < positions;) {
    const int64_t length = std::min(width - x, positions - done);
    const int64_t i0 = z * g.stride[0] - g.padding[0] + k0 * g.dilation[0];
    const int64_t i1 = y * g.stride[1] - g.padding[1] + k1 * g.dilation[1];
    const bool inside = i0 >= 0 && i0 < g.input[0] && i1 >= 0 && i1 < g.input[1];
    const int64_t begin = std::clamp(low, x, x + length);
    const int64_t end = inside ? std::clamp(high, begin, x + length) : begin;
    f(done, x, length,
      WindowRun{inside ? (i0 * g.input[1] + i1) * g.input[2] : 0, begin, end, source});

    done += length;
    x = 0;
    if (++y == g.output[1]) {
      y = 0;
      ++z;
    }
  }
}

/// Whether output lines are as wide as input lines and the stride is 1: a kernel element then sees
/// the plane itself, shifted.
inline bool has_shifted_planes(const ConvolutionGeometry& g) {
  return g.kernel[0] == 1 && g.input[0] == 1 && g.output[0] == 1 && g.padding[0] == 0 &&
         g.stride[1] == 1 && g.stride[2] == 1 && g.output[2] == g.input[2];
}

/// A plane shifted as one kernel element sees it, at `positions` output positions from `first` on.
/// Border columns are masked, because in memory the last element of a line is followed by the first
/// one of the next line.
template <typename T>
class ShiftedPlane {
 public:
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

  /// `kept` holds one mask per position and must outlive this object.
  ShiftedPlane(const ConvolutionGeometry& g, int64_t kernel_element, int64_t first,
               int64_t positions, const Bits* kept)
      : positions_(positions), kept_(kept) {
    const int64_t width = g.input[2];
    const int64_t lines = g.input[1];

    // All shifts beyond the plane have the same effect, so they are clamped.
    const int64_t shift_y = std::clamp(kernel_element / g.kernel[2] * g.dilation[1] - g.padding[1],
                                       -g.output[1], lines);
    const int64_t shift_x =
        std::clamp(kernel_element % g.kernel[2] * g.dilation[2] - g.padding[2], -width, width);
    const int64_t shift = shift_y * width + shift_x;

    const int64_t first_line = std::clamp<int64_t>(-shift_y, 0, g.output[1]);
    const int64_t last_line = std::clamp<int64_t>(lines - shift_y, first_line, g.output[1]);

    // Positions that would read before or after the plane's memory are in border columns.
    begin_ = std::clamp<int64_t>(std::max(first_line * width, -shift) - first, 0, positions);
    end_ = std::clamp<int64_t>(std::min(last_line * width, g.input_plane() - shift) - first, begin_,
                               positions);
    shift_ = begin_ < end_ ? shift + first : 0;
  }

  /// out = what the kernel element sees of `in`.
  void seen(const T* in, T* out) const {
    const T* from = in + shift_;
    for (int64_t i = 0; i < begin_; ++i) out[i] = T(0);
    for (int64_t i = begin_; i < end_; ++i) out[i] = kept(from[i], kept_[i]);
    for (int64_t i = end_; i < positions_; ++i) out[i] = T(0);
  }

  /// out += factor * what the kernel element sees of `in`.
  void add_seen(const T* in, T factor, T* out) const {
    const T* from = in + shift_;
    for (int64_t i = begin_; i < end_; ++i) out[i] += factor * kept(from[i], kept_[i]);
  }

  /// The transpose of add_seen: adds factor * values to the elements of `in` that they come from.
  void add_back(const T* values, T factor, T* in) const {
    T* to = in + shift_;
    for (int64_t i = begin_; i < end_; ++i) to[i] += factor * kept(values[i], kept_[i]);
  }

  /// Sum of values times what the kernel element sees of `in`.
  T dot(const T* values, const T* in) const {
    constexpr int64_t kLanes = 16;
    T lanes[kLanes] = {};
    const T* from = in + shift_;

    int64_t i = begin_;
    for (; i + kLanes <= end_; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j)
        lanes[j] += values[i + j] * kept(from[i + j], kept_[i + j]);
    }
    for (int64_t j = 0; i < end_; ++i, ++j) lanes[j] += values[i] * kept(from[i], kept_[i]);

    T sum = 0;
    for (const T lane : lanes) sum += lane;
    return sum;
  }

 private:
  /// The value, or 0. A mask of bits, because a product with 0 would be nan for infinite values.
  static T kept(T value, Bits bits) {
    return __builtin_bit_cast(T, __builtin_bit_cast(Bits, value) & bits);
  }

  int64_t positions_, shift_ = 0, begin_ = 0, end_ = 0;
  const Bits* kept_;
};

/// One shifted plane for each kernel element, at positions [first, first + positions). Empty if the
/// convolution does not have shifted planes.
template <typename T>
class ShiftedPlanes {
 public:
  ShiftedPlanes(const ShiftedPlanes&) = delete;
  ShiftedPlanes& operator=(const ShiftedPlanes&) = delete;
  ShiftedPlanes(const ConvolutionGeometry& g, int64_t first, int64_t positions) {
    if (!has_shifted_planes(g)) return;

    // The masks of the border columns, for each column of the kernel.
    const int64_t width = g.input[2];
    kept_.resize(g.kernel[2] * positions);
    for (int64_t kx = 0; kx < g.kernel[2]; ++kx) {
      const int64_t shift = kx * g.dilation[2] - g.padding[2];
      int64_t x = first % width;
      for (int64_t i = 0; i < positions; ++i, x = x + 1 == width ? 0 : x + 1) {
        kept_[kx * positions + i] = x + shift >= 0 && x + shift < width ? ~Bits(0) : Bits(0);
      }
    }

    for (int64_t k = 0; k < g.kernel_elements(); ++k)
      planes_.emplace_back(g, k, first, positions, &kept_[k % g.kernel[2] * positions]);
  }

  bool empty() const { return planes_.empty(); }
  const ShiftedPlane<T>& operator[](int64_t kernel_element) const {
    return planes_[kernel_element];
  }

 private:
  using Bits = typename ShiftedPlane<T>::Bits;
  std::vector<Bits> kept_;  // (columns of the kernel, positions)
  std::vector<ShiftedPlane<T>> planes_;
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
