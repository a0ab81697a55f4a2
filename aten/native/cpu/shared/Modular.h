#pragma once
// Integer arithmetic that wraps around, as tensors' does: signed overflow is undefined in C++,
// unsigned is not. What does not depend on the sign (sums, products, bits) needs one loop per
// element size, not one per dtype.
#include <cstdint>
#include <type_traits>

#include "c10/core/ScalarType.h"
#include "c10/util/Exception.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Unsigned type to compute in: small ones are widened here, because C++ would widen them to int,
/// in which a product can overflow.
template <class T>
using modular_t = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <class T>
inline T multiply_modular(T a, T b) {
  return static_cast<T>(static_cast<modular_t<T>>(a) * static_cast<modular_t<T>>(b));
}

/// Calls f.operator()<unsigned type of that size>() for an integer dtype.
template <class F>
void dispatch_modular(c10::ScalarType type, const F& f) {
  switch (c10::element_size(type)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
