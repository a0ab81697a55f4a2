// The kernels of this package. A file named *.isa.cpp is compiled once per instruction set.
#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/iteration/ReductionLoops.h"
#include "aten/native/loops/Powers.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// What a reduction is made of: see aten/native/functors/Sum.h.
template <class T>
struct SumOfSquares {
  using input_t = T;
  using acc_t = T;
  using output_t = T;
  static T identity() { return T(0); }
  static T reduce(T sum, T value) { return sum + value * value; }
  static T combine(T left, T right) { return left + right; }
  static T project(T sum) { return sum; }
};

}  // namespace

void cube_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING(iter.common_dtype(), "cube",
                       [&] { cpu_kernel(iter, [](scalar_t x) -> scalar_t { return x * x * x; }); });
}

void sum_of_squares_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING(iter.common_dtype(), "sum_of_squares",
                       [&] { cpu_reduce(iter, SumOfSquares<scalar_t>()); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
