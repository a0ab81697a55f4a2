#pragma once
// Kernels that are compiled once per instruction set: their declaration, and the choice at
// start-up.
#include "c10/cpu/CpuInfo.h"

// Declares a kernel of aten/native/cpu. A kernel file (the build defines CPU_CAPABILITY_AVX2 or the
// like) sees only the variant that it defines, in the inline namespace of that instruction set; all
// other files see every variant. Variants that this build lacks are weak symbols and null at run
// time: telling them apart by macros would recompile every file for other instruction sets.
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

/// The variant of kernel `name` for this processor. Used inside namespace at::native; the name must
/// not be overloaded.
#define TORCH_PY_CHOOSE_KERNEL(name) \
  ::at::native::choose_kernel(&DEFAULT::name, &AVX2::name, &AVX512::name)

namespace at::native {

template <class Schema>
Schema* choose_kernel(Schema* baseline, Schema* avx2, Schema* avx512) {
  const auto capability = c10::cpu_capability();
  if (avx512 != nullptr && capability >= c10::CpuCapability::AVX512) return avx512;
  if (avx2 != nullptr && capability >= c10::CpuCapability::AVX2) return avx2;
  return baseline;
}

}  // namespace at::native
