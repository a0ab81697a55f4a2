// The factorisation A = L D L^H, and systems solved with it, by LAPACK, matrix by matrix.
#include "aten/native/declarations/cpu/linalg/SymmetricFactorizationKernel.h"
#include "aten/native/shared/MatrixBatch.h"
#include "aten/ops/copy.h"
#include "aten/ops/expand.h"
#include "aten/ops/to.h"
#include "aten/ops/tril.h"

namespace at::native {

namespace {

/// LAPACK does not check pivots and would write outside of the matrix. A block of two rows has the
/// same negative number twice.
void check_ldl_pivots(const int32_t* pivots, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    const int64_t row = pivots[k] < 0 ? -static_cast<int64_t>(pivots[k]) : pivots[k];
    TORCH_CHECK(row >= 1 && row <= n, "torch.linalg.ldl_solve: pivots must be between 1 and ", n,
                " in absolute value, got ", pivots[k]);
    if (pivots[k] > 0) continue;
    TORCH_CHECK(k + 1 < n && pivots[k + 1] == pivots[k],
                "torch.linalg.ldl_solve: negative pivots come in pairs, got ", pivots[k],
                " at position ", k, ". Did you properly pass the result of ldl_factor?");
    ++k;
  }
}

}  // namespace

void ldl_factor_ex_kernel(const Tensor& self, bool hermitian, bool check_errors, const Tensor& out0,
                          const Tensor& out1, const Tensor& out2) {
  check_lapack("linalg.ldl_factor_ex");
  at::copy_(out0, at::tril(self));

  const int64_t n = self.size(-1);
  for_matrix_type(self.scalar_type(), "ldl_factor_kernel_cpu", [&]<class T>() {
    const auto LD = matrices_of<T>(out0);
    const auto pivots = vectors_of<int32_t>(out1);
    const auto info = scalars_of<int32_t>(out2);
    for_each_matrix(matrix_count(self), cube(n), [&](int64_t i) {
      *info[i] = n == 0 ? 0 : lapack::sytrf<T>(hermitian, n, LD[i], n, pivots[i]);
    });
  });

  if (check_errors) check_ldl_info(out2, "torch.linalg.ldl_factor_ex");
}

void ldl_solve_kernel(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian,
                      const Tensor& out0) {
  check_lapack("linalg.ldl_solve");
  if (out0.numel() == 0) return;
  const int64_t n = LD.size(-1);
  const int64_t columns = out0.size(-1);

  const IntArrayRef batch = batch_sizes(out0);
  const Tensor factors = as_column_major(LD.expand(joined_sizes(batch, {n, n})));
  const Tensor exchanges = pivots.to(kInt).expand(joined_sizes(batch, {n})).contiguous();

  at::copy_(out0, B.expand(out0.sizes()));
  for_matrix_type(LD.scalar_type(), "ldl_solve_kernel_cpu", [&]<class T>() {
    const auto X = matrices_of<T>(out0);
    const auto F = matrices_of<T>(factors);
    const auto rows = vectors_of<int32_t>(exchanges);
    for (int64_t i = 0; i < matrix_count(out0); ++i) check_ldl_pivots(rows[i], n);
    for_each_matrix(matrix_count(out0), static_cast<double>(n * n * columns), [&](int64_t i) {
      lapack::sytrs<T>(hermitian, n, columns, F[i], n, rows[i], X[i], n);
    });
  });
}

}  // namespace at::native
