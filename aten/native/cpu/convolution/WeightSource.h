#pragma once
// The weight of a convolution on its way to the tiles: read in place, copied, or packed and kept.
// Included by files compiled once per instruction set.
#include <algorithm>

#include "aten/native/cpu/convolution/Plan.h"
#include "aten/native/cpu/shared/Tasks.h"
#include "aten/native/shared/PackedWeights.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Copies weights between (outputs, channels, elements) and (outputs, elements, channels).
template <class From, class To>
void transpose_weights(const From* from, int64_t outputs, int64_t rows, int64_t columns, To* to) {
  const int64_t size = std::max<int64_t>(1, rows * columns);
  parallel_for(
      0, outputs, std::max<int64_t>(1, kDefaultGrainSize / size), [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
          for (int64_t c = 0; c < columns; ++c) {
            for (int64_t r = 0; r < rows; ++r)
              to[o * size + c * rows + r] = static_cast<To>(from[o * size + r * columns + c]);
          }
        }
      });
}

template <class T>
class WeightSource {
 public:
  /// Reads the tensor only when it is asked for elements.
  WeightSource(const Plan& plan, const Tensor& weight) : plan_(plan), weight_(weight) {}

  /// Whether in_place() differs from rows(): several elements and channels, which come first.
  bool taps_adjacent() const { return needs_copy(plan_); }
  static bool needs_copy(const Plan& plan) {
    const ConvolutionGeometry& g = plan.geometry;
    return !plan.channels_last() && g.kernel_elements() > 1 && g.group_channels() > 1;
  }

  /// The weight, dense in the format of the plan.
  const T* in_place() const {
    if (!dense_.defined()) dense_ = for_reading(weight_, plan_.format);
    return dense_.template const_data_ptr<T>();
  }

  /// The weight as (outputs, kernel elements, channels of a group).
  const T* rows() const {
    if (!needs_copy(plan_)) return in_place();
    if (!rows_.defined()) {
      const ConvolutionGeometry& g = plan_.geometry;
      rows_ = empty_tensor({weight_.numel()}, scalar_type_of<T>, kCPU);
      transpose_weights(in_place(), g.outputs, g.group_channels(), g.kernel_elements(),
                        rows_.template data_ptr<T>());
    }
    return rows_.template const_data_ptr<T>();
  }

  /// Memory with `elements` packed elements, kept from an earlier call or filled by pack(memory).
  template <class Packed, class Pack>
  Tensor packed(Packer packer, bool gradient, int64_t elements, const Pack& pack) const {
    const auto fill = [&](void* memory) { pack(static_cast<Packed*>(memory)); };
    const int64_t bytes = elements * static_cast<int64_t>(sizeof(Packed));
    const ConvolutionGeometry& g = plan_.geometry;
    const PackedForm form{packer, {gradient, plan_.channels_last(), g.groups, g.kernel_elements()}};
    Tensor memory = packed_weight(weight_, form, bytes, fill);
    if (memory.defined()) return memory;

    memory = empty_tensor({bytes}, kByte, kCPU);
    fill(memory.data());
    return memory;
  }

 private:
  const Plan plan_;
  const Tensor& weight_;
  mutable Tensor dense_;
  mutable Tensor rows_;
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
