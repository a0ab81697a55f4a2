#pragma once
// Weights in the panels of Note [Tiles of a convolution]. Included by files compiled once per
// instruction set.
#include <algorithm>

#include "aten/native/cpu/convolution/Spread.h"
#include "aten/native/cpu/convolution/Stage.h"
#include "aten/native/cpu/convolution/WeightSource.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

struct LaneOrder;

/// Packs weights (outputs of the convolution, kernel elements, channels of a group). In a gradient,
/// the lanes are the channels.
template <class E>
class PanelWeights {
 public:
  using Stored = typename E::Stored;
  using Packed = typename E::Packed;
  static constexpr int64_t kLanes = tile::kTileVectors * tile::kWidth<Packed>;

  PanelWeights(const Walk& walk, const WeightSource<Stored>& weights, bool gradient)
      : walk_(walk),
        gradient_(gradient),
        panels_((walk.outputs + kLanes - 1) / kLanes),
        tap_(Stage<E>::packed(walk.channels) * kLanes),
        memory_(weights.template packed<Packed>(
            Packer::ConvolutionPanels, gradient,
            panels_ * walk.groups * walk.kernel_elements() * tap_ + tile::kWidth<Packed>,
            [&](Packed* to) { pack(weights, to); })) {}

  int64_t panels() const { return panels_; }
  const Spread* spread() const { return nullptr; }
  const LaneOrder* order() const { return nullptr; }
  /// The distance of taps in a panel.
  int64_t tap() const { return tap_; }
  const Packed* panel(int64_t group, int64_t i) const {
    return static_cast<const Packed*>(memory_.data()) + place(group, i);
  }

 private:
  int64_t place(int64_t group, int64_t i) const {
    return (group * panels_ + i) * walk_.kernel_elements() * tap_;
  }

  void pack(const WeightSource<Stored>& weights, Packed* to) const {
    // Vectors of outputs are transposed from where they lie; other orders are copied first.
    const bool in_place = !gradient_ && E::kGroup == 1 && weights.taps_adjacent();
    const Stored* const from = in_place ? weights.in_place() : weights.rows();

    const int64_t panel = std::max<int64_t>(1, walk_.kernel_elements() * tap_);
    const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / panel);
    parallel_for(0, panels_ * walk_.groups, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / panels_;
        Packed* const out = to + place(group, i % panels_);
        const Stored* const part =
            from + group * walk_.outputs * walk_.channels * walk_.kernel_elements();
        if (in_place) transpose_panel(part, i % panels_, out);
        else pack_panel(part, i % panels_, out);
      }
    });
  }

  /// From weights (outputs, channels, kernel elements).
  void transpose_panel(const Stored* weights, int64_t i, Packed* out) const {
    if constexpr (E::kGroup == 1) {
      const int64_t taps = walk_.kernel_elements();
      const int64_t row = taps * walk_.channels;
      weights += i * kLanes * row;

      const auto read = [&](int64_t line, int64_t p, int64_t n) {
        return tile::load_converted<Packed>(weights + line * row + p, n);
      };
      const auto write = [&](int64_t p, int64_t line, int64_t, tile::Vector<Packed> value) {
        tile::store(out + p % taps * tap_ + p / taps * kLanes + line, value);
      };
      transpose_lines<Packed>(std::min(kLanes, walk_.outputs - i * kLanes), row, read, write);
    }
  }

  /// From weights (outputs, kernel elements, channels).
  void pack_panel(const Stored* weights, int64_t i, Packed* out) const {
    const int64_t first = i * kLanes;
    const int64_t count = std::min(kLanes, walk_.outputs - first);
    const int64_t taps = walk_.kernel_elements();
    const int64_t inner = gradient_ ? walk_.outputs : walk_.channels;
    const int64_t row = taps * inner;  // of an output of the convolution

    // Panels of the others are written later, so vectors may run over.
    if (!gradient_ && walk_.channels % E::kGroup == 0) {
      E::pack_lanes({weights + first * row, row, 1}, count, row, out, kLanes);
      return;
    }
    for (int64_t k = 0; k < taps; ++k, out += tap_) {
      if (gradient_)
        E::pack_lanes({weights + k * inner + first, 1, row}, count, walk_.channels, out, kLanes);
      else E::pack_lanes({weights + first * row + k * inner, row, 1}, count, inner, out, kLanes);
    }
  }

  const Walk walk_;
  bool gradient_;
  int64_t panels_;
  int64_t tap_;
  Tensor memory_;
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
