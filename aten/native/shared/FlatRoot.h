#pragma once
// Roots whose derivative at 0 is 0, for norms and standard deviations.
#include "aten/core/Tensor.h"
#include "aten/ops/eq.h"
#include "aten/ops/where.h"

namespace at::native {

/// root(x) with derivative 0 instead of infinity at x = 0. Callers pass a sum of powers, whose
/// terms have derivative 0 there.
template <typename Root>
Tensor root_flat_at_zero(const Tensor& x, const Root& root) {
  if (!x.requires_grad()) return root(x);
  const Tensor zero = at::eq(x, Scalar(0));
  return at::where(zero, x, root(at::where(zero, Scalar(1), x)));
}

}  // namespace at::native
