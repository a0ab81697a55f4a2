#pragma once
// Sums, means and exclusive ors. Integers wrap around, so signed and unsigned
// types of one size share a loop; float16 and bfloat16 accumulate in float.
//
// Ops, here and in the other headers of reductions, is a struct with the types input_t, acc_t and
// output_t and the functions identity(), reduce(acc, input), combine(acc, acc) and project(acc).
#include "aten/Dispatch.h"
#include "aten/native/functors/Modular.h"

namespace at::native {
namespace {

template <class T>
struct SumOfIntegers {
  using input_t = T;
  using acc_t = T;
  using output_t = T;
  C10_HOST_DEVICE static T identity() { return 0; }
  C10_HOST_DEVICE static T reduce(T acc, T value) { return static_cast<T>(acc + value); }
  C10_HOST_DEVICE static T combine(T a, T b) { return static_cast<T>(a + b); }
  C10_HOST_DEVICE static T project(T acc) { return acc; }
};

/// A mean is a sum that is divided once, in the accumulation type.
template <class T>
struct Sum {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  using divisor_t = real_type<acc_t>;
  divisor_t divisor;
  C10_HOST_DEVICE static acc_t identity() { return acc_t(0); }
  C10_HOST_DEVICE static acc_t reduce(acc_t acc, T value) {
    return acc + static_cast<acc_t>(value);
  }
  C10_HOST_DEVICE static acc_t combine(acc_t a, acc_t b) { return a + b; }
  C10_HOST_DEVICE T project(acc_t acc) const { return static_cast<T>(acc / divisor); }
};

struct ExclusiveOr {
  using input_t = uint64_t;
  using acc_t = uint64_t;
  using output_t = uint64_t;
  C10_HOST_DEVICE static uint64_t identity() { return 0; }
  C10_HOST_DEVICE static uint64_t reduce(uint64_t acc, uint64_t value) { return acc ^ value; }
  C10_HOST_DEVICE static uint64_t combine(uint64_t a, uint64_t b) { return a ^ b; }
  C10_HOST_DEVICE static uint64_t project(uint64_t acc) { return acc; }
};

/// The sum of bools is whether any is true.
struct AnyTrue {
  using input_t = bool;
  using acc_t = bool;
  using output_t = bool;
  C10_HOST_DEVICE static bool identity() { return false; }
  C10_HOST_DEVICE static bool reduce(bool acc, bool value) { return acc | value; }
  C10_HOST_DEVICE static bool combine(bool a, bool b) { return a | b; }
  C10_HOST_DEVICE static bool project(bool acc) { return acc; }
};

/// Calls run(ops) with the sum of `type` that is divided by `divisor`.
template <class Run>
void with_divided_sum(ScalarType type, const char* op_name, int64_t divisor, const Run& run) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, op_name, [&] {
    using ops_t = Sum<scalar_t>;
    run(ops_t{static_cast<typename ops_t::divisor_t>(divisor)});
  });
}

template <class Run>
void with_sum_ops(ScalarType type, const char* op_name, const Run& run) {
  if (type == kBool) return run(AnyTrue());
  if (is_integral(type, false))
    return dispatch_modular(type, [&]<typename T>() { run(SumOfIntegers<T>()); });
  with_divided_sum(type, op_name, 1, run);
}

/// The mean of `numel` elements in `outputs` results.
template <class Run>
void with_mean_ops(ScalarType type, const char* op_name, int64_t numel, int64_t outputs,
                   const Run& run) {
  TORCH_CHECK(!is_integral(type, true),
              "mean(): could not infer output dtype. Input dtype, or optional dtype, must be "
              "either a floating point or complex dtype. Got: ",
              type);
  with_divided_sum(type, op_name, outputs == 0 ? 1 : numel / outputs, run);
}

template <class Run>
void with_xor_ops(ScalarType type, const Run& run) {
  dispatch<kLong>(type, "xor", [&]<typename>() { run(ExclusiveOr()); });
}

}  // namespace
}  // namespace at::native
