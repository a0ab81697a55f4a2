// Products of matrices, and of matrices and vectors: shape rules, and the operators composed of
// others.
#include <algorithm>

#include "aten/native/declarations/linalg/MatrixProduct.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/ProductChecks.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/add.h"
#include "aten/ops/addmm.h"
#include "aten/ops/bmm.h"
#include "aten/ops/dot.h"
#include "aten/ops/expand.h"
#include "aten/ops/mm.h"
#include "aten/ops/mul.h"
#include "aten/ops/mv.h"
#include "aten/ops/permute.h"
#include "aten/ops/reshape.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/zeros.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

/// Checks that two matrices have one device and dtype.
void check_product(const char* op, const Tensor& mat1, const Tensor& mat2) {
  check_same_device(op, mat1, mat2);
  TORCH_CHECK(mat1.scalar_type() == mat2.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ",
              cpp_type_name(mat1.scalar_type()), " != ", cpp_type_name(mat2.scalar_type()));
}

/// Checks that two batches of matrices are on one device and returns the sizes of the product.
DimVector check_batches(const char* op, const Tensor& batch1, const Tensor& batch2) {
  check_same_device(op, batch1, batch2);
  return {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]};
}

/// Checks that `self` broadcasts to the sizes of the product.
void check_added(const char* op, const Tensor& self, IntArrayRef sizes) {
  const int64_t extra = static_cast<int64_t>(sizes.size()) - self.dim();
  TORCH_CHECK(extra >= 0, "expand(", self.scalar_type(), "{", self.sizes(), "}, size=", sizes,
              "): the number of sizes provided (", sizes.size(),
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(),
              ") in ", op);

  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t wanted = sizes[d + extra];
    const int64_t actual = self.sizes()[d];
    TORCH_CHECK(actual == wanted || actual == 1, "The expanded size of the tensor (", wanted,
                ") must match the existing size (", actual, ") at non-singleton dimension ",
                d + extra, ".  Target sizes: ", sizes, ".  Tensor sizes: ", self.sizes());
  }
}

DimVector joined(IntArrayRef a, IntArrayRef b) {
  DimVector result(a);
  result.append(b);
  return result;
}

/// A batch of matrices times one matrix or vector: the rows of the batch form one tall matrix.
Tensor matmul_folded(const Tensor& self, const Tensor& other) {
  const IntArrayRef outer = self.sizes().slice(0, self.dim() - 1);
  const Tensor rows = at::reshape(self, {product_of(outer), self.size(-1)});
  if (other.dim() == 1) return at::reshape(at::mv(rows, other), outer);
  return at::reshape(at::mm(rows, other), joined(outer, {other.sizes()[1]}));
}

/// An operand of bmm: its batch dimensions are broadcast and merged.
Tensor as_batch(const Tensor& matrices, IntArrayRef batch) {
  const IntArrayRef matrix = matrices.sizes().slice(matrices.dim() - 2);
  const Tensor expanded = at::expand(matrices, joined(batch, matrix));
  return at::reshape(expanded, joined({product_of(batch)}, matrix));
}

/// The product of two tensors of at least two dimensions, one of which has at least three.
Tensor matmul_batched(const Tensor& self, const Tensor& other) {
  const IntArrayRef self_batch = self.sizes().slice(0, self.dim() - 2);
  const IntArrayRef other_batch = other.sizes().slice(0, other.dim() - 2);
  const DimVector batch = broadcast_sizes(self_batch, other_batch);
  const DimVector sizes = joined(batch, {self.size(-2), other.size(-1)});

  if (std::all_of(other_batch.begin(), other_batch.end(), [](int64_t size) { return size == 1; })) {
    return at::reshape(matmul_folded(self, at::reshape(other, {other.size(-2), other.size(-1)})),
                       sizes);
  }

  return at::reshape(at::bmm(as_batch(self, batch), as_batch(other, batch)), sizes);
}

/// How tensordot turns an operand into a matrix.
struct Contraction {
  DimVector order;        // the permutation that puts kept and contracted dimensions together
  DimVector kept;         // sizes of the kept dimensions
  int64_t kept_size = 1;  // their product
};

/// The contraction of `dims`, which become the columns of the matrix (`contracted_last`) or its
/// rows.
Contraction contraction_of(const Tensor& tensor, const DimVector& dims, bool contracted_last) {
  Contraction result;
  DimVector kept_dims;

  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    kept_dims.push_back(d);
    result.kept.push_back(tensor.sizes()[d]);
  }

  result.kept_size = product_of(result.kept);
  result.order = contracted_last ? joined(kept_dims, dims) : joined(dims, kept_dims);
  return result;
}

}  // namespace

TensorSpec mm_shape(const Tensor& self, const Tensor& mat2) {
  check_product("mm", self, mat2);
  return {{self.sizes()[0], mat2.sizes()[1]}, self.scalar_type(), self.device()};
}

TensorSpec bmm_shape(const Tensor& self, const Tensor& mat2) {
  return {check_batches("bmm", self, mat2), self.scalar_type(), self.device()};
}

TensorSpec addmm_shape(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar&,
                       const Scalar&) {
  check_same_device("addmm", self, mat1);
  check_product("addmm", mat1, mat2);

  const DimVector sizes{mat1.sizes()[0], mat2.sizes()[1]};
  check_added("addmm", self, sizes);
  return {sizes, mat1.scalar_type(), mat1.device()};
}

