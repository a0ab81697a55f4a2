#pragma once
// Loops over tensors (batch, channels, plane): sums for each channel, and maps with values of the
// channel. Included by files compiled once per instruction set.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/parallel/Parallel.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Channel loops]
// The loops go over large planes one after another, with vectors along the plane. Small planes (one
// element for matrices) would not fill a vector: there, a sample is one row of channels * plane
// columns, and the values of a channel are repeated for its columns.

/// The sizes of a contiguous or channels_last tensor as the loops see them.
struct ChannelShape {
  int64_t batch, channels, plane = 1;

  explicit ChannelShape(const Tensor& tensor)
      : batch(tensor.sizes()[0]), channels(tensor.sizes()[1]) {
    for (int64_t d = 2; d < tensor.dim(); ++d) plane *= tensor.sizes()[d];
    // channels_last: every position is a row of channels.
    if (!tensor.is_contiguous()) batch *= std::exchange(plane, 1);
  }
  bool by_column() const { return plane < 16; }
  int64_t columns() const { return channels * plane; }
  int64_t count() const { return batch * plane; }
};

/// The values that the loops pass to f(index, values...): one per channel, or one per column.
template <typename acc_t, size_t N>
class ChannelValues {
 public:
  ChannelValues(const ChannelShape& shape, const std::array<const acc_t*, N>& per_channel)
      : pointers_(per_channel) {
    if (!shape.by_column() || shape.plane == 1) return;

    columns_.resize(N * shape.columns());
    for (size_t k = 0; k < N; ++k) {
      acc_t* to = columns_.data() + k * shape.columns();
      for (int64_t i = 0; i < shape.columns(); ++i) to[i] = per_channel[k][i / shape.plane];
      pointers_[k] = to;
    }
  }
  const acc_t* operator[](size_t k) const { return pointers_[k]; }

 private:
  std::array<const acc_t*, N> pointers_;
  std::vector<acc_t> columns_;
};

/// sum_channels for small planes: the columns are summed first, blocks of them at a time.
template <typename acc_t, typename F>
void sum_columns_of_channels(const ChannelShape& shape, const ChannelValues<acc_t, 1>& values,
                             acc_t* sums, const F& f) {
  constexpr int64_t kWidth = 64;
  const int64_t columns = shape.columns();
  const int64_t blocks = (columns + kWidth - 1) / kWidth;
  std::vector<double> totals(columns);
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, shape.batch * kWidth));

  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kWidth;
      const int64_t width = std::min(kWidth, columns - first);
      double total[kWidth] = {};
      for (int64_t n = 0; n < shape.batch; ++n) {
        for (int64_t j = 0; j < width; ++j)
          total[j] += f(n * columns + first + j, values[0][first + j]);
      }
      std::copy_n(total, width, totals.data() + first);
    }
  });

  for (int64_t c = 0; c < shape.channels; ++c) {
    double total = 0;
    for (int64_t i = 0; i < shape.plane; ++i) total += totals[c * shape.plane + i];
    sums[c] = static_cast<acc_t>(total);
  }
}

/// sums[channel] = sum of f(index, value of the channel) over the elements of the channel.
template <typename acc_t, typename F>
void sum_channels(const ChannelShape& shape, const acc_t* per_channel, acc_t* sums, const F& f) {
  const ChannelValues<acc_t, 1> values(shape, {per_channel});
  if (shape.by_column()) return sum_columns_of_channels(shape, values, sums, f);

  constexpr int64_t kLanes = 16;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, shape.count()));

  parallel_for(0, shape.channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const acc_t value = values[0][c];
      double total = 0;

      for (int64_t n = 0; n < shape.batch; ++n) {
        const int64_t first = (n * shape.channels + c) * shape.plane;
        acc_t lanes[kLanes] = {};
        int64_t i = 0;
        for (; i + kLanes <= shape.plane; i += kLanes) {
          for (int64_t j = 0; j < kLanes; ++j) lanes[j] += f(first + i + j, value);
        }
        for (int64_t j = 0; i < shape.plane; ++i, ++j) lanes[j] += f(first + i, value);
        for (const acc_t lane : lanes) total += lane;
      }

      sums[c] = static_cast<acc_t>(total);
    }
  });
}

/// Calls f(index, values of the channel...) for every element.
template <typename acc_t, size_t N, typename F>
void map_channels(const ChannelShape& shape, const std::array<const acc_t*, N>& per_channel,
                  const F& f) {
  const ChannelValues<acc_t, N> values(shape, per_channel);
  const bool by_column = shape.by_column();
  const int64_t rows = by_column ? shape.batch : shape.batch * shape.channels;
  const int64_t length = by_column ? shape.columns() : shape.plane;
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, length));

  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      [&]<size_t... K>(std::index_sequence<K...>) {
        if (by_column) {
#pragma GCC ivdep
          for (int64_t i = 0; i < length; ++i) f(row * length + i, values[K][i]...);
        } else {
          const int64_t c = row % shape.channels;
          const std::array<acc_t, N> value{values[K][c]...};
#pragma GCC ivdep
          for (int64_t i = 0; i < length; ++i) f(row * length + i, value[K]...);
        }
      }(std::make_index_sequence<N>());
    }
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
