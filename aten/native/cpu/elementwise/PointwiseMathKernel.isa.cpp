// Functions of one tensor that are no plain formulas.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/Modular.h"
#include "aten/native/declarations/cpu/elementwise/PointwiseMathKernel.isa.h"
#include "aten/ops/copy.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

void bitwise_not_kernel(TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  if (type == kBool) return cpu_kernel(iter, [](bool value) -> bool { return !value; });
  if (!is_integral(type, false)) throw_not_implemented("bitwise_not", type);
  dispatch_modular(type, [&]<typename T>() {
    cpu_kernel(iter, [](T value) -> T { return static_cast<T>(~value); });
  });
}

namespace {

/// f(value); of a complex number f of both parts.
template <typename T, typename F>
C10_ALWAYS_INLINE T of_parts(T value, const F& f) {
  if constexpr (c10::is_complex_v<T>) {
    return T(f(value.real()), f(value.imag()));
  } else {
    return f(value);
  }
}

}  // namespace

void nan_to_num_kernel(TensorIteratorBase& iter, std::optional<double> nan,
                       std::optional<double> posinf, std::optional<double> neginf) {
  if (is_integral(iter.common_dtype(), true)) {  // every value is a finite number
    if (!iter.output().is_same(iter.input(0))) at::copy_(iter.output(), iter.input(0));
    return;
  }
  AT_DISPATCH_FLOATING_AND_COMPLEX(iter.common_dtype(), "nan_to_num", [&] {
    using part_t = real_type<scalar_t>;
    using opmath_t = opmath_type<part_t>;
    using limits = std::numeric_limits<part_t>;
    const auto number =
        static_cast<opmath_t>(static_cast<part_t>(static_cast<opmath_t>(nan.value_or(0.0))));
    const auto highest =
        posinf.has_value() ? static_cast<opmath_t>(*posinf) : static_cast<opmath_t>(limits::max());
    const auto lowest = neginf.has_value() ? static_cast<opmath_t>(*neginf)
                                           : static_cast<opmath_t>(limits::lowest());
    constexpr auto kInfinite = std::numeric_limits<opmath_t>::infinity();
    const auto replaced = [=](part_t value) -> part_t {
      const auto x = static_cast<opmath_t>(value);
      const opmath_t bounded = x == kInfinite ? highest : x == -kInfinite ? lowest : x;
      return static_cast<part_t>(x != x ? number : bounded);
    };
    cpu_kernel(iter, [=](scalar_t value) -> scalar_t { return of_parts(value, replaced); });
  });
}

void clamp_kernel(TensorIteratorBase& iter, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max) {
  TORCH_CHECK(min.has_value() || max.has_value(),
              "torch.clamp: At least one of 'min' or 'max' must not be None");
  const ScalarType type = iter.common_dtype();
  if (is_integral(type, true)) {
    TORCH_CHECK((!min.has_value() || min->is_integral(true)) &&
                    (!max.has_value() || max->is_integral(true)),
                "clamp: result type Float can't be cast to the desired output type ", type);
  }
  AT_DISPATCH_REAL(type, "clamp", [&] {
    using opmath_t = opmath_type<scalar_t>;
    using limits = std::numeric_limits<opmath_t>;
    constexpr opmath_t kLowest = limits::has_infinity ? -limits::infinity() : limits::lowest();
    constexpr opmath_t kHighest = limits::has_infinity ? limits::infinity() : limits::max();
    opmath_t low = min.has_value() ? static_cast<opmath_t>(min->to<scalar_t>()) : kLowest;
    opmath_t high = max.has_value() ? static_cast<opmath_t>(max->to<scalar_t>()) : kHighest;
    if (low != low || high != high)
      low = high = low != low ? low : high;  // a nan bound gives nan everywhere
    const bool all_nan = low != low;
    cpu_kernel(iter, [=](scalar_t value) -> scalar_t {
      auto x = static_cast<opmath_t>(value);
      x = x < low ? low : x;
      x = x > high ? high : x;  // comparisons with nan are false: a nan element stays
      return static_cast<scalar_t>(all_nan ? low : x);
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
