// Division that keeps a whole quotient or the remainder: floor_divide, remainder and fmod.
#pragma once
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/functors/Division.h"

namespace at::native::cuda {

// In a file of their own, which nvcc compiles next to that of the other kernels.
void take_remainders(const LaunchPlan& plan);
void take_fmod(const LaunchPlan& plan);

namespace {

/// Op on floats: quickly, and once more exactly where that is not certain. `number` is a common
/// divisor that T may not represent.
template <class T, class Op, bool kHasNumber>
struct DivideFloats {
  float number;

  C10_HOST_DEVICE T operator()(T a, T b) const {
    using opmath_t = opmath_type<T>;
    const auto x = static_cast<opmath_t>(a);
    const auto y = kHasNumber ? static_cast<opmath_t>(number) : static_cast<opmath_t>(b);

    opmath_t result = Op::quick(x, y, QuickDivision<opmath_t>(x, y));
    if (result != result)
      result = static_cast<opmath_t>(Op::exact(static_cast<double>(x), static_cast<double>(y)));
    return static_cast<T>(result);
  }
};

template <class T, class Op>
struct DivideIntegers {
  simt::Reporter reporter;

  SIMT_DEVICE T operator()(T a, T b) const {
    if (b != 0) return Op::of_integers(Quotient<T>(a, b), b);
    simt::report(reporter, c10::cuda::ReportKind::ZeroDivision, /*argument=*/1, 0, 0);
    return T(0);
  }
};

template <class Op>
void divide_integers(const LaunchPlan& plan) {
  AT_DISPATCH_INTEGRAL(plan.common_dtype, plan.op_name,
                       [&] { elementwise(plan, DivideIntegers<scalar_t, Op>()); });
}

template <class Op>
void divide(const LaunchPlan& plan, std::optional<float> number = std::nullopt) {
  if (is_integral(plan.common_dtype, false)) return divide_integers<Op>(plan);
  AT_DISPATCH_FLOATING_AND_REDUCED(plan.common_dtype, plan.op_name, [&] {
    if constexpr (!std::is_same_v<opmath_type<scalar_t>, scalar_t>) {
      if (number) return elementwise(plan, DivideFloats<scalar_t, Op, true>{*number});
    }
    elementwise(plan, DivideFloats<scalar_t, Op, false>{});
  });
}

}  // namespace

}  // namespace at::native::cuda
