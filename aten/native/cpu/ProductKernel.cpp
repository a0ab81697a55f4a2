// Products, and whether any or all elements are true.
#include "aten/native/declarations/cpu/ProductKernel.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Reduce.h"
#include "aten/native/cpu/Modular.h"

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

template <typename T>
bool is_nonzero(T value) {
  return value != T(0);
}
template <typename T>
bool is_nonzero(c10::complex<T> value) {
  return static_cast<bool>(value);
}

/// Whether an element is true; negated twice: whether all are, which is that none is false.
template <typename T>
struct AnyNonzero {
  using input_t = T;
  using acc_t = bool;
  using output_t = bool;
  bool negated;
  static bool identity() { return false; }
  bool reduce(bool acc, T value) const { return acc | (is_nonzero(value) != negated); }
  static bool combine(bool a, bool b) { return a | b; }
  bool project(bool acc) const { return acc != negated; }
};

void any_or_all(const TensorIteratorBase& iter, bool is_all) {
  const ScalarType type = iter.common_dtype();
  if (is_integral(type, true)) {
    return dispatch_modular(type, [&]<typename T>() { cpu_reduce(iter, AnyNonzero<T>{is_all}); });
  }
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, iter.op_name(), [&] { cpu_reduce(iter, AnyNonzero<scalar_t>{is_all}); });
}

}  // namespace

void prod_kernel(TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  // Of bool the product is the logical and; 0 and 1 as uint8 have that product.
  if (is_integral(type, true)) return dispatch_modular(type, [&]<typename T>() { cpu_reduce(iter, ProductOfIntegers<T>()); });
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "prod", [&] { cpu_reduce(iter, Product<scalar_t>()); });
}

void any_kernel(TensorIteratorBase& iter) { any_or_all(iter, false); }

void all_kernel(TensorIteratorBase& iter) { any_or_all(iter, true); }

}  // namespace CPU_CAPABILITY
}  // namespace at::native
