// Vandermonde matrices, whose columns are the powers of a vector.
#include <algorithm>

#include "aten/native/declarations/linalg/Vandermonde.h"
#include "aten/ops/cat.h"
#include "aten/ops/cumprod.h"
#include "aten/ops/expand.h"
#include "aten/ops/flip.h"
#include "aten/ops/new_ones.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TORCH_CHECK(x.dim() == 1, "x must be a one-dimensional tensor.");
  const int64_t columns = N.value_or(x.numel());
  TORCH_CHECK(columns >= 0, "N must be non-negative.");

  const Tensor base = is_integral(x.scalar_type(), true) ? x.to(kLong) : x;
  const Tensor ones = at::new_ones(base, {x.numel(), std::min<int64_t>(columns, 1)});
  if (columns < 2) return ones;

  const Tensor powers =
      at::cumprod(at::expand(at::unsqueeze(base, 1), {x.numel(), columns - 1}), 1);
  const Tensor result = at::cat({ones, powers}, 1);
  return increasing ? result : at::flip(result, {1});
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  TORCH_CHECK(x.scalar_type() != kBool && !is_reduced_floating(x.scalar_type()),
              "linalg.vander supports floating point, complex, and integer tensors, but got ",
              x.scalar_type());
  if (x.dim() == 0) return linalg_vander(at::unsqueeze(x, 0), N);  // a matrix of one row
  const int64_t powers = N.value_or(x.size(-1));
  TORCH_CHECK(powers > 1, "N must be greater than 1.");

  const Tensor column = at::unsqueeze(x, -1);
  DimVector sizes(x.sizes());
  sizes.push_back(powers - 1);

  const Tensor rest = at::cumprod(at::expand(column, sizes, false), -1, std::nullopt);
  return at::cat({at::ones_like(column, rest.scalar_type()), rest}, -1);
}

}  // namespace at::native
