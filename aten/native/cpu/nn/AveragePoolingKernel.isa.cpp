// Average pooling and its gradient, each as one linear map per dimension (see Resample.h).
#include "aten/native/declarations/cpu/nn/AveragePoolingKernel.isa.h"
#include "aten/native/cpu/shared/Resample.h"
#include "aten/native/shared/ResamplingRules.h"
#include "aten/native/shared/WideAverage.h"
#include "aten/ops/zero.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void _avg_pool_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                      IntArrayRef padding, bool /*in the size of out0*/, bool count_include_pad,
                      std::optional<int64_t> divisor_override, const Tensor& out0) {
  if (out0.numel() == 0) return;  // other sizes of the result may be too large to list its taps

  const AverageArguments arguments{self.sizes(), out0.sizes(),      kernel_size,     stride,
                                   padding,      count_include_pad, divisor_override};
  if (has_wide_windows(arguments)) return average_wide_windows(arguments, false, self, out0);

  const auto taps = average_axes(self.sizes(), out0.sizes(), kernel_size, stride, padding,
                                 count_include_pad, divisor_override);
  resample("avg_pool", taps, static_cast<int64_t>(kernel_size.size()), self, out0);
}

void _avg_pool_backward_kernel(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size,
                               IntArrayRef stride, IntArrayRef padding,
                               bool /*in the size of grad*/, bool count_include_pad,
                               std::optional<int64_t> divisor_override, const Tensor& out0) {
  if (out0.numel() == 0) return;
  if (grad.numel() == 0) return void(at::zero_(out0));

  const AverageArguments arguments{sizes,   grad.sizes(),      kernel_size,     stride,
                                   padding, count_include_pad, divisor_override};
  if (has_wide_windows(arguments)) return average_wide_windows(arguments, true, grad, out0);

  const auto taps = average_axes(sizes, grad.sizes(), kernel_size, stride, padding,
                                 count_include_pad, divisor_override);
  resample("avg_pool_backward", transposed_taps(taps), static_cast<int64_t>(kernel_size.size()),
           grad, out0);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
