// Channels.cuh: loops over tensors (batch, channels, plane): reductions of each channel, and maps
// with values of the channel.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/Rows.cuh"
#include "aten/native/cuda/WideDivisor.h"

// Note [Channels on a device]
// A channel is a row in the sense of Note [Rows]: of planes that are a sample apart, or, in a
// channels_last tensor, of single elements. As there may be fewer channels than the device has
// processors, each is reduced in slices, whose number depends only on the sizes. A formula stores
// the result of a slice at place.row = slice * channels + channel, and a second one joins them.

namespace at::native::cuda {

/// The sizes of a contiguous or channels_last tensor.
struct ChannelShape {
  int64_t batch, channels, plane = 1;

  ChannelShape(int64_t batch_, int64_t channels_, int64_t plane_)
      : batch(batch_), channels(channels_), plane(plane_) {}
  explicit ChannelShape(const Tensor& tensor)
      : batch(tensor.sizes()[0]), channels(tensor.sizes()[1]) {
    for (int64_t d = 2; d < tensor.dim(); ++d) plane *= tensor.sizes()[d];
    // channels_last: every position is a row of channels.
    if (!tensor.is_contiguous()) batch *= std::exchange(plane, 1);
  }
  int64_t count() const { return batch * plane; }  // elements of a channel
  bool is_empty() const { return batch * channels * plane == 0; }
};

/// How the elements of a channel are shared among blocks.
struct ChannelSlices {
  int64_t size, count;

  explicit ChannelSlices(const ChannelShape& shape) {
    constexpr int64_t kBlocks = 1024;
    constexpr int64_t kLeast = 4096;  // elements of a slice
    const int64_t wanted = detail::ceil_div(kBlocks, std::max<int64_t>(1, shape.channels));
    // Slices begin at whole packs.
    size = std::max(kLeast, detail::ceil_div(detail::ceil_div(shape.count(), wanted), 64) * 64);
    count = std::max<int64_t>(1, detail::ceil_div(shape.count(), size));
  }
};

/// Over elements [begin, end) of a channel, whose planes are `stride` apart.
template <int width>
struct ChannelWalk {
  static constexpr bool kIsHeld = false;
  static constexpr int kWidth = width;
  static constexpr int kSlots = 1;

  int64_t begin, end;
  int index, count;
  WideDivisor plane;
  int64_t stride;

  template <class F>
  SIMT_DEVICE void each(const F& f) const {
    for (int64_t first = begin + int64_t{index} * width; first < end;
         first += int64_t{count} * width)
      f(0, first);
  }
  SIMT_DEVICE int64_t offset(int64_t first) const {
    const int64_t sample = plane.quotient(first);
    return sample * (stride - plane.value()) + first;
  }
};

namespace detail {

template <int width, class Formula>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kMostThreads)
    channels_kernel(Formula formula, WideDivisor plane, int64_t count, int64_t per_slice) {
  const int64_t channel = simt::block_x();
  const int64_t channels = simt::grid_dim_x();
  const int64_t slice = simt::block_y();
  const int64_t begin = slice * per_slice;
  const int64_t end = begin + per_slice < count ? begin + per_slice : count;

  RowThreads threads;
  const RowPlace place{slice * channels + channel, channel * plane.value()};
  const ChannelWalk<width> walk{begin,           end,   threads.index(),
                                threads.count(), plane, channels * plane.value()};
  formula(place, walk, threads);
}

/// A formula on columns that are cut into slices, of which the last one may be shorter.
template <class Formula>
struct Sliced {
  Formula formula;
  int64_t columns, count;

  template <class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const StridedWalk& walk,
                              Threads& threads) const {
    StridedWalk part = walk;
    const int64_t rest = count - place.row / columns * walk.size;
    if (rest < part.size) part.size = rest;
    formula(place, part, threads);
  }
};

}  // namespace detail

/// Runs a formula on every slice of every channel.
template <class T, class Formula>
void for_each_channel(const char* name, const ChannelShape& shape, const ChannelSlices& slices,
                      bool aligned, const Formula& formula) {
  constexpr int kWidth = 16 / sizeof(T);
  if (shape.channels == 0) return;
  if (shape.plane == 1)
    return for_each_column(name, {slices.count, slices.size, shape.channels},
                           detail::Sliced<Formula>{formula, shape.channels, shape.count()});

  const auto launch = [&](auto kernel, int width) {
    const int64_t most = std::min(slices.size, shape.count());
    const auto warps = detail::ceil_div(most, int64_t{32} * width);
    const auto threads = static_cast<unsigned>(std::clamp<int64_t>(32 * warps, 32, kMostThreads));
    c10::cuda::launch(
        name, kernel,
        dim3(static_cast<unsigned>(shape.channels), static_cast<unsigned>(slices.count)),
        dim3(threads), 0, c10::cuda::current_stream(), formula,
        WideDivisor(std::max<int64_t>(1, shape.plane)), shape.count(), slices.size);
  };
  if (aligned && shape.plane % kWidth == 0 && shape.plane > 0)
    return launch(&detail::channels_kernel<kWidth, Formula>, kWidth);
  launch(&detail::channels_kernel<1, Formula>, 1);
}

/// The channels of the elements of a pack.
template <int width>
struct PackPlace {
  int64_t first;  // offset in memory
  int64_t channel;
  int step;  // 1 where neighbours are of different channels

  SIMT_DEVICE int64_t channel_of(int j) const { return channel + j * step; }
};

namespace detail {

inline constexpr int kMapThreads = 256;

template <int width, class Map>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kMapThreads)
    channel_map_kernel(Map map, int64_t packs, WideDivisor plane, WideDivisor channels) {
  const int64_t pack = int64_t{simt::block_x()} * kMapThreads + simt::thread_x();
  if (pack >= packs) return;

  const int64_t first = pack * width;
  const int64_t channel = channels.remainder(plane.quotient(first));
  map(PackPlace<width>{first, channel, plane.value() == 1 ? 1 : 0});
}

}  // namespace detail

/// Calls map(PackPlace) for all elements.
template <class T, class Map>
void map_channels(const char* name, const ChannelShape& shape, bool aligned, const Map& map) {
  constexpr int kWidth = 16 / sizeof(T);
  if (shape.is_empty()) return;

  const auto launch = [&](auto kernel, int width) {
    const int64_t packs = shape.count() * shape.channels / width;
    c10::cuda::launch(name, kernel,
                      dim3(static_cast<unsigned>(detail::ceil_div(packs, detail::kMapThreads))),
                      dim3(detail::kMapThreads), 0, c10::cuda::current_stream(), map, packs,
                      WideDivisor(shape.plane), WideDivisor(shape.channels));
  };
  // A pack lies in one plane, or in one row of channels.
  const int64_t adjacent = shape.plane == 1 ? shape.channels : shape.plane;
  if (aligned && adjacent % kWidth == 0)
    return launch(&detail::channel_map_kernel<kWidth, Map>, kWidth);
  launch(&detail::channel_map_kernel<1, Map>, 1);
}

}  // namespace at::native::cuda
