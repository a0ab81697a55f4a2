// The kernel of clamp, which limits elements to a range given by two numbers.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/declarations/cpu/elementwise/ClampKernel.isa.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

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

    // A NaN bound gives NaN everywhere.
    if (low != low || high != high) low = high = low != low ? low : high;
    const bool all_nan = low != low;

    // Comparisons with NaN are false, so NaN elements stay.
    cpu_kernel(iter, [=](scalar_t value) -> scalar_t {
      auto x = static_cast<opmath_t>(value);
      x = x < low ? low : x;
      x = x > high ? high : x;
      return static_cast<scalar_t>(all_nan ? low : x);
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
