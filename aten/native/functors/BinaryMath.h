#pragma once
// nextafter. Floating-point numbers of one sign are ordered as their bit patterns are, so the
// pattern of a neighbour is one more or one less.
#include <cstdint>
#include <type_traits>

#include "aten/Dispatch.h"
#include "c10/util/Export.h"

namespace at::native {
namespace {

template <size_t bytes>
using bits_of_size =
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>;

/// The representable number next to `from` in the direction of `to`.
template <class T>
struct NextAfter {
  C10_HOST_DEVICE T operator()(T from, T to) const {
    using Bits = bits_of_size<sizeof(T)>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    const auto x = static_cast<opmath_type<T>>(from);
    const auto y = static_cast<opmath_type<T>>(to);

    if (x != x || y != y) return static_cast<T>(x + y);
    if (x == y) return to;
    if (x == 0) return __builtin_bit_cast(T, static_cast<Bits>((y < 0 ? kSign : 0) | 1));

    // The pattern grows away from 0.
    const auto bits = __builtin_bit_cast(Bits, from);
    return __builtin_bit_cast(T, static_cast<Bits>((x < y) == (x > 0) ? bits + 1 : bits - 1));
  }
};

template <class Run>
void with_nextafter(ScalarType type, const Run& run) {
  AT_DISPATCH_FLOATING_AND_REDUCED(type, "nextafter", [&] { run(NextAfter<scalar_t>()); });
}

}  // namespace
}  // namespace at::native
