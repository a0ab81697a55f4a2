// The instructions of a GPU that round float to 16 bits. Included by Half.h and BFloat16.h only.
#pragma once

#include <cstdint>

// The instructions round as the integer arithmetic does, except that every NaN becomes the
// canonical one.

namespace c10::detail::native {

__device__ __forceinline__ float half_to_float(uint16_t half) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(half));
  return result;
}

__device__ __forceinline__ uint16_t float_to_half(float value) {
  uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ uint16_t float_to_bfloat16(float value) {
  uint16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}
#endif

}  // namespace c10::detail::native
