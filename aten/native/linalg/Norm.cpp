// Norms of vectors and matrices, and what is made of singular values.
#include <cmath>
#include <limits>

#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/native/declarations/linalg/Norm.h"
#include "aten/ops/abs.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/full.h"
#include "aten/ops/gt.h"
#include "aten/ops/linalg_eigvalsh.h"
#include "aten/ops/linalg_inv_ex.h"
#include "aten/ops/linalg_matrix_norm.h"
#include "aten/ops/linalg_svdvals.h"
#include "aten/ops/linalg_vector_norm.h"
#include "aten/ops/maximum.h"
#include "aten/ops/ne.h"
#include "aten/ops/norm.h"
#include "aten/ops/permute.h"
#include "aten/ops/pow.h"
#include "aten/ops/reshape.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros.h"

namespace at::native {

namespace {

void check_norm_dtype(const Tensor& self, std::optional<ScalarType> dtype, const char* name) {
  TORCH_CHECK(self.is_floating_point() || self.is_complex(), name,
              ": Expected a floating point or complex tensor as input. Got ", self.scalar_type());
  if (!dtype.has_value()) return;
  TORCH_CHECK(is_floating(*dtype) || is_complex(*dtype), name,
              ": dtype should be floating point or complex, but got ", *dtype);
  TORCH_CHECK(is_complex(*dtype) == self.is_complex(), name, ": dtype should be ",
              self.is_complex() ? "complex for complex" : "real for real", " inputs, but got ",
              *dtype);
  TORCH_CHECK(promote_types(self.scalar_type(), *dtype) == *dtype, name,
              ": the dtype of the input (", self.scalar_type(),
              ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
}

Tensor converted(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype.has_value() ? self.to(*dtype) : self;
}

}  // namespace

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim,
                          bool keepdim, std::optional<ScalarType> dtype) {
  check_norm_dtype(self, dtype, "linalg.vector_norm");
  TORCH_CHECK(!ord.is_complex(),
              "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
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
  check_norm_dtype(self, dtype, "linalg._powsum");
  TORCH_CHECK(!ord.is_complex(),
              "linalg._powsum: Expected a non-complex scalar as the order of norm.");
  const Tensor values = at::abs(converted(self, dtype));
  const ScalarType result = values.scalar_type();
  // Powers of half precision numbers overflow long before their sum is rounded to it.
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
  // Without other dimensions each element is a norm by itself; an empty list would mean all of
  // them.
  return at::norm(at::unsqueeze(v, -1), Scalar(pow), IntArrayRef(int64_t{-1}), false);
}

// Matrices

namespace {

/// The two dimensions of matrices, in [0, ndim).
struct MatrixDims {
  int64_t rows, columns;
};
MatrixDims matrix_dims(const Tensor& self, IntArrayRef dim) {
  const char* name = "linalg.matrix_norm";
  check_is_matrix(self, name);
  TORCH_CHECK(dim.size() == 2, name, ": dim must be a 2-tuple. Got ", dim);
  const MatrixDims dims{wrap_dim(dim[0], self.dim()), wrap_dim(dim[1], self.dim())};
  TORCH_CHECK(dims.rows != dims.columns, name, ": dims must be different. Got (", dim[0], ", ",
              dim[1], ")");
  return dims;
}

/// `self` with the matrices in the last two dimensions.
Tensor with_matrices_last(const Tensor& self, MatrixDims dims) {
  DimVector order;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dims.rows && d != dims.columns) order.push_back(d);
  }
  order.push_back(dims.rows);
  order.push_back(dims.columns);
  return at::permute(self, order);
}

Tensor with_kept_dims(const Tensor& result, MatrixDims dims, bool keepdim) {
  if (!keepdim) return result;
  return at::unsqueeze(at::unsqueeze(result, std::min(dims.rows, dims.columns)),
                       std::max(dims.rows, dims.columns));
}

/// The largest or smallest along `dim`; the largest of nothing is 0, since norms are not negative.
Tensor extreme(const Tensor& norms, int64_t dim, bool largest, bool keepdim) {
  if (!largest) return at::amin(norms, IntArrayRef(dim), keepdim);
  if (norms.size(dim) == 0) return at::sum(norms, IntArrayRef(dim), keepdim);
  return at::amax(norms, IntArrayRef(dim), keepdim);
}

}  // namespace

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const char* name = "linalg.matrix_norm";
  const MatrixDims dims = matrix_dims(self, dim);
  check_norm_dtype(self, dtype, name);
  const double p = ord.to_double(), size = std::fabs(p);
  TORCH_CHECK(size == 1 || size == 2 || std::isinf(size), name, ": Order ", ord, " not supported.");
  const Tensor A = converted(self, dtype);
  if (size == 2) {
    check_matrix_dtype(A, name);
    return with_kept_dims(
        extreme(at::linalg_svdvals(with_matrices_last(A, dims), std::nullopt), -1, p > 0, false),
        dims, keepdim);
  }
  const int64_t summed = size == 1 ? dims.rows : dims.columns,
                compared = size == 1 ? dims.columns : dims.rows;
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
  check_norm_dtype(self, dtype, name);
  TORCH_CHECK(ord == "fro" || ord == "nuc", name, ": Order ", ord, " not supported.");
  const Tensor A = converted(self, dtype);
  if (ord == "fro")
    return at::linalg_vector_norm(A, Scalar(2), IntArrayRef({dims.rows, dims.columns}), keepdim,
                                  std::nullopt);
  check_matrix_dtype(A, name);
  return with_kept_dims(at::sum(at::linalg_svdvals(with_matrices_last(A, dims), std::nullopt),
                                IntArrayRef(int64_t{-1})),
                        dims, keepdim);
}

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim,
                   bool keepdim, std::optional<ScalarType> dtype) {
  if (dim.has_value()) {
    TORCH_CHECK(dim->size() == 1 || dim->size() == 2,
                "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  } else if (ord.has_value()) {
    TORCH_CHECK(self.dim() == 1 || self.dim() == 2,
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ",
                self.dim(), "D.");
  }
  const bool of_matrices = dim.has_value() ? dim->size() == 2 : self.dim() == 2;
  if (!ord.has_value() || !of_matrices)
    return at::linalg_vector_norm(self, ord.value_or(Scalar(2)), dim, keepdim, dtype);
  return dim.has_value() ? at::linalg_matrix_norm(self, *ord, *dim, keepdim, dtype)
                         : at::linalg_matrix_norm(self, *ord, IntArrayRef({0, 1}), keepdim, dtype);
}

Tensor linalg_norm_str(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim,
                       bool keepdim, std::optional<ScalarType> dtype) {
  if (dim.has_value()) {
    TORCH_CHECK(dim->size() == 1 || dim->size() == 2,
                "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
    return at::linalg_matrix_norm(self, ord, *dim, keepdim, dtype);
  }
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2,
              "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ",
              self.dim(), "D.");
  return at::linalg_matrix_norm(self, ord, IntArrayRef({-2, -1}), keepdim, dtype);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) {
  TORCH_CHECK(self.dim() == 2, "Expected a tensor with 2 dimensions, but got a tensor with ",
              self.dim(), " dimensions instead.");
  return linalg_matrix_norm_str(self, "nuc", IntArrayRef({0, 1}), keepdim, std::nullopt);
}
Tensor nuclear_norm_dim(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return linalg_matrix_norm_str(self, "nuc", dim, keepdim, std::nullopt);
}

Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  TORCH_CHECK(dim.size() <= 2, "Expected at most 2 dimensions, but got ", dim.size(),
              " dimensions instead.");
  return at::linalg_vector_norm(self, Scalar(2), dim, keepdim, std::nullopt);
}

