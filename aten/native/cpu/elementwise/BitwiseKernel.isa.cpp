// The kernels of the bitwise operations and shifts of integers.
#include "aten/native/declarations/cpu/elementwise/BitwiseKernel.isa.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/Bitwise.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void bitwise_and_kernel(TensorIteratorBase& iter) {
  with_bitwise<BitAnd>(iter.common_dtype(), iter.op_name(),
                       [&](auto functor) { cpu_kernel(iter, functor); });
}

void bitwise_or_kernel(TensorIteratorBase& iter) {
  with_bitwise<BitOr>(iter.common_dtype(), iter.op_name(),
                      [&](auto functor) { cpu_kernel(iter, functor); });
}

void bitwise_xor_kernel(TensorIteratorBase& iter) {
  with_bitwise<BitXor>(iter.common_dtype(), iter.op_name(),
                       [&](auto functor) { cpu_kernel(iter, functor); });
}

void lshift_kernel(TensorIteratorBase& iter) {
  with_shift<ShiftLeft>(iter.common_dtype(), "lshift",
                        [&](auto functor) { cpu_kernel(iter, functor); });
}

void rshift_kernel(TensorIteratorBase& iter) {
  with_shift<ShiftRight>(iter.common_dtype(), "rshift",
                         [&](auto functor) { cpu_kernel(iter, functor); });
}

void bitwise_not_kernel(TensorIteratorBase& iter) {
  with_bitwise_not(iter.common_dtype(), [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
