#pragma once
// Copies between tensors and the order in which the tiles of convolutions read and write. Included
// by files compiled once per instruction set.
#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/blas/tile/Elements.h"
#include "aten/native/cpu/convolution/Walk.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace tile = blas::tile::CPU_CAPABILITY;

// Note [Staging]
// Before it is multiplied, the part of the source that a block reads is copied into scratch memory
// with channels last, with zeros around it, and in the type in which tiles multiply: floats, or
// pairs of BFloat16 channels. Tiles then read windows in place, without looking at borders.

/// Transposes `lines` lines of `length` elements. read(i, p, n) is a vector of n elements of line i
/// from p on; write(p, i, n, v) takes the elements at p of n lines from i on.
template <class T, class Read, class Write>
inline void transpose_lines(int64_t lines, int64_t length, const Read& read, const Write& write) {
  constexpr int W = tile::kWidth<T>;
  for (int64_t i = 0; i < lines; i += W) {
    const int64_t height = std::min<int64_t>(W, lines - i);
    for (int64_t p = 0; p < length; p += W) {
      const int64_t width = std::min<int64_t>(W, length - p);
      tile::Vector<T> square[W];
      if (height == W && width == W) {
#pragma GCC unroll 16
        for (int k = 0; k < W; ++k) square[k] = read(i + k, p, W);
      } else {
        for (int k = 0; k < W; ++k)
          square[k] = k < height ? read(i + k, p, width) : tile::Vector<T>{};
      }

      tile::transpose_square<T>(square);

      if (height == W && width == W) {
#pragma GCC unroll 16
        for (int k = 0; k < W; ++k) write(p + k, i, W, square[k]);
      } else {
        for (int64_t k = 0; k < width; ++k) write(p + k, i, height, square[k]);
      }
    }
  }
}

template <class T>
inline void store_some(T* to, tile::Vector<T> value, int64_t count) {
  if (count == tile::kWidth<T>) tile::store(to, value);
  else tile::Prefix<T>(count).store(to, value);
}

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
        copy_run(from, count * channels, to);
        return;
      }

      for (int64_t i = 0; i < count; ++i) copy_run(from + i * step, channels, to + i * to_step);
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

 private:
  static void copy_run(const Stored* from, int64_t count, Packed* to) {
    if constexpr (std::is_same_v<Stored, Packed>) {
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Packed));
    } else {
      constexpr int W = tile::kWidth<Packed>;
      for (int64_t i = 0; i < count; i += W) {
        const int64_t n = std::min<int64_t>(W, count - i);
        store_some(to + i, tile::load_converted<Packed>(from + i, n), n);
      }
    }
  }
};

/// Copies of channels: element i of a position of `size` elements is channel index[i].
/// Within a vector, indices do not decrease.
struct Spread {
  int64_t size;
  std::vector<int32_t> index;

  /// Copies one position. Both may be read and written up to a vector further.
  template <class T>
  void copy(const T* from, T* to) const {
    for (int64_t i = 0; i < size; i += tile::kWidth<T>) copy_vector(from, index.data() + i, to + i);
  }

 private:
  /// The channels of a vector mostly lie in a vector, too.
  template <class T>
  static void copy_vector(const T* from, const int32_t* index, T* to) {
    constexpr int W = tile::kWidth<T>;
#if defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
      const tile::Vector<int32_t> all = tile::load(index);
      const tile::Vector<int32_t> here = all - index[0];

      if (index[W - 1] - index[0] < W) {
        const tile::Vector<T> value = tile::load(from + index[0]);
#if defined(__AVX512F__)
        tile::store(to, tile::Vector<T>(_mm512_maskz_permutexvar_ps(0xffff, __m512i(here), value)));
#else
        tile::store(to, tile::Vector<T>(_mm256_permutevar8x32_ps(value, __m256i(here))));
#endif
        return;
      }
    }
#endif

    for (int i = 0; i < W; ++i) to[i] = from[index[i]];
  }
};

/// The part of the source that one block reads, as tiles see it.
template <class E>
class StagedSource {
 public:
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;

  const Packed* data = nullptr;
  int64_t position[kAxes];  // the distance of positions
  int64_t tap[kAxes];       // of taps

  /// `spread` may be null. Tiles that read `reads` elements at once read the source itself only if
  /// its channels are multiples of that.
  StagedSource(const Walk& walk, const Layout& layout, const Spread* spread, int64_t reads)
      : walk_(walk),
        layout_(layout),
        spread_(spread),
        packed_(Stage<E>::packed(walk.channels)),
        place_(spread ? spread->size : packed_) {
    in_place_ = std::is_same_v<Stored, Packed> && layout.channels_last() && spread == nullptr &&
                layout.channels % reads == 0;
    for (int d = 0; d < kAxes; ++d) in_place_ = in_place_ && walk.axes[d].inside();
    for (int d = 0; d < kAxes; ++d) {
      position[d] = walk.axes[d].stride * layout.step[d];
      tap[d] = walk.axes[d].dilation * layout.step[d];
    }
  }

  /// The elements of scratch memory that a block needs.
  int64_t elements(const Blocks& blocks) const {
    return in_place_ ? 0 : blocks.copied(walk_) * (place_ + (spread_ ? packed_ : 0)) + kSlack;
  }