// Condition

namespace {

/// |A| |A^-1|, infinite for singular matrices.
template <class Norm>
Tensor condition(const Tensor& self, const std::string& name, const Norm& norm) {
  check_is_square(self, name.c_str());
  if (self.numel() == 0)
    return at::zeros(batch_sizes(self), to_real(self.scalar_type()), std::nullopt, self.device());
  const auto [inverse, info] = at::linalg_inv_ex(self, false);
  const Tensor result = norm(self) * norm(inverse);
  return at::where(at::ne(info, Scalar(0)), Scalar(std::numeric_limits<double>::infinity()),
                   result);
}

}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_is_matrix(self, "linalg.cond");
  check_matrix_dtype(self, "linalg.cond");
  const double order = p.has_value() ? p->to_double() : 2.0, size = std::fabs(order);
  TORCH_CHECK(size == 1 || size == 2 || std::isinf(size),
              "linalg.cond got an invalid norm type: ", *p);
  if (size == 2) {
    const Tensor values = at::linalg_svdvals(self, std::nullopt);
    if (values.size(-1) == 0) return at::sum(values, IntArrayRef(int64_t{-1}));
    const Tensor largest = at::amax(values, IntArrayRef(int64_t{-1})),
                 smallest = at::amin(values, IntArrayRef(int64_t{-1}));
    return order > 0 ? largest / smallest : smallest / largest;
  }
  return condition(self, c10::str("linalg.cond(ord=", *p, ")"), [&](const Tensor& A) {
    return at::linalg_matrix_norm(A, *p, IntArrayRef({-2, -1}), false, std::nullopt);
  });
}

