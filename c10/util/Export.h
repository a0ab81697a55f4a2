// Visibility of symbols and hints for the compiler.
#pragma once

// Everything is compiled with -fvisibility=hidden. Declarations that another shared object may use
// are marked TORCH_PY_API one by one. Classes that are thrown or dynamic_cast across shared objects
// need it too: their type_info must be unique.
#define TORCH_PY_API __attribute__((visibility("default")))
#define TORCH_PY_HIDDEN __attribute__((visibility("hidden")))

#define C10_LIKELY(expression) (__builtin_expect(static_cast<bool>(expression), 1))
#define C10_UNLIKELY(expression) (__builtin_expect(static_cast<bool>(expression), 0))
#define C10_NOINLINE __attribute__((noinline))

// A function that kernels on a GPU may call, too. Under any other compiler than nvcc it is an
// ordinary one, and a table of constants an ordinary variable.
#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#else
#define C10_HOST_DEVICE
#endif
#define C10_ALWAYS_INLINE C10_HOST_DEVICE C10_ALWAYS_INLINE_ON_HOST
#define C10_ALWAYS_INLINE_ON_HOST inline __attribute__((always_inline))

// An array of constants: `C10_DEVICE_TABLE double kTable[] = {...}`. Device code has a copy of its
// own in each file, as it cannot read the host's.
#ifdef __CUDA_ARCH__
#define C10_DEVICE_TABLE static __device__ constexpr
#else
#define C10_DEVICE_TABLE inline constexpr
#endif

namespace c10 {}
namespace at {
using namespace c10;  // so that operators use c10's types without naming the layer each time
}  // namespace at
