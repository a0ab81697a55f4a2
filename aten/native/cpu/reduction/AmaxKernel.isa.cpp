// The largest and smallest elements over dimensions; a nan among them is the result.
#include <limits>

#include "aten/Dispatch.h"
#include "aten/iteration/Reduce.h"
#include "aten/native/declarations/cpu/reduction/AmaxKernel.isa.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <typename T, bool kMax>
struct Extremum {
  using input_t = T;
  using acc_t = opmath_type<T>;
  using output_t = T;
  using limits = std::numeric_limits<acc_t>;
  static acc_t identity() {
    if constexpr (limits::has_infinity) return kMax ? -limits::infinity() : limits::infinity();
    return kMax ? limits::lowest() : limits::max();
  }
  static acc_t combine(acc_t a, acc_t b) { return kMax ? vec::maximum(a, b) : vec::minimum(a, b); }
  static acc_t reduce(acc_t acc, T value) { return combine(acc, static_cast<acc_t>(value)); }
  static T project(acc_t acc) { return static_cast<T>(acc); }
};

template <bool kMax>
void reduce_to_extremum(const TensorIteratorBase& iter) {
  const ScalarType type = iter.common_dtype();
  if (type == kBool) return cpu_reduce(iter, Extremum<uint8_t, kMax>());
  AT_DISPATCH_REAL(type, iter.op_name(), [&] { cpu_reduce(iter, Extremum<scalar_t, kMax>()); });
}

}  // namespace

void amax_kernel(TensorIteratorBase& iter) { reduce_to_extremum<true>(iter); }

void amin_kernel(TensorIteratorBase& iter) { reduce_to_extremum<false>(iter); }

}  // namespace CPU_CAPABILITY
}  // namespace at::native
