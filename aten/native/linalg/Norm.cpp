// Norms of vectors and matrices, composed of differentiable operators.
#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/native/declarations/linalg/Norm.h"
#include "aten/native/shared/FlatRoot.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/eq.h"
#include "aten/ops/gt.h"
#include "aten/ops/linalg_matrix_norm.h"
#include "aten/ops/linalg_svdvals.h"
#include "aten/ops/linalg_vector_norm.h"
#include "aten/ops/ne.h"
#include "aten/ops/norm.h"
#include "aten/ops/permute.h"
#include "aten/ops/pow.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sqrt.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

Tensor converted(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.has_value() ? self.to(*dtype) : self;
}

// Matrices

/// The two dimensions of matrices, in [0, ndim).
struct MatrixDims {
  int64_t rows, columns;
};

MatrixDims matrix_dims(const Tensor& self, IntArrayRef dim) {
  const char* name = "linalg.matrix_norm";
  const MatrixDims dims{wrap_dim(dim[0], self.dim()), wrap_dim(dim[1], self.dim())};
  TORCH_CHECK(dims.rows != dims.columns, name, ": dims must be different. Got (", dim[0], ", ",
              dim[1], ")");
  return dims;
}

/// `self` with the two dimensions of its matrices moved to the end.
Tensor with_matrices_last(const Tensor& self, MatrixDims dims) {
  DimVector order;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dims.rows && d != dims.columns) order.push_back(d);
  }
  order.push_back(dims.rows);
  order.push_back(dims.columns);
  return at::permute(self, order);
}

/// A result without the two dimensions of the matrices, or with them as sizes of 1.
Tensor with_kept_dims(const Tensor& result, MatrixDims dims, bool keepdim) {
  if (!keepdim) return result;
  return at::unsqueeze(at::unsqueeze(result, std::min(dims.rows, dims.columns)),
                       std::max(dims.rows, dims.columns));
}

/// The largest or smallest norm along `dim`. Norms are not negative, so the largest of zero norms
/// is 0.
Tensor extreme(const Tensor& norms, int64_t dim, bool largest, bool keepdim) {
  if (!largest) return at::amin(norms, IntArrayRef(dim), keepdim);
  if (norms.size(dim) == 0) return at::sum(norms, IntArrayRef(dim), keepdim);
  return at::amax(norms, IntArrayRef(dim), keepdim);
}

/// float16 and bfloat16 as float, because their squares overflow and every step would round.
Tensor widened(const Tensor& self) { return self.to(to_accumulate(self.scalar_type())); }

/// Checks that the norms exist: orders below 0 and infinity need at least one element each.
void check_norm_exists(const Tensor& self, double p, IntArrayRef dim) {
  if (self.numel() > 0 || (p >= 0 && !std::isinf(p))) return;
  TORCH_CHECK(!dim.empty(), "norm: cannot compute the ", p,
              " norm on an empty tensor because the operation does not have an identity");
  for (const int64_t d : dim) {
    TORCH_CHECK(self.size(d) != 0, "norm: cannot compute the ", p, " norm on the dimension ", d,
                " because this dimension is empty and the operation does not have an identity");
  }
}

/// |x|^p with derivative 0 at x = 0, where powers below 1 are not differentiable.
Tensor power_of_size(const Tensor& size, double p) {
  if (p >= 1 || !size.requires_grad()) return at::pow(size, Scalar(p));
  const Tensor zero = at::eq(size, Scalar(0));
  const double at_zero = p > 0 ? 0.0 : std::numeric_limits<double>::infinity();
  return at::where(zero, Scalar(at_zero), at::pow(at::where(zero, Scalar(1), size), Scalar(p)));
}

/// (sum of |x|^p)^(1/p) over `dim`; the number of nonzero elements for p = 0, the largest |x| for
/// p = inf and the smallest for p = -inf.
Tensor norm_of(const Tensor& values, double p, IntArrayRef dim, bool keepdim) {
  if (p == 2 && !values.is_complex()) {
    return root_flat_at_zero(at::sum(values * values, dim, keepdim),
                             [](const Tensor& x) { return at::sqrt(x); });
  }

  const Tensor size = at::abs(values);
  if (p == 0) return at::sum(at::where(at::ne(size, Scalar(0)), Scalar(1), size), dim, keepdim);
  if (p == 1) return at::sum(size, dim, keepdim);
  if (std::isinf(p)) return p > 0 ? at::amax(size, dim, keepdim) : at::amin(size, dim, keepdim);

  const Tensor sum = at::sum(power_of_size(size, p), dim, keepdim);
  const auto root = [p](const Tensor& x) { return at::pow(x, Scalar(1 / p)); };
  return p > 0 ? root_flat_at_zero(sum, root) : root(sum);
}

}  // namespace

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                          bool keepdim, std::optional<ScalarType> dtype) {
  const double p = ord.to_double();
  if (self.numel() == 0 && (p < 0 || p == std::numeric_limits<double>::infinity())) {
    TORCH_CHECK(dim.has_value() && !dim->empty(), "linalg.vector_norm cannot compute the ", p,
                " norm on an empty tensor because the operation does not have an identity");
    for (const int64_t d : *dim) {
      TORCH_CHECK(self.size(d) != 0, "linalg.vector_norm cannot compute the ", p,
                  " norm on the dimension ", d,
                  " because this dimension is empty and the operation does not have an identity");
    }
  }

  return at::norm(converted(self, dtype), ord, dim.value_or(IntArrayRef()), keepdim);
}

