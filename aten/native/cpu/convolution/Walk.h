#pragma once
// How a convolution's result reads its source, axis by axis. Included by files compiled once per
// instruction set.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "aten/native/nn/ConvolutionGeometry.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Walks]
// A convolution is a walk over positions of its result. In each axis, position i lies at
// first + i * step of the result and reads, for each of its taps, the coordinate
// origin + i * stride + tap * dilation of the source; what is outside the source is 0. The batch is
// an axis with one tap.
//
// The input gradient of a convolution is a walk, too, if its stride is 1: over the gradient, with
// the taps in reverse order. With larger strides, input positions at distances of the stride
// (a phase) read the gradient by the same taps, so it is one walk per phase.

struct Axis {
  int64_t count = 1;  // positions
  int64_t taps = 1;
  int64_t result = 1;  // the extents of both tensors
  int64_t source = 1;

  int64_t first = 0, step = 1;
  int64_t origin = 0, stride = 1, dilation = 1;
  int64_t first_element = 0, element_step = 1;  // of the kernel, by tap

  int64_t element(int64_t tap) const { return first_element + tap * element_step; }
  /// Whether all that is read lies in the source.
  bool inside() const {
    return origin >= 0 && origin + (count - 1) * stride + (taps - 1) * dilation < source;
  }
};

constexpr int kAxes = 4;

struct Walk {
  std::array<Axis, kAxes> axes;  // the batch and three dimensions of space
  int64_t groups = 1;
  int64_t channels = 0;  // of the source, in one group
  int64_t outputs = 0;   // of the result, in one group
  int64_t kernel[3] = {1, 1, 1};

  int64_t kernel_elements() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t taps() const { return axes[1].taps * axes[2].taps * axes[3].taps; }
};

// Borders

/// Positions [first, first + count) of an axis, all of which read taps [tap, tap + taps) from
/// inside the source.
struct AxisRange {
  int64_t first, count;
  int64_t tap, taps;
};

/// Which positions of an axis read outside the source.
class Borders {
 public:
  explicit Borders(const Axis& axis) : axis_(axis) {
    const int64_t last = axis.origin + (axis.taps - 1) * axis.dilation;
    begin_ = std::min(axis.count, steps_to(-axis.origin, axis.stride));
    end_ =
        last < axis.source ? std::min(axis.count, (axis.source - 1 - last) / axis.stride + 1) : 0;
  }

  /// Few enough to treat each on its own.
  bool are_narrow() const { return begin_ + axis_.count - end_ <= kMostPositions; }

  /// Cuts positions [first, first + count) into ranges.
  void find_ranges(int64_t first, int64_t count, std::vector<AxisRange>& ranges) const {
    ranges.clear();
    const int64_t end = first + count;
    for (int64_t i = first; i < end;) {
      if (i >= begin_ && i < end_) {
        const int64_t stop = std::min(end, end_);
        ranges.push_back({i - first, stop - i, 0, axis_.taps});
        i = stop;
        continue;
      }

      const int64_t start = axis_.origin + i * axis_.stride;
      const int64_t rest = axis_.source - 1 - start;
      const int64_t tap = std::min(axis_.taps, steps_to(-start, axis_.dilation));
      const int64_t stop = rest < 0 ? 0 : std::min(axis_.taps, rest / axis_.dilation + 1);
      ranges.push_back({i - first, 1, tap, std::max<int64_t>(0, stop - tap)});
      ++i;
    }
  }

 private:
  static constexpr int64_t kMostPositions = 4;

  /// The steps that cover a distance; 0 if it is negative.
  static int64_t steps_to(int64_t distance, int64_t step) {
    return distance <= 0 ? 0 : (distance - 1) / step + 1;
  }

  const Axis& axis_;
  int64_t begin_;  // of the positions that read nothing outside
  int64_t end_;
};

inline Walk forward_walk(const ConvolutionGeometry& g) {
  Walk walk;
  walk.groups = g.groups;
  walk.channels = g.group_channels();
  walk.outputs = g.group_outputs();
  std::copy_n(g.kernel, 3, walk.kernel);

  Axis& batch = walk.axes[0];
  batch.count = batch.result = batch.source = g.batch;
  for (int d = 0; d < 3; ++d) {
    Axis& axis = walk.axes[d + 1];
    axis.count = axis.result = g.output[d];
    axis.source = g.input[d];
    axis.taps = g.kernel[d];
    axis.origin = -g.padding[d];
    axis.stride = g.stride[d];
    axis.dilation = g.dilation[d];
  }
  return walk;
}

/// The phases of one dimension of an input gradient. Phases without taps are left out.
inline std::vector<Axis> gradient_phases(const ConvolutionGeometry& g, int d) {
  const int64_t stride = g.stride[d];
  const int64_t dilation = g.dilation[d];
  const int64_t common = std::gcd(stride, dilation);
  const int64_t distance = stride / common;  // of taps of the same phase

  std::vector<Axis> phases;
  for (int64_t k = 0; k < std::min(distance, g.kernel[d]); ++k) {
    // The first position r with r + padding = k * dilation, up to multiples of the stride.
    const int64_t rest = (k * dilation - g.padding[d]) % stride;
    const int64_t r = rest < 0 ? rest + stride : rest;
    if (r >= g.input[d]) continue;

    Axis axis;
    axis.result = g.input[d];
    axis.source = g.output[d];
    axis.first = r;
    axis.step = stride;
    axis.count = (g.input[d] - r - 1) / stride + 1;
    axis.taps = (g.kernel[d] - 1 - k) / distance + 1;
    axis.dilation = dilation / common;
    axis.origin = (r + g.padding[d] - k * dilation) / stride - (axis.taps - 1) * axis.dilation;
    axis.first_element = k + (axis.taps - 1) * distance;
    axis.element_step = -distance;
    phases.push_back(axis);
  }
  return phases;
}

