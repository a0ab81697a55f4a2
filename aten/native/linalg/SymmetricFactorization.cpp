// The factorisation A = L D L^H of symmetric or Hermitian matrices, which may be indefinite: the
// shapes of results, the operators composed of others, and the gradient of solving.
#include "aten/native/declarations/linalg/SymmetricFactorization.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/conj_physical.h"
#include "aten/ops/linalg_ldl_factor_ex.h"
#include "aten/ops/linalg_ldl_solve.h"
#include "aten/ops/sum_to_size.h"

namespace at::native {

std::tuple<TensorSpec, TensorSpec, TensorSpec> ldl_factor_ex_shape(const Tensor& self, bool, bool) {
  const char* name = "torch.linalg.ldl_factor_ex";
  check_is_square(self, name);
  check_matrix_dtype(self, name);
  return {column_major_spec(DimVector(self.sizes()), self),
          {DimVector(self.sizes().slice(0, self.dim() - 1)), kInt, self.device()},
          {DimVector(batch_sizes(self)), kInt, self.device()}};
}

std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian) {
  const auto [LD, pivots, info] = at::linalg_ldl_factor_ex(self, hermitian, is_checked_later(self));
  check_ldl_info(info, "torch.linalg.ldl_factor");
  return {LD, pivots};
}

TensorSpec ldl_solve_shape(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool) {
  const char* name = "torch.linalg.ldl_solve";
  check_is_square(LD, name, "LD");
  check_is_matrix(B, name, "B");
  check_matrix_dtype(LD, name);
  check_same_device(name, {&LD, &pivots, &B});

  TORCH_CHECK(LD.scalar_type() == B.scalar_type(), name,
              ": Expected LD and B to have the same dtype, but found LD of type ", LD.scalar_type(),
              " and B of type ", B.scalar_type(), " instead");
  TORCH_CHECK(is_integral(pivots.scalar_type(), false), name,
              ": Expected pivots to be integers. Got ", pivots.scalar_type());
  TORCH_CHECK(
      pivots.dim() == LD.dim() - 1 && pivots.sizes() == LD.sizes().slice(0, LD.dim() - 1), name,
      ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
      pivots.sizes(), " instead");
  TORCH_CHECK(LD.size(-1) == B.size(-2), "Incompatible matrix sizes for ", name,
              ": each A matrix is ", LD.size(-1), " by ", LD.size(-1), " but each b matrix is ",
              B.size(-2), " by ", B.size(-1));

  return column_major_spec(
      joined_sizes(broadcast_sizes(batch_sizes(LD), batch_sizes(B)), {B.size(-2), B.size(-1)}), B);
}

// A X = B gives G_B = A^-H G. A^H is A for Hermitian matrices and conj(A) for symmetric ones, whose
// solution is conj(A^-1 conj(G)).
Tensor _ldl_solve_backward(const Tensor& grad, const Tensor& LD, const Tensor& pivots,
                           bool hermitian, IntArrayRef sizes) {
  const bool conjugate = !hermitian && is_complex(grad.scalar_type());
  const Tensor solved =
      at::linalg_ldl_solve(LD, pivots, conjugate ? at::conj_physical(grad) : grad, hermitian);
  return at::sum_to_size(conjugate ? at::conj_physical(solved) : solved, sizes);
}

}  // namespace at::native
