// The kernel of nan_to_num, which replaces NaN and infinities by numbers.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/declarations/cpu/elementwise/PointwiseMathKernel.isa.h"
#include "aten/ops/copy.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// f(value), or f of both parts of a complex number.
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

}  // namespace CPU_CAPABILITY
}  // namespace at::native
