// Sums, sums without nan, means and exclusive ors over dimensions. Integers wrap around, so signed
// and unsigned types of one size share a loop; float16 and bfloat16 accumulate in float.
#include "aten/native/declarations/cpu/reduction/SumKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/ReductionLoops.h"
#include "aten/native/cpu/shared/Modular.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <typename T>
struct NanSum {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  static acc_t identity() { return acc_t(0); }
  static acc_t reduce(acc_t acc, T value) {
    const auto number = static_cast<acc_t>(value);
    return acc + (number == number ? number : acc_t(0));
  }
  static acc_t combine(acc_t a, acc_t b) { return a + b; }
  static T project(acc_t acc) { return static_cast<T>(acc); }
};

template <typename T>
struct SumOfIntegers {
  using input_t = T;
  using acc_t = T;
  using output_t = T;
  static T identity() { return 0; }
  static T reduce(T acc, T value) { return static_cast<T>(acc + value); }
  static T combine(T a, T b) { return static_cast<T>(a + b); }
  static T project(T acc) { return acc; }
};

/// A mean is a sum that is divided once, in the accumulation type.
template <typename T>
struct Sum {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  using divisor_t = real_type<acc_t>;
  divisor_t divisor;
  static acc_t identity() { return acc_t(0); }
  static acc_t reduce(acc_t acc, T value) { return acc + static_cast<acc_t>(value); }
  static acc_t combine(acc_t a, acc_t b) { return a + b; }
  T project(acc_t acc) const { return static_cast<T>(acc / divisor); }
};

struct ExclusiveOr {
  using input_t = uint64_t;
  using acc_t = uint64_t;
  using output_t = uint64_t;
  static uint64_t identity() { return 0; }
  static uint64_t reduce(uint64_t acc, uint64_t value) { return acc ^ value; }
  static uint64_t combine(uint64_t a, uint64_t b) { return a ^ b; }
  static uint64_t project(uint64_t acc) { return acc; }
};

/// The sum of bools is whether any is true.
struct AnyTrue {
  using input_t = bool;
  using acc_t = bool;
  using output_t = bool;
  static bool identity() { return false; }
  static bool reduce(bool acc, bool value) { return acc | value; }
  static bool combine(bool a, bool b) { return a | b; }
  static bool project(bool acc) { return acc; }
};

void divided_sum(const TensorIteratorBase& iter, int64_t divisor) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), iter.op_name(), [&] {
    using ops_t = Sum<scalar_t>;
    cpu_reduce(iter, ops_t{static_cast<typename ops_t::divisor_t>(divisor)});
  });
}

}  // namespace

void nansum_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), "nansum",
                                   [&] { cpu_reduce(iter, NanSum<scalar_t>()); });
}

void sum_kernel(TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  if (type == kBool) return cpu_reduce(iter, AnyTrue());
  if (is_integral(type, false))
    return dispatch_modular(type, [&]<typename T>() { cpu_reduce(iter, SumOfIntegers<T>()); });
  divided_sum(iter, 1);
}

void xor_kernel(TensorIteratorBase& iter) {
  dispatch<kLong>(iter.common_dtype(), "xor", [&]<typename>() { cpu_reduce(iter, ExclusiveOr()); });
}

void mean_kernel(TensorIteratorBase& iter) {
  TORCH_CHECK(!is_integral(iter.common_dtype(), true),
              "mean(): could not infer output dtype. Input dtype, or optional dtype, must be "
              "either a floating point or complex dtype. Got: ",
              iter.common_dtype());
  const int64_t outputs = iter.output().numel();
  divided_sum(iter, outputs == 0 ? 1 : iter.numel() / outputs);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
