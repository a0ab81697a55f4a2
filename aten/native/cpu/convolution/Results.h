#pragma once
// Stores blocks of sums to the result of a convolution. Included by files compiled once per
// instruction set.
#include <algorithm>
#include <cstring>

#include "aten/native/cpu/convolution/Lines.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// The positions of a block in runs that are at the same distance in the result.
struct AdjacentPositions {
  int64_t length;  // of a run
  int64_t counts[kAxes];

  AdjacentPositions(const Walk& walk, const Block& block) : length(block.count[3]) {
    std::copy_n(block.count, kAxes, counts);
    counts[3] = 1;
    for (int d = 2; d > 0; --d) {
      const Axis& inner = walk.axes[d + 1];
      if (inner.step != 1 || block.count[d + 1] != inner.result || walk.axes[d].step != 1) break;
      length *= counts[d];
      counts[d] = 1;
    }
  }

  /// Calls f(place) for the first element of each run, relative to that of the block.
  template <class F>
  void for_each(const Walk& walk, const Layout& layout, const F& f) const {
    for (int64_t n = 0; n < counts[0]; ++n) {
      for (int64_t z = 0; z < counts[1]; ++z) {
        for (int64_t y = 0; y < counts[2]; ++y)
          f(n * layout.step[0] + z * walk.axes[1].step * layout.step[1] +
            y * walk.axes[2].step * layout.step[2]);
      }
    }
  }
};

/// The bits of a vector of floats that are reduced to 16.
typedef uint16_t NarrowBits __attribute__((vector_size(tile::kVectorBytes / 2)));

/// Converts and stores the first `count` of a vector of sums.
template <class Stored, class Sum>
inline void store_converted(Stored* to, tile::Vector<Sum> value, int64_t count) {
  constexpr int W = tile::kWidth<Sum>;
  if constexpr (std::is_same_v<Stored, Sum>) {
    store_some(to, value, count);
  } else {
    NarrowBits bits;
    if constexpr (std::is_same_v<Stored, c10::BFloat16>) {
      // Rounded to the nearest, ties to even; nan stays nan.
      const auto wide = tile::Vector<uint32_t>(value);
      const auto rounded = (wide + 0x7fffu + (wide >> 16 & 1u)) >> 16;
      const auto quiet = wide >> 16 | 0x40u;
      bits = __builtin_convertvector(value == value ? rounded : quiet, NarrowBits);
    } else {
#if defined(__AVX512F__)
      // With a mask, because GCC 12 warns of the form without.
      bits = NarrowBits(_mm512_maskz_cvtps_ph(0xffff, value, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX2__)
      bits = NarrowBits(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
#else
      for (int i = 0; i < W; ++i) bits[i] = static_cast<Stored>(value[i]).x;
#endif
    }

    if (count == W) std::memcpy(to, &bits, sizeof(bits));
    else std::memcpy(to, &bits, static_cast<size_t>(count) * sizeof(Stored));
  }
}

/// Copies a line, converting between numbers as they are stored and as they are summed.
template <class From, class To>
inline void store_line(const From* from, int64_t count, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(To));
  } else {
    using Wide = std::conditional_t<sizeof(From) == 2, To, From>;
    constexpr int W = tile::kWidth<Wide>;
    for (int64_t i = 0; i < count; i += W) {
      const int64_t n = std::min<int64_t>(W, count - i);
      store_converted<To, Wide>(to + i, tile::load_converted<Wide>(from + i, n), n);
    }
  }
}

/// Stores `positions` x `channels` sums, `from_step` apart, to positions `step` apart and channels
/// `channel` apart.
template <class Stored, class Sum>
void store_positions(const Sum* from, int64_t from_step, int64_t positions, int64_t channels,
                     Stored* to, int64_t step, int64_t channel) {
  if (channel == 1) {
    for (int64_t p = 0; p < positions; ++p)
      store_line(from + p * from_step, channels, to + p * step);
    return;
  }
  if (step != 1 || positions < 4) {
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t c = 0; c < channels; ++c)
        to[p * step + c * channel] = static_cast<Stored>(from[p * from_step + c]);
    }
    return;
  }

  const auto read = [&](int64_t i, int64_t p, int64_t n) {
    return tile::load_converted<Sum>(from + i * from_step + p, n);
  };
  const auto write = [&](int64_t c, int64_t i, int64_t n, tile::Vector<Sum> value) {
    store_converted<Stored, Sum>(to + c * channel + i, value, n);
  };
  transpose_lines<Sum>(positions, channels, read, write);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
