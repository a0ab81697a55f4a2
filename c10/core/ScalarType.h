// Dtypes: the list of element types, their properties, and conversion between them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "c10/util/BFloat16.h"
#include "c10/util/Export.h"
#include "c10/util/Float8.h"
#include "c10/util/Half.h"
#include "c10/util/complex.h"

namespace c10 {

// (C++ type, enumerator, Python name). The Python names are also the dtype names of
// native_functions.yaml.
//
// Note [Storage dtypes]
// The dtypes after BFloat16 can be stored, moved and converted. Arithmetic on them, where it
// exists, runs in a wider type (see TensorIterator). They are in none of the dtype sets that
// kernels are instantiated for; code that moves elements only asks for their size.
#define TORCH_PY_FORALL_SCALAR_TYPES(_)                       \
  _(uint8_t, Byte, uint8)                                     \
  _(int8_t, Char, int8)                                       \
  _(int16_t, Short, int16)                                    \
  _(int32_t, Int, int32)                                      \
  _(int64_t, Long, int64)                                     \
  _(::c10::Half, Half, float16)                               \
  _(float, Float, float32)                                    \
  _(double, Double, float64)                                  \
  _(::c10::complex<float>, ComplexFloat, complex64)           \
  _(::c10::complex<double>, ComplexDouble, complex128)        \
  _(bool, Bool, bool)                                         \
  _(::c10::BFloat16, BFloat16, bfloat16)                      \
  _(uint16_t, UInt16, uint16)                                 \
  _(uint32_t, UInt32, uint32)                                 \
  _(uint64_t, UInt64, uint64)                                 \
  _(::c10::Float8_e4m3fn, Float8_e4m3fn, float8_e4m3fn)       \
  _(::c10::Float8_e5m2, Float8_e5m2, float8_e5m2)             \
  _(::c10::Float8_e4m3fnuz, Float8_e4m3fnuz, float8_e4m3fnuz) \
  _(::c10::Float8_e5m2fnuz, Float8_e5m2fnuz, float8_e5m2fnuz) \
  _(::c10::Float8_e8m0fnu, Float8_e8m0fnu, float8_e8m0fnu)    \
  _(::c10::complex<::c10::Half>, ComplexHalf, complex32)

/// Element type of a tensor. The order is not the promotion order; see promote_types.
enum class ScalarType : int8_t {
#define TORCH_PY_ENUM(type, name, python) name,
  TORCH_PY_FORALL_SCALAR_TYPES(TORCH_PY_ENUM)
#undef TORCH_PY_ENUM
      Undefined
};
constexpr int kNumScalarTypes = static_cast<int>(ScalarType::Undefined);

#define TORCH_PY_CONSTANT(type, name, python) constexpr ScalarType k##name = ScalarType::name;
TORCH_PY_FORALL_SCALAR_TYPES(TORCH_PY_CONSTANT)
#undef TORCH_PY_CONSTANT

template <typename T>
struct CppTypeToScalarType;
template <ScalarType type>
struct ScalarTypeToCppType;
#define TORCH_PY_MAP(cpp, name, python)                   \
  template <>                                             \
  struct CppTypeToScalarType<cpp> {                       \
    static constexpr ScalarType value = ScalarType::name; \
  };                                                      \
  template <>                                             \
  struct ScalarTypeToCppType<ScalarType::name> {          \
    using type = cpp;                                     \
  };
TORCH_PY_FORALL_SCALAR_TYPES(TORCH_PY_MAP)
#undef TORCH_PY_MAP

template <typename T>
constexpr ScalarType scalar_type_of = CppTypeToScalarType<T>::value;

/// Bytes per element.
constexpr size_t element_size(ScalarType type) {
  switch (type) {
#define TORCH_PY_SIZE(cpp, name, python) \
  case ScalarType::name: return sizeof(cpp);
    TORCH_PY_FORALL_SCALAR_TYPES(TORCH_PY_SIZE)
#undef TORCH_PY_SIZE
    case ScalarType::Undefined: return 0;
  }
  return 0;
}

constexpr bool is_complex(ScalarType t) {
  return t == kComplexFloat || t == kComplexDouble || t == kComplexHalf;
}

constexpr bool is_float8(ScalarType t) { return t >= kFloat8_e4m3fn && t <= kFloat8_e8m0fnu; }

/// The unsigned integers that do not promote with other integers: all but uint8.
constexpr bool is_wide_unsigned(ScalarType t) {
  return t == kUInt16 || t == kUInt32 || t == kUInt64;
}
/// See Note [Storage dtypes].
constexpr bool is_storage_only(ScalarType t) { return t > kBFloat16 && t < ScalarType::Undefined; }

constexpr bool is_floating(ScalarType t) {
  return t == kFloat || t == kDouble || t == kHalf || t == kBFloat16 || is_float8(t);
}

/// Integers; includes bool only if include_bool.
constexpr bool is_integral(ScalarType t, bool include_bool) {
  return t == kByte || t == kChar || t == kShort || t == kInt || t == kLong ||
         is_wide_unsigned(t) || (include_bool && t == kBool);
}

constexpr bool is_reduced_floating(ScalarType t) { return t == kHalf || t == kBFloat16; }

constexpr bool is_signed(ScalarType t) {
  return t != kByte && t != kBool && !is_wide_unsigned(t) && t != kFloat8_e8m0fnu;
}

constexpr ScalarType to_complex(ScalarType t) {
  return t == kDouble    ? kComplexDouble
         : t == kHalf    ? kComplexHalf
         : is_complex(t) ? t
                         : kComplexFloat;
}

constexpr ScalarType to_real(ScalarType t) {
  return t == kComplexFloat    ? kFloat
         : t == kComplexDouble ? kDouble
         : t == kComplexHalf   ? kHalf
                               : t;
}

/// Accumulation type of reductions and of arithmetic on reduced precision: float for half and
/// bfloat16.
constexpr ScalarType to_accumulate(ScalarType t) {
  return is_reduced_floating(t) || is_float8(t) ? kFloat : t == kComplexHalf ? kComplexFloat : t;
}

/// PyTorch's promotion lattice (bool < uint8, int8.. < float16 | bfloat16 < float32 < float64 <
/// complex). float8 promotes with no other dtype, uint16 to uint64 only with floating-point dtypes;
/// anything else throws an Error.
TORCH_PY_API ScalarType promote_types(ScalarType a, ScalarType b);
/// Whether a result of type `from` may be written to a tensor of type `to` (same or higher kind).
TORCH_PY_API bool can_cast(ScalarType from, ScalarType to);

/// The name in error messages: "Float".
TORCH_PY_API const char* scalar_type_name(ScalarType type);
/// The name in Python: "float32".
TORCH_PY_API const char* dtype_name(ScalarType type);
/// The C++ name, which messages about out= and the factors of products use: "long int".
TORCH_PY_API const char* cpp_type_name(ScalarType type);
TORCH_PY_API void append_to(std::string& out, ScalarType type);

TORCH_PY_API ScalarType default_dtype();
TORCH_PY_API void set_default_dtype(ScalarType type);

/// The type in which pointwise loops compute: float for anything narrower.
template <typename T>
struct OpMath {
  using type = T;
};
template <>
struct OpMath<Half> {
  using type = float;
};
template <>
struct OpMath<BFloat16> {
  using type = float;
};
template <class Format>
struct OpMath<Float8<Format>> {
  using type = float;
};
template <>
struct OpMath<complex<Half>> {
  using type = complex<float>;
};
template <typename T>
using opmath_type = typename OpMath<T>::type;

/// Converts a value as PyTorch's casts do: float to bool is "!= 0", complex to real drops the
/// imaginary part.
template <typename To, typename From>
C10_HOST_DEVICE To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (is_complex(scalar_type_of<From>)) {
      return value.real() != 0 || value.imag() != 0;
    } else {
      return static_cast<opmath_type<From>>(value) != opmath_type<From>(0);
    }
  } else if constexpr (is_complex(scalar_type_of<From>)) {
    if constexpr (is_complex(scalar_type_of<To>)) {
      using value_t = decltype(std::declval<To>().real());
      return To(static_cast<value_t>(value.real()), static_cast<value_t>(value.imag()));
    } else {
      return convert<To>(value.real());
    }
  } else if constexpr (is_complex(scalar_type_of<To>)) {
    using value_t = decltype(std::declval<To>().real());
    return To(static_cast<value_t>(static_cast<opmath_type<From>>(value)), value_t(0));
  } else if constexpr (std::is_same_v<To, uint64_t> && is_floating(scalar_type_of<From>)) {
    // As in the next branch, in two halves.
    constexpr auto kTop = static_cast<opmath_type<From>>(9223372036854775808.0);
    const auto number = static_cast<opmath_type<From>>(value);
    const bool large = number >= kTop;
    return static_cast<uint64_t>(static_cast<int64_t>(large ? number - kTop : number)) ^
           (uint64_t{large} << 63);
  } else if constexpr (std::is_unsigned_v<To> && is_floating(scalar_type_of<From>)) {
    // Negative floats to unsigned are undefined in C++; go through int64, as PyTorch does.
    return static_cast<To>(static_cast<int64_t>(static_cast<opmath_type<From>>(value)));
  } else {
    return static_cast<To>(static_cast<opmath_type<From>>(value));
  }
}

}  // namespace c10
