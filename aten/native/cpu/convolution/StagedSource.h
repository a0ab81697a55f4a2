#pragma once
// The part of a source that a block of positions reads. Included by files compiled once per
// instruction set.
#include <array>
#include <vector>

#include "aten/native/cpu/convolution/Spread.h"
#include "aten/native/cpu/convolution/Stage.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

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
  /// its channels are multiples of that. `clipped` tells for each axis whether the tiles read
  /// nothing outside the source.
  StagedSource(const Walk& walk, const Layout& layout, const Spread* spread, int64_t reads,
               const std::array<bool, kAxes>& clipped = {})
      : walk_(walk),
        layout_(layout),
        spread_(spread),
        packed_(Stage<E>::packed(walk.channels)),
        place_(spread ? spread->size : packed_) {
    in_place_ = std::is_same_v<Stored, Packed> && layout.channels_last() && spread == nullptr &&
                layout.channels % reads == 0;
    for (size_t d = 0; d < kAxes; ++d)
      in_place_ = in_place_ && (clipped[d] || walk.axes[d].inside());
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

}  // namespace CPU_CAPABILITY
}  // namespace at::native
