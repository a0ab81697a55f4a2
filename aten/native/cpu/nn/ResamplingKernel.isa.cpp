// Interpolation and its gradient on the CPU, as one linear map per dimension (see Resample.h).
#include "aten/native/declarations/cpu/nn/ResamplingKernel.isa.h"
#include "aten/native/cpu/shared/Resample.h"
#include "aten/native/shared/ResamplingRules.h"
#include "aten/ops/zero.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void _interpolate_kernel(const Tensor& self, IntArrayRef output_size, std::string_view mode,
                         bool align_corners, ArrayRef<double> scales, bool antialias,
                         const Tensor& out0) {
  if (out0.numel() == 0) return;  // other sizes of the result may be too large to list its taps

  const auto taps =
      interpolation_axes(self, self.sizes(), output_size, mode, align_corners, scales, antialias);

  resample("interpolate", taps, static_cast<int64_t>(output_size.size()), self, out0);
}

void _interpolate_backward_kernel(const Tensor& grad, IntArrayRef sizes, IntArrayRef output_size,
                                  std::string_view mode, bool align_corners,
                                  ArrayRef<double> scales, bool antialias, const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (grad.numel() == 0) return void(at::zero_(out0));

  const auto taps =
      interpolation_axes(grad, sizes, output_size, mode, align_corners, scales, antialias);

  resample("interpolate_backward", transposed_taps(taps), static_cast<int64_t>(output_size.size()),
           grad, out0);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
