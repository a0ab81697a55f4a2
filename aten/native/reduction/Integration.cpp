// Integrals by the trapezoidal rule.
#include "aten/native/declarations/reduction/Integration.h"
#include "aten/native/shared/Neighbours.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/diff.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/reshape.h"
#include "aten/ops/select.h"
#include "aten/ops/sum.h"

namespace at::native {

namespace {

int64_t checked_dim(const char* op, const Tensor& y, int64_t dim) {
  TORCH_CHECK_INDEX(y.dim() > 0, op, ": Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, y.dim());
}

/// The distances between neighbouring points, shaped to multiply sums of neighbours of y along dim.
Tensor distances(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  TORCH_CHECK(x.scalar_type() != kBool && y.scalar_type() != kBool, op,
              ": received a bool input for `x` or `y`, but bool is not supported");
  TORCH_CHECK(x.dim() != 1 || x.size(0) == y.size(dim), op,
              ": There must be one `x` value for each sample point, got ", x.numel(), " for ",
              y.size(dim));
  TORCH_CHECK(x.dim() > 0, op, ": `x` has no dimensions, expected one value for each sample point");

  if (x.dim() == 1) {
    DimVector sizes(y.dim(), 1);
    sizes[dim] = x.size(0);
    return at::diff(at::reshape(x, sizes), 1, dim);
  }
  if (x.dim() >= y.dim()) return at::diff(x, 1, dim - y.dim());

  DimVector aligned(y.dim() - x.dim(), 1);
  aligned.insert(aligned.end(), x.sizes().begin(), x.sizes().end());
  return at::diff(at::reshape(x, aligned), 1, dim);
}

void check_dx(const char* op, const Tensor& y, const Scalar& dx) {
  TORCH_CHECK(y.scalar_type() != kBool, op,
              ": received a bool input for `y`, but bool is not supported");
  TORCH_CHECK(!dx.is_complex() && !dx.is_bool(), op,
              ": Currently, we only support dx as a real number.");
}

/// Sums of neighbours: twice the heights of the trapezoids.
Tensor pair_sums(const Tensor& y, int64_t dim) { return upper(y, dim) + lower(y, dim); }

/// The integral over no points: zeros without dimension `dim`.
Tensor no_integral(const Tensor& y, int64_t dim) {
  DimVector sizes(y.sizes());
  sizes.erase(sizes.begin() + dim);
  return at::new_zeros(y, sizes);
}

/// The cumulative integral over no points, in the dtype that a division would give.
Tensor no_cumulative_integral(const Tensor& y) {
  return is_integral(y.scalar_type(), true) ? y.to(default_dtype()) : y.clone();
}

}  // namespace

Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t d = checked_dim("trapezoid", y, dim);
  if (y.size(d) == 0) return no_integral(y, d);

  const Tensor widths = distances("trapezoid", y, x, d);
  return at::sum(widths * pair_sums(y, d), IntArrayRef{d - y.dim()}) / Scalar(2.0);
}

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  const int64_t d = checked_dim("trapezoid", y, dim);
  if (y.size(d) == 0) return no_integral(y, d);
  check_dx("trapezoid", y, dx);

  const Tensor ends = at::select(y, d, 0) + at::select(y, d, -1);
  return (at::sum(y, d) - ends * Scalar(0.5)) * dx;
}

Tensor trapz_dx(const Tensor& y, double dx, int64_t dim) {
  return trapezoid_dx(y, Scalar(dx), dim);
}

Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t d = checked_dim("cumulative_trapezoid", y, dim);
  if (y.size(d) == 0) return no_cumulative_integral(y);

  const Tensor widths = distances("cumulative_trapezoid", y, x, d);
  return at::cumsum(widths * pair_sums(y, d), d - y.dim()) / Scalar(2.0);
}

Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  const int64_t d = checked_dim("cumulative_trapezoid", y, dim);
  check_dx("cumulative_trapezoid", y, dx);
  if (y.size(d) == 0) return no_cumulative_integral(y);
  return at::cumsum(pair_sums(y, d) * Scalar(dx.to_double() / 2), d);
}

}  // namespace at::native
