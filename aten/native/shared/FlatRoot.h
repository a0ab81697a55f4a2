#pragma once
// Roots for norms and standard deviations.
#include "aten/core/Tensor.h"
#include "aten/ops/eq.h"
#include "aten/ops/where.h"

namespace at::native {

/// root(x) with a derivative of 0, not infinity, at x = 0: there x is a sum of terms whose
/// derivatives vanish.
template <typename Root>
Tensor root_flat_at_zero(const Tensor& x, const Root& root) {
  if (!x.requires_grad()) return root(x);
  const Tensor zero = at::eq(x, Scalar(0));
  return at::where(zero, x, root(at::where(zero, Scalar(1), x)));
}

}  // namespace at::native
