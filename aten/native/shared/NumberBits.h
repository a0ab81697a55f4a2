#pragma once
// The bits of a number as an element of a dtype: code that only writes them needs one loop per
// element size instead of one per dtype.
#include <cstring>

#include "c10/core/Scalar.h"
#include "c10/util/Exception.h"

namespace at::native {

/// Calls f(bits) with `value`, converted to `type` and checked to fit, as an unsigned integer of
/// that size, or as two doubles.
template <class F>
void with_bits_of(const Scalar& value, ScalarType type, const F& f) {
  // Converts the number to the dtype.
  c10::complex<double> memory(0, 0);
  switch (type) {
#define CASE(cpp, name, python)                      \
  case ScalarType::name: {                           \
    const cpp element = value.to<cpp>();             \
    std::memcpy(&memory, &element, sizeof(element)); \
    break;                                           \
  }
    TORCH_PY_FORALL_SCALAR_TYPES(CASE)
#undef CASE
    case ScalarType::Undefined: TORCH_CHECK(false, "a tensor of undefined dtype has no values");
  }

  const auto call = [&](auto bits) {
    std::memcpy(&bits, &memory, sizeof(bits));
    f(bits);
  };

  switch (element_size(type)) {
    case 1: return call(uint8_t());
    case 2: return call(uint16_t());
    case 4: return call(uint32_t());
    case 8: return call(uint64_t());
    default: return call(c10::complex<double>());
  }
}

}  // namespace at::native
