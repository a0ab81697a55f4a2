#pragma once
// Results that are channels_last where their input is.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "c10/core/TensorImpl.h"

namespace at::native {

/// A result of `sizes` in the memory format of `like`, whose dtype and device it has. Without a
/// dimension of samples in front of channels and `spatial` dimensions there is no channels_last.
inline TensorSpec spec_in_format_of(const Tensor& like, IntArrayRef sizes, size_t spatial) {
  const bool last =
      sizes.size() == spatial + 2 && like.suggest_memory_format() != MemoryFormat::Contiguous;
  return {DimVector(sizes), like.scalar_type(), like.device(),
          last ? channels_last_strides(sizes) : DimVector()};
}

/// A dense tensor as loops over its last `spatial` dimensions see it: (outer, planes of spatial
/// elements, inner). Inner are the channels of a channels_last tensor, which lie next to each
/// other; otherwise it is 1 and outer counts samples and channels.
struct PlaneLayout {
  MemoryFormat format;
  int64_t outer = 1, inner = 1;

  /// That of the input where the result could have either: a result of one element per channel is
  /// contiguous and channels_last.
  PlaneLayout(const Tensor& result, int64_t spatial, const Tensor& input)
      : format(MemoryFormat::Contiguous) {
    const IntArrayRef sizes = result.sizes();
    const int64_t leading = result.dim() - spatial;
    const MemoryFormat wanted = input.suggest_memory_format();
    if (leading == 2 && !result.is_contiguous()) format = result.suggest_memory_format();
    if (leading == 2 && wanted != MemoryFormat::Contiguous && result.is_contiguous(wanted))
      format = wanted;
    if (format == MemoryFormat::Contiguous) {
      for (int64_t d = 0; d < leading; ++d) outer *= sizes[d];
    } else {
      outer = sizes[0];
      inner = sizes[1];
    }
  }
};

}  // namespace at::native
