// Functions of matrices and vectors that are products of others.
#include <algorithm>
#include <limits>
#include <vector>

#include "aten/native/shared/MatrixAlgebra.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/declarations/linalg/VectorProduct.h"
#include "aten/ops/add.h"
#include "aten/ops/addmm.h"
#include "aten/ops/cat.h"
#include "aten/ops/clone.h"
#include "aten/ops/conj.h"
#include "aten/ops/cumprod.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/dot.h"
#include "aten/ops/expand.h"
#include "aten/ops/linalg_cross.h"
#include "aten/ops/linalg_inv.h"
#include "aten/ops/mul.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/outer.h"
#include "aten/ops/permute.h"
#include "aten/ops/reshape.h"
#include "aten/ops/roll.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/sum.h"
#include "aten/ops/tensordot.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

Tensor matrix_power(const Tensor& self, int64_t n) {
  check_is_square(self, "linalg.matrix_power");
  if (n == 0)
    return at::clone(
        at::expand(identity_like(self, self.size(-1), self.size(-1)), self.sizes(), false));
  if (n == 1) return at::clone(self);
  Tensor square = self;
  if (n < 0) {
    square = at::linalg_inv(self);
    if (n == -1) return square;
  }
  // n == 3 by squares takes as many products, but an odd power should not square once more at the
  // end.
  uint64_t rest = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  Tensor result;
  while (true) {
    if (rest & 1) result = result.defined() ? at::matmul(result, square) : square;
    rest >>= 1;
    if (rest == 0) return result;
    square = at::matmul(square, square);
  }
}

// Chains of products

namespace {

/// Where to split the product of matrices i to j, for each i < j, by dynamic programming over their
/// sizes.
class ChainOrder {
 public:
  explicit ChainOrder(const std::vector<double>& sizes)
      : count_(sizes.size() - 1), split_(count_ * count_) {
    std::vector<double> cost(count_ * count_, 0.0);
    for (size_t length = 1; length < count_; ++length) {
      for (size_t i = 0; i + length < count_; ++i) {
        const size_t j = i + length;
        cost[i * count_ + j] = std::numeric_limits<double>::infinity();
        for (size_t k = i; k < j; ++k) {
          const double total = cost[i * count_ + k] + cost[(k + 1) * count_ + j] +
                               sizes[i] * sizes[k + 1] * sizes[j + 1];
          if (total >= cost[i * count_ + j]) continue;
          cost[i * count_ + j] = total;
          split_[i * count_ + j] = k;
        }
      }
    }
  }
  Tensor multiply(const std::vector<Tensor>& matrices, size_t i, size_t j) const {
    if (i == j) return matrices[i];
    const size_t k = split_[i * count_ + j];
    return at::matmul(multiply(matrices, i, k), multiply(matrices, k + 1, j));
  }

 private:
  size_t count_;
  std::vector<size_t> split_;
};

Tensor multiply_chain(const std::vector<Tensor>& matrices, const char* name) {
  std::vector<double> sizes{static_cast<double>(matrices[0].sizes()[0])};
  for (size_t i = 0; i < matrices.size(); ++i) {
    TORCH_CHECK(matrices[i].scalar_type() == matrices[0].scalar_type(), name,
                "(): all tensors must have be the same dtype but tensor 0 is ",
                matrices[0].scalar_type(), " and tensor ", i, " ", matrices[i].scalar_type());
    TORCH_CHECK(matrices[i].device() == matrices[0].device(), name,
                "(): all tensors must be on the same device but tensor 0 is on ",
                matrices[0].device(), " and tensor ", i, " on ", matrices[i].device());
    TORCH_CHECK(i == 0 || matrices[i].sizes()[0] == matrices[i - 1].sizes()[1], name,
                "(): tensors ", i - 1, " and ", i, " with shapes ", matrices[i - 1].sizes(),
                " and ", matrices[i].sizes(), " cannot be multiplied");
    sizes.push_back(static_cast<double>(matrices[i].sizes()[1]));
  }
  return ChainOrder(sizes).multiply(matrices, 0, matrices.size() - 1);
}

}  // namespace

