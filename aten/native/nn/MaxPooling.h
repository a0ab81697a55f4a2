#pragma once
// Shared by the kernels of max pooling on all devices: results without indices, and the types in
// which elements are compared.
#include "aten/Dispatch.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"

namespace at::native {

/// A device's kernel of `_max_pool`. Undefined indices are not computed.
using MaxPoolKernel = void (*)(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                               IntArrayRef padding, IntArrayRef dilation, bool ceil_mode,
                               const Tensor& values, const Tensor& indices);

/// Pools over `spatial` dimensions without memory for the indices, which only a gradient needs.
TORCH_PY_API Tensor max_pool_values(MaxPoolKernel kernel, size_t spatial, const Tensor& self,
                                    IntArrayRef kernel_size, IntArrayRef stride,
                                    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);

namespace {

/// Calls pool_as<T>(input, values), where T is the type in which elements are compared. Integers
/// are compared as int64, so that one instance serves them all.
template <class PoolAs>
void pool_in_compared_type(const char* name, const Tensor& input, const Tensor& values,
                           const PoolAs& pool_as) {
  if (is_integral(input.scalar_type(), true)) {
    const Tensor wide =
        values.scalar_type() == kLong
            ? values
            : empty_strided_tensor(values.sizes(), values.strides(), kLong, values.device());
    pool_as.template operator()<int64_t>(input.to(kLong), wide);
    if (!wide.is_same(values)) at::copy_(values, wide);
    return;
  }

  AT_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), name,
                                   [&] { pool_as.template operator()<scalar_t>(input, values); });
}

}  // namespace
}  // namespace at::native
