#pragma once
// The taps of resampling operators (interpolation, average pooling, padding) from their arguments.
#include "aten/native/shared/Taps.h"

namespace at::native {

AxesTaps interpolation_axes(const Tensor& self, IntArrayRef sizes, IntArrayRef output_size,
                            std::string_view mode, bool align_corners, ArrayRef<double> scales,
                            bool antialias);
AxesTaps average_axes(IntArrayRef sizes, IntArrayRef output_sizes, IntArrayRef kernel_size,
                      IntArrayRef stride, IntArrayRef padding, bool count_include_pad,
                      std::optional<int64_t> divisor_override);

/// `pad` lists widths as the operator pad does: last dimension first.
AxesTaps padding_axes(IntArrayRef sizes, IntArrayRef pad, std::string_view mode);

}  // namespace at::native