Tensor linalg_multi_dot(TensorList tensors) {
  TORCH_CHECK(tensors.size() >= 2, "multi_dot(): expected at least 2 tensors but got ",
              tensors.size());
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  const bool row = matrices.front().dim() == 1, column = matrices.back().dim() == 1;
  TORCH_CHECK(row || matrices.front().dim() == 2,
              "multi_dot(): the first tensor must be 1D or 2D but got ", matrices.front().dim(),
              "D");
  TORCH_CHECK(column || matrices.back().dim() == 2,
              "multi_dot(): the last tensor must be 1D or 2D but got ", matrices.back().dim(), "D");
  for (size_t i = 1; i + 1 < matrices.size(); ++i) {
    TORCH_CHECK(matrices[i].dim() == 2, "multi_dot(): tensor ", i, " must be 2D but got ",
                matrices[i].dim(), "D");
  }
  if (row) matrices.front() = at::unsqueeze(matrices.front(), 0);
  if (column) matrices.back() = at::unsqueeze(matrices.back(), 1);
  Tensor result = multiply_chain(matrices, "multi_dot");
  if (column) result = at::squeeze(result, 1);
  return row ? at::squeeze(result, 0) : result;
}

Tensor chain_matmul(TensorList matrices) {
  TORCH_CHECK(!matrices.empty(), "chain_matmul(): Expected one or more matrices");
  for (const Tensor& matrix : matrices)
    TORCH_CHECK(matrix.dim() == 2, "Tensor dimension is ", matrix.dim(), ", expected 2 instead.");
  if (matrices.size() == 1) return matrices[0];
  return multiply_chain({matrices.begin(), matrices.end()}, "chain_matmul");
}

// Products of two

Tensor kron(const Tensor& self, const Tensor& other) {
  const int64_t ndim = std::max(self.dim(), other.dim());
  DimVector first(2 * ndim), second(2 * ndim), sizes(ndim);
  const auto size = [ndim](const Tensor& tensor, int64_t d) {
    const int64_t own = d - (ndim - tensor.dim());
    return own < 0 ? 1 : tensor.sizes()[own];
  };
  for (int64_t d = 0; d < ndim; ++d) {
    first[2 * d] = size(self, d);
    second[2 * d + 1] = size(other, d);
    first[2 * d + 1] = second[2 * d] = 1;
    sizes[d] = size(self, d) * size(other, d);
  }
  return at::reshape(at::mul(at::reshape(self, first), at::reshape(other, second)), sizes);
}

