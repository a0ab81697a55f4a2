// The kernel of nextafter. Floating-point numbers of one sign are ordered as their bit patterns
// are, so the pattern of a neighbour is one more or one less.
#include <bit>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/declarations/cpu/elementwise/BinaryMathKernel.h"

namespace at::native {

namespace {

template <size_t bytes>
using bits_of_size =
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>;

/// The representable number next to `from` in the direction of `to`.
template <typename T>
T neighbour(T from, T to) {
  using Bits = bits_of_size<sizeof(T)>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  const auto x = static_cast<opmath_type<T>>(from);
  const auto y = static_cast<opmath_type<T>>(to);

  if (x != x || y != y) return static_cast<T>(x + y);
  if (x == y) return to;
  if (x == 0) return std::bit_cast<T>(static_cast<Bits>((y < 0 ? kSign : 0) | 1));

  // The pattern grows away from 0.
  const auto bits = std::bit_cast<Bits>(from);
  return std::bit_cast<T>(static_cast<Bits>((x < y) == (x > 0) ? bits + 1 : bits - 1));
}

}  // namespace

void nextafter_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), "nextafter", [&] {
    cpu_kernel(iter, [](scalar_t x, scalar_t y) -> scalar_t { return neighbour(x, y); });
  });
}

}  // namespace at::native