Tensor linalg__powsum(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                      std::optional<ScalarType> dtype) {
  const Tensor values = at::abs(converted(self, dtype));
  const ScalarType result = values.scalar_type();
  // In half precision the powers would overflow before they are summed.
  const Tensor wide = result == kHalf || result == kBFloat16 ? values.to(kFloat) : values;
  return at::sum(at::pow(wide, ord), dim.value_or(IntArrayRef()), keepdim, result);
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return at::norm(v, Scalar(pow));
  const int64_t kept = wrap_dim(dim, v.dim());
  DimVector others;
  for (int64_t d = 0; d < v.dim(); ++d) {
    if (d != kept) others.push_back(d);
  }

  if (!others.empty()) return at::norm(v, Scalar(pow), others, true);
  // Without other dimensions each element has its own norm; an empty list of dimensions would
  // reduce over all of them.
  return at::norm(at::unsqueeze(v, -1), Scalar(pow), IntArrayRef(int64_t{-1}), false);
}

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const char* name = "linalg.matrix_norm";
  const MatrixDims dims = matrix_dims(self, dim);

  const double p = ord.to_double();
  const double size = std::fabs(p);

  const Tensor A = converted(self, dtype);
  if (size == 2) {
    check_matrix_dtype(A, name);
    const Tensor values = at::linalg_svdvals(with_matrices_last(A, dims), std::nullopt);
    return with_kept_dims(extreme(values, -1, p > 0, false), dims, keepdim);
  }

  // Orders 1 and -1 compare the sums of columns, inf and -inf those of rows.
  const int64_t summed = size == 1 ? dims.rows : dims.columns;
  const int64_t compared = size == 1 ? dims.columns : dims.rows;
  const Tensor sums = at::linalg_vector_norm(A, Scalar(1), IntArrayRef(summed), true, std::nullopt);
  const Tensor result = extreme(sums, compared, p > 0, true);

  if (keepdim) return result;
  DimVector sizes;
  for (int64_t d = 0; d < A.dim(); ++d) {
    if (d != summed && d != compared) sizes.push_back(A.sizes()[d]);
  }
  return at::reshape(result, sizes);
}

Tensor linalg_matrix_norm_str(const Tensor& self, std::string_view ord, IntArrayRef dim,
                              bool keepdim, std::optional<ScalarType> dtype) {
  const char* name = "linalg.matrix_norm";
  const MatrixDims dims = matrix_dims(self, dim);

  const Tensor A = converted(self, dtype);
  if (ord == "fro")
    return at::linalg_vector_norm(A, Scalar(2), IntArrayRef({dims.rows, dims.columns}), keepdim,
                                  std::nullopt);

  check_matrix_dtype(A, name);
  const Tensor values = at::linalg_svdvals(with_matrices_last(A, dims), std::nullopt);
  return with_kept_dims(at::sum(values, IntArrayRef(int64_t{-1})), dims, keepdim);
}

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                   bool keepdim, std::optional<ScalarType> dtype) {
  const bool of_matrices = dim.has_value() ? dim->size() == 2 : self.dim() == 2;
  if (!ord.has_value() || !of_matrices)
    return at::linalg_vector_norm(self, ord.value_or(Scalar(2)), dim, keepdim, dtype);
  return dim.has_value() ? at::linalg_matrix_norm(self, *ord, *dim, keepdim, dtype)
                         : at::linalg_matrix_norm(self, *ord, IntArrayRef({0, 1}), keepdim, dtype);
}

Tensor linalg_norm_str(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim,
                       bool keepdim, std::optional<ScalarType> dtype) {
  if (dim.has_value()) {
    return at::linalg_matrix_norm(self, ord, *dim, keepdim, dtype);
  }
  return at::linalg_matrix_norm(self, ord, IntArrayRef({-2, -1}), keepdim, dtype);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) {
  return linalg_matrix_norm_str(self, "nuc", IntArrayRef({0, 1}), keepdim, std::nullopt);
}

Tensor nuclear_norm_dim(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return linalg_matrix_norm_str(self, "nuc", dim, keepdim, std::nullopt);
}

Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return at::linalg_vector_norm(self, Scalar(2), dim, keepdim, std::nullopt);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  const int64_t d = wrap_dim(dim, self.dim());
  DimVector others;
  for (int64_t k = 0; k < self.dim(); ++k) {
    if (k != d) others.push_back(k);
  }
  const Tensor norm = at::norm(self.to(to_accumulate(self.scalar_type())), p, others, true);

  // A factor of 1 leaves slices within the limit unchanged to the last bit.
  const Tensor factor =
      at::where(at::gt(norm, maxnorm), maxnorm / (norm + Scalar(1e-7)), Scalar(1));
  return self * factor.to(to_real(self.scalar_type()));
}

Tensor norm_dim(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  const double order = p.has_value() ? p->to_double() : 2.0;
  check_norm_exists(self, order, dim);
  return norm_of(widened(self), order, dim, keepdim).to(to_real(self.scalar_type()));
}

Tensor norm_dim_dtype(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                      bool keepdim, ScalarType dtype) {
  return at::norm(self.to(dtype), p, dim, keepdim);
}

Tensor norm_all_dtype(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  return at::norm(self.to(dtype), p, IntArrayRef(), false);
}

Tensor norm_all(const Tensor& self, const Scalar& p) {
  return at::norm(self, p, IntArrayRef(), false);
}

}  // namespace at::native
