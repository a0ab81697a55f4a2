// The kernel of products over dimensions.
#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/functors/Product.h"

namespace at::native::cuda {

void prod_kernel(TensorIteratorBase& iter) {
  with_product_ops(launch_plan(iter).common_dtype, [&](auto ops) { reduce(iter, ops); });
}

}  // namespace at::native::cuda
