// Euclidean norms in one pass. All other norms are composed of operators in linalg/Norm.cpp.
#include "aten/iteration/ReductionPlan.h"
#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/declarations/linalg/Norm.h"
#include "aten/native/functors/Norm.h"

namespace at::native::cuda {

Tensor norm_kernel(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                   bool keepdim) {
  const bool euclidean = !p.has_value() || (!p->is_complex() && p->to_double() == 2);
  if (!euclidean || !self.is_floating_point() || self.numel() == 0)
    return norm_dim(self, p, dim, keepdim);

  TensorIterator iter =
      make_reduction("norm", Tensor(), self, dim, keepdim, ReductionDtype::Same, std::nullopt);
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "norm",
                                   [&] { reduce(iter, EuclideanNorm<scalar_t>()); });
  return iter.finish();
}

}  // namespace at::native::cuda