/// The walks of an input gradient.
inline std::vector<Walk> gradient_walks(const ConvolutionGeometry& g) {
  Walk walk;
  walk.groups = g.groups;
  walk.channels = g.group_outputs();
  walk.outputs = g.group_channels();
  std::copy_n(g.kernel, 3, walk.kernel);
  Axis& batch = walk.axes[0];
  batch.count = batch.result = batch.source = g.batch;

  const std::vector<Axis> phases[] = {gradient_phases(g, 0), gradient_phases(g, 1),
                                      gradient_phases(g, 2)};
  std::vector<Walk> walks;
  for (const Axis& z : phases[0]) {
    for (const Axis& y : phases[1]) {
      for (const Axis& x : phases[2]) {
        walk.axes = {walk.axes[0], z, y, x};
        walks.push_back(walk);
      }
    }
  }
  return walks;
}

/// Where the elements of a dense tensor lie: contiguous or channels_last.
struct Layout {
  int64_t step[kAxes];  // of positions
  int64_t channel;      // the distance of channels
  int64_t channels;     // of all groups

  bool channels_last() const { return channel == 1; }
};

inline Layout layout_of(const Walk& walk, int64_t Axis::* extent, int64_t channels,
                        bool channels_last) {
  Layout layout;
  layout.channels = channels;
  const bool last = channels_last || channels == 1;

  int64_t step = last ? channels : 1;
  for (int d = kAxes - 1; d > 0; --d) {
    layout.step[d] = step;
    step *= walk.axes[d].*extent;
  }
  layout.channel = last ? 1 : step;
  layout.step[0] = last ? step : step * channels;
  return layout;
}

// Blocks

/// Positions [first, first + count) in each axis.
struct Block {
  int64_t first[kAxes];
  int64_t count[kAxes];

  int64_t positions() const { return count[0] * count[1] * count[2] * count[3]; }
};

/// The number of source coordinates from the first to the last that `count` positions read.
inline uint64_t spanned_extent(const Axis& axis, int64_t count) {
  // Each product fits into a signed integer, but not always the sum.
  return static_cast<uint64_t>((count - 1) * axis.stride) +
         static_cast<uint64_t>((axis.taps - 1) * axis.dilation) + 1;
}

/// Whether all coordinates between those that are read are copied. Otherwise one is copied per
/// position and tap, because those are fewer.
inline bool copies_span(const Axis& axis, int64_t count) {
  return spanned_extent(axis, count) <= static_cast<uint64_t>(count * axis.taps);
}

/// The number of source coordinates that are copied for `count` positions.
inline int64_t copied_extent(const Axis& axis, int64_t count) {
  return copies_span(axis, count) ? static_cast<int64_t>(spanned_extent(axis, count))
                                  : count * axis.taps;
}

/// A walk cut into blocks whose part of the source stays in the second-level cache.
class Blocks {
 public:
  explicit Blocks(const Walk& walk) {
    int64_t positions = kPositions;
    int64_t elements = std::max<int64_t>(1, kElements / std::max<int64_t>(1, walk.channels));

    for (int d = kAxes - 1; d >= 0; --d) {
      const Axis& axis = walk.axes[d];
      counts_[d] = axis.count;
      int64_t size = std::clamp<int64_t>(positions, 1, std::max<int64_t>(1, axis.count));
      const int64_t least = d == kAxes - 1 ? std::min<int64_t>(size, kLeastLine) : 1;
      while (size > least && copied_extent(axis, size) > elements)
        size = std::max(least, (size + 1) / 2);

      const int64_t parts = std::max<int64_t>(1, (axis.count + size - 1) / size);
      size_[d] = std::max<int64_t>(1, (axis.count + parts - 1) / parts);
      parts_[d] = (axis.count + size_[d] - 1) / size_[d];
      positions = std::max<int64_t>(1, positions / size_[d]);
      elements =
          std::max<int64_t>(1, elements / std::max<int64_t>(1, copied_extent(axis, size_[d])));
    }
  }

  int64_t number() const { return parts_[0] * parts_[1] * parts_[2] * parts_[3]; }

  /// The most positions in a block.
  int64_t largest() const { return size_[0] * size_[1] * size_[2] * size_[3]; }

  /// The most source positions that are copied for one.
  int64_t copied(const Walk& walk) const {
    int64_t total = 1;
    for (int d = 0; d < kAxes; ++d) total *= copied_extent(walk.axes[d], size_[d]);
    return total;
  }

  Block operator[](int64_t i) const {
    Block block;
    for (int d = kAxes - 1; d >= 0; --d) {
      block.first[d] = i % parts_[d] * size_[d];
      block.count[d] = std::min(size_[d], counts_[d] - block.first[d]);
      i /= parts_[d];
    }
    return block;
  }

 private:
  static constexpr int64_t kPositions = 1024;
  static constexpr int64_t kElements = int64_t{3} << 15;  // of the source
  static constexpr int64_t kLeastLine = 28;

  int64_t counts_[kAxes];
  int64_t size_[kAxes];
  int64_t parts_[kAxes];
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
