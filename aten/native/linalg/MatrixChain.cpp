// The product of several matrices, in the order that needs the fewest multiplications.
#include <limits>
#include <vector>

#include "aten/native/declarations/linalg/MatrixChain.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/matmul.h"
#include "aten/ops/squeeze.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

namespace {

/// Where to split the product of matrices i to j, for each i < j, by dynamic programming over the
/// lengths of chains. Matrix i is of sizes[i] x sizes[i + 1].
class ChainOrder {
 public:
  explicit ChainOrder(const std::vector<double>& sizes)
      : count_(sizes.size() - 1), split_(count_ * count_) {
    // cost(i, j): the fewest multiplications for the product of matrices i to j.
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

/// The product of two-dimensional matrices; `name` is the operator in error messages.
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
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  const bool row = matrices.front().dim() == 1;
  const bool column = matrices.back().dim() == 1;
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
  for (const Tensor& matrix : matrices)
    TORCH_CHECK(matrix.dim() == 2, "Tensor dimension is ", matrix.dim(), ", expected 2 instead.");
  if (matrices.size() == 1) return matrices[0];
  return multiply_chain({matrices.begin(), matrices.end()}, "chain_matmul");
}

}  // namespace at::native