Tensor trace(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return at::sum(at::diagonal(self, 0, 0, 1));
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return at::mul(self, other);
  TORCH_CHECK(self.size(-1) == other.size(-1),
              "inner() the last dimension must match on both input tensors but got shapes ",
              self.sizes(), " and ", other.sizes());
  return at::tensordot(self, other, IntArrayRef(int64_t{-1}), IntArrayRef(int64_t{-1}));
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  TORCH_CHECK(batch1.sizes()[0] == batch2.sizes()[0],
              "batch1 and batch2 must have same number of batches, got ", batch1.sizes()[0],
              " and ", batch2.sizes()[0]);
  TORCH_CHECK(batch1.sizes()[2] == batch2.sizes()[1], "Incompatible matrix sizes for bmm (",
              batch1.sizes()[1], "x", batch1.sizes()[2], " and ", batch2.sizes()[1], "x",
              batch2.sizes()[2], ")");
  // The sum over the batch is a sum over the inner dimension of one product.
  const int64_t inner = batch1.sizes()[0] * batch1.sizes()[2];
  const Tensor left = at::reshape(at::permute(batch1, {1, 0, 2}), {batch1.sizes()[1], inner});
  return at::addmm(self, left, at::reshape(batch2, {inner, batch2.sizes()[2]}), beta, alpha);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
            const Scalar& alpha) {
  TORCH_CHECK(vec1.dim() == 1 && vec2.dim() == 1,
              "addr: Expected 1-D argument vec1 and vec2, but got ", vec1.dim(), "-D and ",
              vec2.dim(), "-D");
  for (const Tensor* tensor : {&self, &vec1, &vec2}) {
    const bool integral = is_integral(tensor->scalar_type(), true);
    TORCH_CHECK(!integral || (!beta.is_floating() && !beta.is_complex()),
                "For integral input tensors, argument beta must not be a floating point number.");
    TORCH_CHECK(!integral || (!alpha.is_floating() && !alpha.is_complex()),
                "For integral input tensors, argument alpha must not be a floating point number.");
  }
  Tensor result = at::outer(vec1, vec2);
  if (!alpha.equal(1)) result = result * alpha;
  const Tensor added = at::expand(self, result.sizes(), false);
  if (beta.equal(0)) return result.to(result_type({self, vec1, vec2}));
  return at::add(beta.equal(1) ? added : added * beta, result);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  TORCH_CHECK(weight.dim() == 3, "bilinear(): weight must have 3 dimensions, got ", weight.dim());
  TORCH_CHECK(input1.dim() == input2.dim(), "bilinear(): input dimensions do not match: got ",
              input1.dim(), " and ", input2.dim());
  TORCH_CHECK(input1.dim() > 0 && batch_sizes(input1, 1) == batch_sizes(input2, 1),
              "bilinear(): input batch dimensions do not match: got ", input1.sizes(), " and ",
              input2.sizes());
  const int64_t outputs = weight.sizes()[0], first = weight.sizes()[1], second = weight.sizes()[2];
  TORCH_CHECK(input1.size(-1) == first, "bilinear(): input1 size does not match weight size: got ",
              input1.size(-1), " but expected ", first);
  TORCH_CHECK(input2.size(-1) == second, "bilinear(): input2 size does not match weight size: got ",
              input2.size(-1), " but expected ", second);
  TORCH_CHECK(!bias.defined() || (bias.dim() == 1 && bias.sizes()[0] == outputs),
              "bilinear(): bias size does not match weight size: got ", bias.sizes(),
              " but expected [", outputs, "]");
  const DimVector batch(batch_sizes(input1, 1));
  int64_t rows = 1;
  for (const int64_t size : batch) rows *= size;
  const Tensor stacked = at::reshape(at::permute(weight, {1, 0, 2}), {first, outputs * second});
  const Tensor left =
      at::reshape(at::matmul(at::reshape(input1, {rows, first}), stacked), {rows, outputs, second});
  const Tensor result = at::reshape(at::matmul(left, at::reshape(input2, {rows, second, 1})),
                                    joined_sizes(batch, {outputs}));
  return bias.defined() ? result + bias : result;
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", other.dim(), "D tensors");
  return at::dot(at::conj(self), other);
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  TORCH_CHECK(self.dim() == other.dim(),
              "linalg.cross: inputs must have the same number of dimensions.");
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(self.dim() > 0 && self.sizes()[d] == 3 && other.sizes()[d] == 3,
              "linalg.cross: inputs dimension ", dim, " must have length 3. Got ",
              self.dim() > 0 ? self.sizes()[d] : 1, " and ", self.dim() > 0 ? other.sizes()[d] : 1);
  TORCH_CHECK(self.scalar_type() == other.scalar_type(),
              "linalg.cross: Expected both inputs to have the same dtype, but found ",
              self.scalar_type(), " and ", other.scalar_type());
  // Component i is a[i + 1] b[i + 2] - a[i + 2] b[i + 1].
  const auto turned = [d](const Tensor& tensor, int64_t by) {
    return at::roll(tensor, IntArrayRef(-by), IntArrayRef(d));
  };
  return turned(self, 1) * turned(other, 2) - turned(self, 2) * turned(other, 1);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim.has_value()) return at::linalg_cross(self, other, *dim);
  const auto three = std::find(self.sizes().begin(), self.sizes().end(), 3);
  TORCH_CHECK(three != self.sizes().end(), "no dimension of size 3 in input");
  return at::linalg_cross(self, other, three - self.sizes().begin());
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  TORCH_CHECK(x.scalar_type() == y.scalar_type(),
              "linalg.vecdot: Expected x and y to have the same dtype, but found x of type ",
              x.scalar_type(), " and y of type ", y.scalar_type(), " instead");
  check_matrix_dtype(x, "linalg.vecdot", true);
  return at::sum(at::conj(x) * y, IntArrayRef(dim), false, x.scalar_type());
}

Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return at::diagonal(A, offset, dim1, dim2);
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
