// Operators on matrices with vectors or numbers that belong to each.
#include <algorithm>

#include "aten/ops/cholesky_solve.h"
#include "aten/ops/linalg_householder_product.h"
#include "aten/ops/linalg_ldl_solve.h"
#include "aten/ops/linalg_lu_solve.h"
#include "aten/ops/linalg_pinv.h"
#include "aten/ops/ormqr.h"
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

const OwnRule rules[] = {
    {ops::cholesky_solve::entry, &batches_of<2, 2>},
    {ops::linalg_lu_solve::entry, &batches_of<2, 1, 2>},
    {ops::linalg_ldl_solve::entry, &batches_of<2, 1, 2>},
    {ops::linalg_householder_product::entry, &batches_of<2, 1>},
    {ops::ormqr::entry, &batches_of<2, 1, 2>},
    {ops::linalg_pinv_atol_rtol_tensor::entry, &batches_of<2, 0, 0>},
};

}  // namespace

}  // namespace at::transforms
