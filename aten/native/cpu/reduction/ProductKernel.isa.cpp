// The kernel of products over dimensions. Compiled with -O3.
#include "aten/native/declarations/cpu/reduction/ProductKernel.isa.h"
#include "aten/iteration/ReductionLoops.h"
#include "aten/native/functors/Product.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void prod_kernel(TensorIteratorBase& iter) {
  with_product_ops(iter.common_dtype(), [&](auto ops) { cpu_reduce(iter, ops); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