  /// The elements between neighbours in a line, and in one position.
  int64_t packed_channels() const { return place_; }

  /// Switches to a block of one group; `scratch` is large enough for it.
  void set(const Stored* in, const Block& block, int64_t group, Packed* scratch) {
    channels_ = std::min(walk_.channels, layout_.channels - group * walk_.channels);
    in += group * walk_.channels * layout_.channel;
    if constexpr (std::is_same_v<Stored, Packed>) {
      if (in_place_) {
        data = in;
        for (int d = 0; d < kAxes; ++d) {
          const Axis& axis = walk_.axes[d];
          data += (axis.origin + block.first[d] * axis.stride) * layout_.step[d];
        }
        return;
      }
    }

    int64_t step = place_;
    for (int d = kAxes - 1; d >= 0; --d) {
      find_places(d, block);
      const Axis& axis = walk_.axes[d];
      position[d] = (dense_[d] ? axis.stride : axis.taps) * step;
      tap[d] = (dense_[d] ? axis.dilation : 1) * step;
      step *= static_cast<int64_t>(places_[d].size());
    }
    find_runs();
    data = scratch;
    if (spread_ == nullptr) return copy(in, scratch);

    const int64_t positions = step / place_;
    Packed* const copied = scratch + positions * place_;
    copy(in, copied);
    for (int64_t p = 0; p < positions; ++p)
      spread_->copy(copied + p * packed_, scratch + p * place_);
  }

 private:
  /// Coordinates of the source from `source` on, at a constant distance of 1, or a border.
  struct LineRun {
    int64_t at, count, source;
  };

  /// The coordinates that are copied in one axis; -1 is outside.
  void find_places(int d, const Block& block) {
    const Axis& axis = walk_.axes[d];
    const int64_t count = block.count[d];
    const int64_t extent = copied_extent(axis, count);
    const int64_t origin = axis.origin + block.first[d] * axis.stride;
    dense_[d] = copies_span(axis, count);

    std::vector<int64_t>& places = places_[d];
    places.resize(static_cast<size_t>(extent));
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t place =
          origin + (dense_[d] ? i : i / axis.taps * axis.stride + i % axis.taps * axis.dilation);
      places[static_cast<size_t>(i)] = place >= 0 && place < axis.source ? place : -1;
    }
  }

  void find_runs() {
    runs_.clear();
    const std::vector<int64_t>& places = places_[3];
    const auto size = static_cast<int64_t>(places.size());
    for (int64_t i = 0; i < size;) {
      const int64_t start = i;
      const int64_t first = places[static_cast<size_t>(i)];
      for (++i; i < size; ++i) {
        const int64_t place = places[static_cast<size_t>(i)];
        if (place != (first < 0 ? -1 : first + i - start)) break;
      }
      runs_.push_back({start, i - start, first});
    }
  }

  void copy(const Stored* in, Packed* out) const {
    const int64_t line = static_cast<int64_t>(places_[3].size()) * packed_;
    for (const int64_t n : places_[0]) {
      for (const int64_t z : places_[1]) {
        for (const int64_t y : places_[2]) {
          if (z < 0 || y < 0) std::fill_n(out, line, Packed(0));
          else copy_line(in + n * layout_.step[0] + z * layout_.step[1] + y * layout_.step[2], out);
          out += line;
        }
      }
    }
  }

  void copy_line(const Stored* in, Packed* out) const {
    for (const LineRun& run : runs_) {
      Packed* const to = out + run.at * packed_;
      const Stored* const from = in + run.source * layout_.step[3];
      if (run.source < 0) {
        std::fill_n(to, run.count * packed_, Packed(0));
      } else if (layout_.channels_last()) {
        Stage<E>::copy_pixels(from, layout_.step[3], run.count, channels_, to, packed_);
      } else if (run.count < 4) {
        for (int64_t i = 0; i < run.count; ++i)
          Stage<E>::copy_pixel(from + i, layout_.channel, channels_, to + i * packed_);
      } else {
        Stage<E>::transpose_pixels(from, layout_.channel, run.count, channels_, to, packed_);
      }
    }
  }

  static constexpr int64_t kSlack = 64;  // tiles of lanes read whole vectors

  const Walk& walk_;
  const Layout& layout_;
  const Spread* spread_;
  int64_t packed_;        // elements of a position as they are copied
  int64_t place_;         // and as tiles read them
  int64_t channels_ = 0;  // of the group, which may be the last
  bool in_place_;
  bool dense_[kAxes];
  std::vector<int64_t> places_[kAxes];
  std::vector<LineRun> runs_;  // of a line
};

// Results

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
      for (int i = 0; i < W; ++i) bits[i] = static_cast<Stored>(value[i]).x;
    }

    if (count == W) std::memcpy(to, &bits, sizeof(bits));
    else std::memcpy(to, &bits, static_cast<size_t>(count) * sizeof(Stored));
  }
}

/// Converts and stores a line of sums.
template <class Stored, class Sum>
inline void store_line(const Sum* from, int64_t count, Stored* to) {
  constexpr int W = tile::kWidth<Sum>;
  for (int64_t i = 0; i < count; i += W) {
    const int64_t n = std::min<int64_t>(W, count - i);
    store_converted<Stored, Sum>(to + i, tile::load_converted<Sum>(from + i, n), n);
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
