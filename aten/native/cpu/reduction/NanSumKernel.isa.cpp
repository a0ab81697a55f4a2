// Sums in which nan counts as zero.
#include "aten/native/declarations/cpu/reduction/NanSumKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Reduce.h"

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

}  // namespace

void nansum_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING_AND_REDUCED(iter.common_dtype(), "nansum",
                                   [&] { cpu_reduce(iter, NanSum<scalar_t>()); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
