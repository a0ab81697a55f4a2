// AT_VEC_ON_DEVICE: where a function of aten/vec is another one in kernels on a GPU.
#pragma once

#include "c10/util/Export.h"

// Note [Functions on a device]
// Functions of aten/vec are host and device, and compute the same on both, except those that begin
// with AT_VEC_ON_DEVICE: CUDA's maths library has them with at most 2 units in the last place of
// error, in fewer instructions than our polynomials and without double. Those that it has with more
// (pow, tan, sinh, hypot, atan2, erfc ...) keep our formulas, which compute in double. The names
// are the C library's too, which the emulation calls instead.
#if defined(__CUDA_ARCH__)
#define AT_VEC_ON_DEVICE(...) \
  if constexpr (true) return __VA_ARGS__
#elif defined(TORCH_PY_CUDA_EMULATION)
#include <cmath>
#define AT_VEC_ON_DEVICE(...) return __VA_ARGS__
#else
#define AT_VEC_ON_DEVICE(...)
#endif
