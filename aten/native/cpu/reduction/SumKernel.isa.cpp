// Sum, mean and exclusive or over dimensions; nansum is a formula. Compiled with -O3.
#include "aten/native/declarations/cpu/reduction/SumKernel.isa.h"
#include "aten/iteration/ReductionLoops.h"
#include "aten/native/functors/Sum.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void sum_kernel(TensorIteratorBase& iter) {
  with_sum_ops(iter.common_dtype(), iter.op_name(), [&](auto ops) { cpu_reduce(iter, ops); });
}

void xor_kernel(TensorIteratorBase& iter) {
  with_xor_ops(iter.common_dtype(), [&](auto ops) { cpu_reduce(iter, ops); });
}

void mean_kernel(TensorIteratorBase& iter) {
  with_mean_ops(iter.common_dtype(), iter.op_name(), iter.numel(), iter.output().numel(),
                [&](auto ops) { cpu_reduce(iter, ops); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
