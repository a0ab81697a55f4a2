#pragma once
// Kernels that are compiled once per instruction set: their declaration, and the choice at
// start-up.
#include "c10/cpu/CpuInfo.h"

// Declares a kernel of aten/native/cpu. A kernel file (the build defines CPU_CAPABILITY_AVX2 or the
// like) sees the variant that it defines, in the inline namespace it defines it in; all other files
// see every variant. Those that this build does not have are null: were they told apart by macros,
// a build with other instruction sets would compile every file again.
#if defined(CPU_CAPABILITY_DEFAULT) || defined(CPU_CAPABILITY_AVX2) || \
    defined(CPU_CAPABILITY_AVX512)
#define TORCH_PY_KERNEL(...)        \
  inline namespace CPU_CAPABILITY { \
  __VA_ARGS__;                      \
  }
#else
#define TORCH_PY_KERNEL(...) \
  namespace DEFAULT {        \
  __VA_ARGS__;               \
  }                          \
  namespace AVX2 {           \
  [[gnu::weak]] __VA_ARGS__; \
  }                          \
  namespace AVX512 {         \
  [[gnu::weak]] __VA_ARGS__; \
  }
#endif

/// The variant of kernel `name` for this processor, of the function type that follows; to be used
/// inside namespace at::native.
#define TORCH_PY_CHOOSE_KERNEL(name, ...) \
  ::at::native::choose_kernel<__VA_ARGS__>(&DEFAULT::name, &AVX2::name, &AVX512::name)

namespace at::native {

template <class Schema>
Schema* choose_kernel(Schema* baseline, Schema* avx2, Schema* avx512) {
  const auto capability = c10::cpu_capability();
  if (avx512 != nullptr && capability >= c10::CpuCapability::AVX512) return avx512;
  if (avx2 != nullptr && capability >= c10::CpuCapability::AVX2) return avx2;
  return baseline;
}

}  // namespace at::native
