#pragma once
// Memory formats of results that are channels_last if their input is.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "c10/core/TensorImpl.h"

namespace at::native {

/// A result of `sizes` with the memory format, dtype and device of `like`. Only sizes of (samples,
/// channels, `spatial` dimensions) can be channels_last.
inline TensorSpec spec_in_format_of(const Tensor& like, IntArrayRef sizes, size_t spatial) {
  const bool last =
      sizes.size() == spatial + 2 && like.suggest_memory_format() != MemoryFormat::Contiguous;
  return {DimVector(sizes), like.scalar_type(), like.device(),
          last ? channels_last_strides(sizes) : DimVector()};
}

/// A dense tensor as seen by loops over its last `spatial` dimensions: (outer, plane, inner). In a
/// channels_last tensor, inner counts the channels, which are adjacent in memory. Otherwise inner
/// is 1, and outer counts samples and channels.
struct PlaneLayout {
  MemoryFormat format;
  int64_t outer = 1, inner = 1;

  /// The layout of `result`. If it is both contiguous and channels_last (one element per channel),
  /// the format of `input` decides.
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
