// The kernel of scatter_reduce: reduces the elements of src that an index sends to one place.
#include "aten/native/cuda/indexing/ElementSums.cuh"
#include "aten/native/functors/Accumulate.h"
#include "aten/native/shared/ScatterChecks.h"

namespace at::native::cuda {

void scatter_reduce_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce) {
  constexpr const char* kName = "scatter_reduce";
  const int64_t d = wrap_dim(dim, self.dim());
  check_scatter_sizes(self, d, index, src);
  if (index.numel() == 0) return;
  if (reduce == "sum" && adds_in_any_order(self.scalar_type()))
    return add_elements_in_any_order(kName, self, d, index, src);

  const OrderedUpdates updates = element_updates(kName, self, d, index);
  if (reduce == "amax" || reduce == "amin") {
    AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), kName, [&] {
      apply_elements<scalar_t>(kName, updates, self, index, src,
                               TakeExtremum<scalar_t>{reduce == "amax"});
    });
    return;
  }

  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), kName, [&] {
    if (reduce == "sum") {
      apply_elements<scalar_t>(kName, updates, self, index, src,
                               AddMultiple<scalar_t>{opmath_type<scalar_t>(1), false});
    } else {
      apply_elements<scalar_t>(kName, updates, self, index, src, Multiply<scalar_t>());
    }
  });
}

}  // namespace at::native::cuda
