#pragma once
// pow, with shorter ways for frequent constant exponents.
#include "aten/Dispatch.h"
#include "aten/native/functors/Modular.h"
#include "aten/vec/math.h"

namespace at::native {
namespace {

/// The power by repeated squaring, modulo 2^bits. A negative exponent gives 0, unless the base is 1
/// or -1, whose reciprocals are integers.
template <class T>
struct IntegerPower {
  C10_HOST_DEVICE T operator()(T base, T exponent) const {
    if (std::is_signed_v<T> && exponent < 0) {
      if (base == T(1)) return 1;
      return base == static_cast<T>(-1) ? static_cast<T>(exponent % 2 == 0 ? 1 : -1) : T(0);
    }

    T result = 1;
    for (; exponent != 0; exponent = static_cast<T>(exponent >> 1)) {
      if (exponent & 1) result = multiply_modular<T>(result, base);
      base = multiply_modular<T>(base, base);
    }
    return result;
  }
};

template <class T>
struct Power {
  C10_HOST_DEVICE T operator()(T base, T exponent) const {
    using opmath_t = opmath_type<T>;
    return static_cast<T>(vec::pow(static_cast<opmath_t>(base), static_cast<opmath_t>(exponent)));
  }
};

// Powers with one exponent for all elements.

struct SquareOf {
  template <class T>
  C10_HOST_DEVICE T operator()(T x) const {
    return x * x;
  }
};

struct CubeOf {
  template <class T>
  C10_HOST_DEVICE T operator()(T x) const {
    return x * x * x;
  }
};

struct RootOf {
  template <class T>
  C10_HOST_DEVICE T operator()(T x) const {
    return vec::sqrt(x);
  }
};

struct ReciprocalOf {
  template <class T>
  C10_HOST_DEVICE T operator()(T x) const {
    return vec::reciprocal(x);
  }
};

template <class T, class Op>
struct KnownPower {
  template <class V>
  C10_HOST_DEVICE V computed(V base, V) const {
    return Op()(base);
  }
  C10_HOST_DEVICE T operator()(T base, T exponent) const {
    using opmath_t = opmath_type<T>;
    return static_cast<T>(computed(static_cast<opmath_t>(base), static_cast<opmath_t>(exponent)));
  }
};

/// Calls run(functor) with the functor of a power. `exponent` is the address of the exponent of all
/// elements, or null where it is not known.
template <class T, class Run>
void with_floating_power(const T* exponent, const Run& run) {
  using opmath_t = opmath_type<T>;
  if (exponent != nullptr) {
    const auto value = static_cast<opmath_t>(*exponent);
    if (value == opmath_t(2)) return run(KnownPower<T, SquareOf>());
    if (value == opmath_t(3)) return run(KnownPower<T, CubeOf>());
    if (value == opmath_t(0.5)) return run(KnownPower<T, RootOf>());
    if (value == opmath_t(-1)) return run(KnownPower<T, ReciprocalOf>());
  }
  run(Power<T>());
}

/// The same for integers; `is_number` says that the exponent is a Python number.
template <class T, class Run>
void with_integer_power(const T* exponent, bool is_number, const Run& run) {
  TORCH_CHECK(!std::is_signed_v<T> || !is_number || exponent == nullptr || *exponent >= 0,
              "Integers to negative integer powers are not allowed.");
  run(IntegerPower<T>());
}

template <class Run>
void with_power(ScalarType type, const void* exponent, bool is_number, const Run& run) {
  if (is_integral(type, false)) {
    return AT_DISPATCH_INTEGRAL(type, "pow", [&] {
      with_integer_power(static_cast<const scalar_t*>(exponent), is_number, run);
    });
  }
  AT_DISPATCH_FLOATING_AND_COMPLEX(
      type, "pow", [&] { with_floating_power(static_cast<const scalar_t*>(exponent), run); });
}

}  // namespace
}  // namespace at::native
