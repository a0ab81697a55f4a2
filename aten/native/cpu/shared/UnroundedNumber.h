#pragma once
// Kernels for products and quotients of a float16 or bfloat16 tensor and a number.
#include "aten/iteration/Loops.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Computes op(a, b) in the arithmetic type and rounds once. A number as the second operand is not
/// rounded to scalar_t before. Where PyTorch rounds numbers first (sums, remainders, a first
/// operand), kernels use cpu_kernel instead.
template <typename scalar_t, typename Op>
void cpu_kernel_with_number(const TensorIteratorBase& iter, const Op& op) {
  using opmath_t = opmath_type<scalar_t>;

  if constexpr (!std::is_same_v<opmath_t, scalar_t>) {
    if (const std::optional<float> number = iter.unrounded_number(2)) {
      cpu_kernel(iter, [op, value = *number](scalar_t a, scalar_t) -> scalar_t {
        return static_cast<scalar_t>(op(static_cast<opmath_t>(a), value));
      });
      return;
    }
  }

  cpu_kernel(iter, [op](scalar_t a, scalar_t b) -> scalar_t {
    return static_cast<scalar_t>(op(static_cast<opmath_t>(a), static_cast<opmath_t>(b)));
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
