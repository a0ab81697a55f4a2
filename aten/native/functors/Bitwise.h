#pragma once
// Bitwise operations and shifts of integers.
#include "aten/Dispatch.h"
#include "aten/native/functors/Modular.h"

namespace at::native {
namespace {

template <class T>
struct BitAnd {
  C10_HOST_DEVICE T operator()(T a, T b) const { return static_cast<T>(a & b); }
};

template <class T>
struct BitOr {
  C10_HOST_DEVICE T operator()(T a, T b) const { return static_cast<T>(a | b); }
};

template <class T>
struct BitXor {
  C10_HOST_DEVICE T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

template <class T>
struct BitNot {
  C10_HOST_DEVICE T operator()(T value) const { return static_cast<T>(~value); }
};

struct Not {
  C10_HOST_DEVICE bool operator()(bool value) const { return !value; }
};

/// A negative count becomes a large unsigned one, so that all bits are shifted out.
template <class T>
struct ShiftLeft {
  C10_HOST_DEVICE T operator()(T a, T count) const {
    using unsigned_t = std::make_unsigned_t<T>;
    constexpr unsigned_t kBits = 8 * sizeof(T);
    const bool out = static_cast<unsigned_t>(count) >= kBits;
    return out ? T(0) : static_cast<T>(static_cast<modular_t<T>>(a) << (out ? 0 : count));
  }
};

/// Shifting out all bits leaves the sign: -1 for negative numbers, else 0.
template <class T>
struct ShiftRight {
  C10_HOST_DEVICE T operator()(T a, T count) const {
    using unsigned_t = std::make_unsigned_t<T>;
    constexpr unsigned_t kBits = 8 * sizeof(T);
    constexpr bool kSigned = std::is_signed_v<T>;
    const bool out = static_cast<unsigned_t>(count) >= kBits;
    const T shifted = static_cast<T>(a >> (out ? 0 : count));
    return out ? static_cast<T>(kSigned && a < 0 ? -1 : 0) : shifted;
  }
};

/// Calls run(Functor<T>()) for integers and for bool, whose values 0 and 1 these operations
/// preserve.
template <template <class> class Functor, class Run>
void with_bitwise(ScalarType type, const char* op_name, const Run& run) {
  if (!is_integral(type, true)) throw_not_implemented(op_name, type);
  dispatch_modular(type, [&]<typename T>() { run(Functor<T>()); });
}

template <class Run>
void with_bitwise_not(ScalarType type, const Run& run) {
  if (type == kBool) return run(Not());
  with_bitwise<BitNot>(type, "bitwise_not", run);
}

template <template <class> class Functor, class Run>
void with_shift(ScalarType type, const char* op_name, const Run& run) {
  AT_DISPATCH_INTEGRAL(type, op_name, [&] { run(Functor<scalar_t>()); });
}

}  // namespace
}  // namespace at::native
