#pragma once
// Copies positions of a tensor into the order and the type in which tiles read them. Included by
// files compiled once per instruction set.
#include <cstring>

#include "aten/native/cpu/convolution/Results.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

// Note [Staging]
// Before it is multiplied, the part of the source that a block reads is copied into scratch memory
// with channels last, with zeros around it, and in the type in which tiles multiply: floats, or
// pairs of BFloat16 channels. Tiles then read windows in place, without looking at borders.

/// How elements of type E (see aten/blas/tile/Elements.h) are staged.
template <class E>
struct Stage {
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;
  static constexpr int64_t kGroup = E::kGroup;

  /// The packed elements of a position.
  static int64_t packed(int64_t channels) { return (channels + kGroup - 1) / kGroup; }

  /// Copies positions whose channels are adjacent.
  static void copy_pixels(const Stored* from, int64_t step, int64_t count, int64_t channels,
                          Packed* to, int64_t to_step) {
    if constexpr (kGroup == 2) {
      if (channels == 2 * to_step && step == channels) {
        std::memcpy(to, from, static_cast<size_t>(count * channels) * sizeof(Stored));
        return;
      }

      for (int64_t i = 0; i < count; ++i, from += step, to += to_step) {
        if (channels % 2 != 0) to[packed(channels) - 1] = 0;
        std::memcpy(to, from, static_cast<size_t>(channels) * sizeof(Stored));
      }
    } else {
      if (step == channels && to_step == channels) {
        store_line(from, count * channels, to);
        return;
      }

      for (int64_t i = 0; i < count; ++i) store_line(from + i * step, channels, to + i * to_step);
    }
  }

  /// Copies positions that are adjacent in each channel. `to_step` is the distance of positions.
  static void transpose_pixels(const Stored* from, int64_t channel, int64_t count, int64_t channels,
                               Packed* to, int64_t to_step) {
    const auto read = [&](int64_t i, int64_t p, int64_t n) {
      if constexpr (kGroup == 2) {
        // Two channels, element by element.
        const tile::Prefix<uint16_t> part(n);

        const auto line = [&](int64_t c) {
          return c < channels ? part.load(reinterpret_cast<const uint16_t*>(from + c * channel + p))
                              : tile::Vector<uint16_t>{};
        };

        tile::Vector<uint16_t> low, high;
        tile::interleave<uint16_t>(line(2 * i), line(2 * i + 1), low, high);
        return tile::Vector<uint32_t>(low);
      } else {
        return tile::load_converted<Packed>(from + i * channel + p, n);
      }
    };
    const auto write = [&](int64_t p, int64_t i, int64_t n, tile::Vector<Packed> value) {
      store_some(to + p * to_step + i, value, n);
    };
    transpose_lines<Packed>(packed(channels), count, read, write);
  }

  /// One position with its channels anywhere.
  static void copy_pixel(const Stored* from, int64_t channel, int64_t channels, Packed* to) {
    if constexpr (kGroup == 2) {
      for (int64_t c = 0; c < channels; c += 2) {
        const uint32_t low = from[c * channel].x;
        const uint32_t high = c + 1 < channels ? from[(c + 1) * channel].x : 0;
        to[c / 2] = low | high << 16;
      }
    } else {
      for (int64_t c = 0; c < channels; ++c) to[c] = static_cast<Packed>(from[c * channel]);
    }
  }
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
