// Products over dimensions. Integers wrap around; float16 and bfloat16 accumulate in float.
#include "aten/native/declarations/cpu/reduction/ProductKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/ReductionLoops.h"
#include "aten/native/cpu/shared/Modular.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <typename T>
struct ProductOfIntegers {
  using input_t = T;
  using acc_t = T;
  using output_t = T;
  static T identity() { return 1; }
  static T reduce(T acc, T value) { return multiply_modular<T>(acc, value); }
  static T combine(T a, T b) { return multiply_modular<T>(a, b); }
  static T project(T acc) { return acc; }
};

template <typename T>
struct Product {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  static acc_t identity() { return acc_t(1); }
  static acc_t reduce(acc_t acc, T value) { return acc * static_cast<acc_t>(value); }
  static acc_t combine(acc_t a, acc_t b) { return a * b; }
  static T project(acc_t acc) { return static_cast<T>(acc); }
};

}  // namespace

void prod_kernel(TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  // The product of bools is their logical and, which uint8 products of 0 and 1 give.
  if (is_integral(type, true))
    return dispatch_modular(type, [&]<typename T>() { cpu_reduce(iter, ProductOfIntegers<T>()); });
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "prod", [&] { cpu_reduce(iter, Product<scalar_t>()); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
