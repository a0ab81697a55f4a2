#pragma once
// Integer arithmetic that wraps around, as it does in tensors. It is computed with unsigned
// integers, because signed overflow is undefined in C++. Sums, products and bit operations do not
// depend on the sign and need one loop per element size instead of one per dtype.
#include <cstdint>
#include <type_traits>

#include "c10/core/ScalarType.h"
#include "c10/util/Export.h"

// Note [Functors]
// The headers of this directory hold the arithmetic of kernels, for all devices: structs of which a
// kernel runs one for each element, and functions that choose one by dtype and hand it to the
// caller's loop. They are in unnamed namespaces because CPU kernels are compiled once per
// instruction set, and because compilers inline what no other file can call more freely: any() down
// columns took 1.4 times as long otherwise.

namespace at::native {
namespace {

/// The unsigned type to compute in. Small types are widened to uint32_t, because C++ would widen
/// them to int, in which a product can overflow.
template <class T>
using modular_t = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

/// a * b, wrapped around.
template <class T>
C10_HOST_DEVICE inline T multiply_modular(T a, T b) {
  return static_cast<T>(static_cast<modular_t<T>>(a) * static_cast<modular_t<T>>(b));
}

/// Calls f.operator()<T>() with the unsigned type T of an integer dtype's size.
template <class F>
void dispatch_modular(c10::ScalarType type, const F& f) {
  switch (c10::element_size(type)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

}  // namespace
}  // namespace at::native