Tensor linalg_cond_str(const Tensor& self, std::string_view p) {
  check_is_matrix(self, "linalg.cond");
  check_matrix_dtype(self, "linalg.cond");
  TORCH_CHECK(p == "fro" || p == "nuc", "linalg.cond got an invalid norm type: ", p);
  return condition(self, c10::str("linalg.cond(ord=", p, ")"), [&](const Tensor& A) {
    return at::linalg_matrix_norm(A, p, IntArrayRef({-2, -1}), false, std::nullopt);
  });
}

// Rank

namespace {

Tensor number_like(const Tensor& A, double value) {
  return at::full({}, Scalar(value), to_real(A.scalar_type()), std::nullopt, A.device());
}

double usual_tolerance(const Tensor& A) {
  const double epsilon = to_real(A.scalar_type()) == kDouble
                             ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  return epsilon * static_cast<double>(std::max(A.size(-2), A.size(-1)));
}

}  // namespace

Tensor matrix_rank_tensors(const Tensor& input, const Tensor& atol, const Tensor& rtol,
                           bool hermitian) {
  const char* name = "torch.linalg.matrix_rank";
  check_is_matrix(input, name, "input");
  check_matrix_dtype(input, "linalg.matrix_rank");
  for (const Tensor* tolerance : {&atol, &rtol}) {
    TORCH_CHECK(!tolerance->defined() || !tolerance->is_complex(), name,
                ": atol and rtol of complex type are not supported.");
  }
  const Tensor A = input.detach(), absolute = atol.defined() ? atol.detach() : number_like(A, 0);
  Tensor relative = rtol.defined() ? rtol.detach() : number_like(A, usual_tolerance(A));
  if (!rtol.defined() && atol.defined())
    relative = at::where(at::gt(absolute, Scalar(0)), Scalar(0.0), relative);
  const Tensor values =
      hermitian ? at::abs(at::linalg_eigvalsh(A, "L")) : at::linalg_svdvals(A, std::nullopt);
  if (values.size(-1) == 0) return at::zeros(batch_sizes(A), kLong, std::nullopt, A.device());
  const Tensor largest = at::amax(values, IntArrayRef(int64_t{-1}));
  const Tensor cutoff = at::maximum(absolute, relative * largest);
  return at::sum(at::gt(values, at::unsqueeze(cutoff, -1)), IntArrayRef(int64_t{-1}));
}

Tensor matrix_rank_floats(const Tensor& self, std::optional<double> atol,
                          std::optional<double> rtol, bool hermitian) {
  check_is_matrix(self, "torch.linalg.matrix_rank", "input");
  check_matrix_dtype(self, "linalg.matrix_rank");
  return matrix_rank_tensors(self, atol.has_value() ? number_like(self, *atol) : Tensor(),
                             rtol.has_value() ? number_like(self, *rtol) : Tensor(), hermitian);
}
Tensor matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return matrix_rank_floats(self, tol, 0.0, hermitian);
}
Tensor matrix_rank_tol_tensor(const Tensor& input, const Tensor& tol, bool hermitian) {
  check_is_matrix(input, "torch.linalg.matrix_rank", "input");
  check_matrix_dtype(input, "linalg.matrix_rank");
  return matrix_rank_tensors(input, tol, number_like(input, 0), hermitian);
}

}  // namespace at::native
