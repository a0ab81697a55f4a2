// Operators on matrices with vectors or numbers that belong to each.
#include <algorithm>

#include "aten/ops/_cdist_forward.h"
#include "aten/ops/_linalg_solve_ex.h"
#include "aten/ops/cholesky_solve.h"
#include "aten/ops/flatten.h"
#include "aten/ops/linalg_householder_product.h"
#include "aten/ops/linalg_ldl_solve.h"
#include "aten/ops/linalg_lu_solve.h"
#include "aten/ops/linalg_pinv.h"
#include "aten/ops/movedim.h"
#include "aten/ops/ormqr.h"
#include "aten/ops/unflatten.h"
#include "aten/transforms/BatchedCall.h"

namespace at::transforms {

namespace {

/// `kRanks` are those of one matrix (2), vector (1) or number (0) of each argument. The dimensions
/// before are a batch, of as many dimensions for all arguments once the members have joined it.
template <int64_t... kRanks>
void batches_of(BatchedCall& call) {
  constexpr int64_t ranks[] = {kRanks...};
  int64_t highest = 0;
  for (size_t i = 0; i < sizeof...(kRanks); ++i) {
    if (!call.stack()[i].is<Tensor>()) continue;
    const int64_t before = call.stack()[i].get<Tensor>().dim() - ranks[i];
    if (before < 0) return one_by_one(call);
    highest = std::max(highest, before);
  }

  for (size_t i = 0; i < sizeof...(kRanks); ++i) {
    if (!call.stack()[i].is<Tensor>()) continue;
    const Tensor tensor = call.stack()[i].get<Tensor>();
    Tensor members = call.members(tensor);
    for (int64_t before = tensor.dim() - ranks[i]; before < highest; ++before)
      members = members.unsqueeze(1);
    call.stack()[i] = Value(members);
  }
  call.run();
}

/// Solutions of A X = B; many for one A are one with more columns.
void solve(BatchedCall& call) {
  const Tensor A = call.stack()[0].get<Tensor>();
  const Tensor B = call.stack()[1].get<Tensor>();
  const bool is_vector =
      B.dim() == 1 ||
      (B.dim() == A.dim() - 1 && B.sizes() == A.sizes().slice(0, static_cast<size_t>(B.dim())));
  const bool is_left = call.stack()[2].get<bool>();
  if (A.dim() < 2 || B.dim() == 0 || (is_vector && !is_left)) return one_by_one(call);

  Tensor right = call.members(B);
  if (is_vector) right = right.unsqueeze(-1);
  Tensor solution;
  const bool shares_matrix = !call.is_batched(A) && A.dim() == 2 && right.dim() == 3 && is_left;
  if (shares_matrix) {
    call.stack()[1] = Value(at::flatten(at::movedim(right, 0, 1), 1, 2));
    call.entry().call_boxed(call.stack());
    const DimVector columns{call.size(), right.sizes()[2]};
    solution = at::movedim(at::unflatten(call.stack()[0].get<Tensor>(), 1, columns), 1, 0);
  } else {
    call.stack()[1] = Value(wrap_batch(right, call.level()));
    batches_of<2, 2>(call);
    solution = call.inside(call.stack()[0].get<Tensor>());

    // The factors have the batch of A, without the dimensions that were added to it.
    for (size_t i = 1; i < call.stack().size(); ++i) {
      Tensor factor = call.inside(call.stack()[i].get<Tensor>());
      for (int64_t d = A.dim(); d < right.dim() - 1; ++d) factor = factor.squeeze(1);
      call.stack()[i] = Value(wrap_batch(factor, call.level()));
    }
  }
  if (is_vector) solution = solution.squeeze(-1);
  call.stack()[0] = Value(wrap_batch(solution, call.level()));
}

const OwnRule rules[] = {
    {ops::cholesky_solve::entry, &batches_of<2, 2>},
    {ops::linalg_lu_solve::entry, &batches_of<2, 1, 2>},
    {ops::linalg_ldl_solve::entry, &batches_of<2, 1, 2>},
    {ops::linalg_householder_product::entry, &batches_of<2, 1>},
    {ops::ormqr::entry, &batches_of<2, 1, 2>},
    {ops::_linalg_solve_ex::entry, &solve},
    {ops::_cdist_forward::entry, &batches_of<2, 2>},
    {ops::linalg_pinv_atol_rtol_tensor::entry, &batches_of<2, 0, 0>},
};

}  // namespace

}  // namespace at::transforms
