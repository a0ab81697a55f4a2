// The kernel of nextafter.
#include "aten/native/declarations/cpu/elementwise/BinaryMathKernel.h"
#include "aten/iteration/Loops.h"
#include "aten/native/functors/BinaryMath.h"

namespace at::native {

void nextafter_kernel(TensorIteratorBase& iter) {
  with_nextafter(iter.common_dtype(), [&](auto functor) { cpu_kernel(iter, functor); });
}

}  // namespace at::native
