#pragma once
// Shared by the kernels of grid sampling on all devices: sizes, the tensors of the gradient, and
// the elements, weights and slopes with which a grid samples one dimension at one point. The loops
// that include this file compile it once per instruction set.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "aten/core/Tensor.h"

namespace at::native {

/// The options of a grid sampler, numbered as Python passes them.
struct GridSampler {
  enum class Mode : int64_t { Linear = 0, Nearest = 1, Cubic = 2 };
  enum class Outside : int64_t { Zeros = 0, Border = 1, Reflection = 2 };

  Mode mode;
  Outside outside;
  bool align_corners;

  /// Elements that a point takes from each dimension.
  C10_HOST_DEVICE int taps() const {
    return mode == Mode::Nearest ? 1 : mode == Mode::Linear ? 2 : 4;
  }
};

/// How a grid samples an input, with the sizes of three dimensions; a missing dimension has size 1
/// and comes first. `points` and `plane` count the elements of one sample and of one channel.
struct TORCH_PY_API GridSizes {
  GridSampler sampler;
  int64_t batch, channels, rank;
  int64_t points = 1, plane = 1;
  int64_t size[3] = {1, 1, 1};

  /// Raises RuntimeError for planes of 2^31 elements and more.
  GridSizes(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
            bool align_corners);
};

/// The tensor, contiguous and in the accumulation dtype, which kernels read and write.
TORCH_PY_API Tensor for_sampling(const Tensor& tensor);

/// Memory for a result in the accumulation dtype: `out` itself if it has that dtype.
TORCH_PY_API Tensor for_samples(const Tensor& out);

/// The tensors of the gradient's kernel, in the accumulation dtype. The input's gradient is
/// undefined if it is not wanted.
struct TORCH_PY_API GridGradients {
  Tensor grad, input, grid;
  Tensor of_input, of_grid;

  GridGradients(const Tensor& grad, const Tensor& input, const Tensor& grid, int64_t mode,
                int64_t padding);

  /// Both gradients in the dtypes of what they are gradients of.
  std::tuple<Tensor, Tensor> in_dtypes_of(const Tensor& input, const Tensor& grid) const;
};

/// A coordinate in elements, and its derivative by the coordinate of the grid.
template <typename T>
struct GridPosition {
  T value, slope;
};

/// Clamps to [0, size - 1]; outside, the slope is 0. NaN becomes 0.
template <typename T>
C10_HOST_DEVICE GridPosition<T> clipped(GridPosition<T> at, int64_t size) {
  const T last = static_cast<T>(size - 1);
  if (!(at.value > 0)) return {T(0), T(0)};
  if (at.value >= last) return {last, T(0)};
  return at;
}

/// Mirrored at the centres of the border elements (align_corners) or at their outer edges.
template <typename T>
C10_HOST_DEVICE GridPosition<T> reflected(GridPosition<T> at, int64_t size, bool align_corners) {
  const T low = align_corners ? T(0) : T(-0.5);
  const T span = static_cast<T>(align_corners ? size - 1 : size);
  if (span == 0) return {T(0), T(0)};

  T distance = at.value - low;
  if (distance < 0) {
    distance = -distance;
    at.slope = -at.slope;
  }

  // After an odd number of whole spans the coordinate runs backwards.
  const T rest = std::fmod(distance, span);
  const bool back = std::fmod(std::floor(distance / span), T(2)) != 0;
  return back ? GridPosition<T>{span - rest + low, -at.slope}
              : GridPosition<T>{rest + low, at.slope};
}

/// Applies the padding mode to a coordinate.
template <typename T>
C10_HOST_DEVICE GridPosition<T> moved_inside(const GridSampler& sampler, GridPosition<T> at,
                                             int64_t size) {
  if (sampler.outside == GridSampler::Outside::Reflection)
    at = reflected(at, size, sampler.align_corners);
  return sampler.outside == GridSampler::Outside::Zeros ? at : clipped(at, size);
}

/// What a point takes from one dimension: up to four elements (-1 for outside, which counts as
/// zero), their weights, and the derivatives of the weights by the grid's coordinate.
template <typename T>
struct GridTaps {
  int64_t index[4] = {0, 0, 0, 0};
  T weight[4] = {1, 0, 0, 0};
  T slope[4] = {0, 0, 0, 0};
};

namespace grid_detail {

/// Maps NaN and coordinates far away from all elements to -100, which fits into an integer and is
/// outside as well.
template <typename T>
C10_HOST_DEVICE T tame(T value) {
  return value > T(-1e9) && value < T(1e9) ? value : T(-100);
}

C10_HOST_DEVICE inline int64_t inside_or_none(int64_t index, int64_t size) {
  return index >= 0 && index < size ? index : -1;
}

/// Keys' cubic convolution (1981) with a = -0.75 at distances 1 + t, t, 1 - t and 2 - t, and its
/// derivative by t. The kernel is `near` up to distance 1 and `far` from 1 to 2.
template <typename T>
C10_HOST_DEVICE void cubic_weights(T t, T (&weight)[4], T (&slope)[4]) {
  constexpr T a = T(-0.75);
  const auto near = [](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const auto near_slope = [](T x) { return (3 * (a + 2) * x - 2 * (a + 3)) * x; };
  const auto far_slope = [](T x) { return (3 * a * x - 10 * a) * x + 8 * a; };

  weight[0] = far(1 + t);
  weight[1] = near(t);
  weight[2] = near(1 - t);
  weight[3] = far(2 - t);

  slope[0] = far_slope(1 + t);
  slope[1] = near_slope(t);
  slope[2] = -near_slope(1 - t);
  slope[3] = -far_slope(2 - t);
}

}  // namespace grid_detail

/// The taps of one coordinate in a dimension of `size` elements.
template <typename T>
C10_HOST_DEVICE GridTaps<T> grid_taps(const GridSampler& sampler, T coordinate, int64_t size) {
  using namespace grid_detail;
  const T scale = static_cast<T>(sampler.align_corners ? size - 1 : size) / 2;

  // From -1 ... 1 to elements.
  GridPosition<T> at{sampler.align_corners ? (coordinate + 1) / 2 * static_cast<T>(size - 1)
                                           : ((coordinate + 1) * static_cast<T>(size) - 1) / 2,
                     scale};
  GridTaps<T> taps;

  // Cubic: each of the four places is moved inside; the weights do not change.
  if (sampler.mode == GridSampler::Mode::Cubic) {
    const T low = std::floor(tame(at.value));
    // Of an infinite coordinate, the weights are NaN.
    cubic_weights(at.value - std::floor(at.value), taps.weight, taps.slope);
    for (int k = 0; k < 4; ++k) {
      taps.slope[k] *= scale;
      const auto place = moved_inside<T>(sampler, {low - 1 + static_cast<T>(k), T(1)}, size);
      taps.index[k] = inside_or_none(static_cast<int64_t>(tame(place.value)), size);
    }
    return taps;
  }

  at = moved_inside(sampler, at, size);
  if (sampler.mode == GridSampler::Mode::Nearest) {
    taps.index[0] = inside_or_none(static_cast<int64_t>(std::nearbyint(tame(at.value))), size);
    return taps;
  }

  const T low = std::floor(tame(at.value));
  const T part = tame(at.value) - low;
  for (int k = 0; k < 2; ++k) taps.index[k] = inside_or_none(static_cast<int64_t>(low) + k, size);
  taps.weight[0] = 1 - part;
  taps.weight[1] = part;
  taps.slope[0] = -at.slope;
  taps.slope[1] = at.slope;
  return taps;
}

}  // namespace at::native
