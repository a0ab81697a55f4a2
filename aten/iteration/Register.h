#pragma once
// Vector registers of the instruction set that a file is compiled for.
#include <cstddef>

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

#if defined(__AVX512F__)
inline constexpr size_t kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr size_t kRegisterBytes = 32;
#else
inline constexpr size_t kRegisterBytes = 16;
#endif

template <typename T, size_t kBytes>
struct RegisterOf {
  typedef T type __attribute__((vector_size(kBytes)));
};

/// A register, or the part of one, with kBytes bytes of elements of T.
template <typename T, size_t kBytes = kRegisterBytes>
using Register = typename RegisterOf<T, kBytes>::type;

}  // namespace CPU_CAPABILITY
}  // namespace at::native