TensorSpec addmm_activation_shape(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                  const Scalar& beta, const Scalar& alpha, bool) {
  return addmm_shape(self, mat1, mat2, beta, alpha);
}

TensorSpec baddbmm_shape(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                         const Scalar&, const Scalar&) {
  const DimVector sizes = check_batches("baddbmm", batch1, batch2);
  check_same_device("baddbmm", self, batch1);
  check_added("baddbmm", self, sizes);
  return {sizes, batch1.scalar_type(), batch1.device()};
}

TensorSpec mv_shape(const Tensor& self, const Tensor& vec) {
  check_same_device("mv", self, vec);
  return {{self.sizes()[0]}, self.scalar_type(), self.device()};
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& given_beta,
             const Scalar& given_alpha) {
  c10::check_representable(given_alpha, self.scalar_type());
  c10::check_representable(given_beta, self.scalar_type());
  const Scalar beta = factor_in(given_beta, self.scalar_type());
  const Scalar alpha = factor_in(given_alpha, self.scalar_type());

  // With alpha 0 the product is not computed, so its nan and inf have no effect.
  Tensor product = alpha.equal(0)
                       ? at::zeros({mat.sizes()[0]}, mat.scalar_type(), std::nullopt, mat.device())
                       : at::mv(mat, vec);
  if (!alpha.equal(1) && !alpha.equal(0)) product = product * alpha;

  if (beta.equal(0)) return product;
  return at::add(product, beta.equal(1) ? self : self * beta);
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t left = self.dim();
  const int64_t right = other.dim();

  if (left == 2 && right == 2) return at::mm(self, other);
  if (left == 1 && right == 1) return at::dot(self, other);
  if (left == 2 && right == 1) return at::mv(self, other);
  if (left == 1 && right == 2) return at::squeeze(at::mm(at::unsqueeze(self, 0), other), 0);
  if (right <= 2) return matmul_folded(self, other);
  if (left == 1) return at::squeeze(matmul_batched(at::unsqueeze(self, 0), other), -2);
  return matmul_batched(self, other);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                 IntArrayRef dims_other) {
  const DimVector left = wrap_dims(dims_self, self.dim());
  const DimVector right = wrap_dims(dims_other, other.dim());
  Tensor a = self;
  Tensor b = other;
  int64_t contracted = 1;
  for (size_t i = 0; i < left.size(); ++i) {
    const int64_t size_a = self.size(left[i]);
    const int64_t size_b = other.size(right[i]);
    TORCH_CHECK(size_a == size_b || size_a == 1 || size_b == 1,
                "contracted dimensions need to match, but first has size ", size_a, " in dim ",
                dims_self[i], " and second has size ", size_b, " in dim ", dims_other[i]);
    // A dimension of size 1 broadcasts, so the other one can be summed before the product, in the
    // dtype of the product.
    if (size_a == 1 && size_b != 1) b = at::sum(b, IntArrayRef(right[i]), true, b.scalar_type());
    if (size_b == 1 && size_a != 1) a = at::sum(a, IntArrayRef(left[i]), true, a.scalar_type());
    contracted *= size_a == 1 || size_b == 1 ? 1 : size_a;
  }

  const Contraction first = contraction_of(a, left, true);
  const Contraction second = contraction_of(b, right, false);
  const Tensor rows = at::reshape(at::permute(a, first.order), {first.kept_size, contracted});
  const Tensor columns = at::reshape(at::permute(b, second.order), {contracted, second.kept_size});
  return at::reshape(at::mm(rows, columns), joined(first.kept, second.kept));
}

// Element (i1, ..., j1, ...) of the result is self[i] * other[j]: every dimension is split into one
// of self and one of other, which broadcast against each other.
Tensor kron(const Tensor& self, const Tensor& other) {
  const int64_t ndim = std::max(self.dim(), other.dim());
  DimVector first(2 * ndim);
  DimVector second(2 * ndim);
  DimVector sizes(ndim);

  const auto size = [ndim](const Tensor& tensor, int64_t d) {
    const int64_t own_dim = d - (ndim - tensor.dim());
    return own_dim < 0 ? 1 : tensor.sizes()[own_dim];
  };

  for (int64_t d = 0; d < ndim; ++d) {
    first[2 * d] = size(self, d);
    first[2 * d + 1] = 1;
    second[2 * d] = 1;
    second[2 * d + 1] = size(other, d);
    sizes[d] = size(self, d) * size(other, d);
  }

  return at::reshape(at::mul(at::reshape(self, first), at::reshape(other, second)), sizes);
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  // The sum over the batch is a sum over the inner dimension of one product.
  const int64_t inner = batch1.sizes()[0] * batch1.sizes()[2];
  const Tensor left = at::reshape(at::permute(batch1, {1, 0, 2}), {batch1.sizes()[1], inner});
  return at::addmm(self, left, at::reshape(batch2, {inner, batch2.sizes()[2]}), beta, alpha);
}

Tensor _scaled_mm(const Tensor& self, const Tensor& mat2, const Tensor& scale_a,
                  const Tensor& scale_b, const Tensor& bias, const Tensor&,
                  std::optional<ScalarType> out_dtype, bool) {
  Tensor result = at::mm(self.to(kFloat), mat2.to(kFloat)) * scale_a * scale_b;
  if (bias.defined()) result = result + at::reshape(bias, {-1}).to(kFloat);
  return result.to(out_dtype.value_or(self.scalar_type()));
}

}  // namespace at::native
