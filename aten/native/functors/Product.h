#pragma once
// Products. Integers wrap around; float16 and bfloat16 accumulate in float. Sum.h says what Ops is.
#include "aten/Dispatch.h"
#include "aten/native/functors/Modular.h"

namespace at::native {
namespace {

template <class T>
struct ProductOfIntegers {
  using input_t = T;
  using acc_t = T;
  using output_t = T;
  C10_HOST_DEVICE static T identity() { return 1; }
  C10_HOST_DEVICE static T reduce(T acc, T value) { return multiply_modular<T>(acc, value); }
  C10_HOST_DEVICE static T combine(T a, T b) { return multiply_modular<T>(a, b); }
  C10_HOST_DEVICE static T project(T acc) { return acc; }
};

template <class T>
struct Product {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  C10_HOST_DEVICE static acc_t identity() { return acc_t(1); }
  C10_HOST_DEVICE static acc_t reduce(acc_t acc, T value) {
    return acc * static_cast<acc_t>(value);
  }
  C10_HOST_DEVICE static acc_t combine(acc_t a, acc_t b) { return a * b; }
  C10_HOST_DEVICE static T project(acc_t acc) { return static_cast<T>(acc); }
};

template <class Run>
void with_product_ops(ScalarType type, const Run& run) {
  // The product of bools is their logical and, which uint8 products of 0 and 1 give.
  if (is_integral(type, true))
    return dispatch_modular(type, [&]<typename T>() { run(ProductOfIntegers<T>()); });
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "prod", [&] { run(Product<scalar_t>()); });
}

}  // namespace
}  // namespace at::native
