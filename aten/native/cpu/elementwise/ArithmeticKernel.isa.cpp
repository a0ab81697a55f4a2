// The kernels of add, sub, rsub and mul.
#include "aten/native/declarations/cpu/elementwise/ArithmeticKernel.isa.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/Arithmetic.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  check_alpha(iter.common_dtype(), alpha);
  with_sum<false>(iter.common_dtype(), alpha, [&](auto functor) { cpu_kernel(iter, functor); });
}

void sub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  check_alpha(iter.common_dtype(), alpha);
  with_sum<false>(iter.common_dtype(), -alpha, [&](auto functor) { cpu_kernel(iter, functor); });
}

void rsub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  check_alpha(iter.common_dtype(), alpha);
  with_sum<true>(iter.common_dtype(), -alpha, [&](auto functor) { cpu_kernel(iter, functor); });
}

void mul_kernel(TensorIteratorBase& iter) {
  with_product(iter.common_dtype(), iter.unrounded_number(2),
               [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
