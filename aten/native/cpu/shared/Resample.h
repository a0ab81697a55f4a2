#pragma once
// Interpolation, average pooling, padding and their gradients as one linear map per dimension.
#include "aten/native/shared/Taps.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Fills `out` with `self` mapped by `taps` along its last `spatial` dimensions.
void resample(const char* name, const AxesTaps& taps, int64_t spatial, const Tensor& self,
              const Tensor& out);

}  // namespace CPU_CAPABILITY
}  // namespace at::native
