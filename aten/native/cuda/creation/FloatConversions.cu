// Conversions of numbers to real and complex numbers.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/cuda/creation/Conversions.h"
#include "aten/native/functors/Copy.h"

namespace at::native::cuda {

void convert_to_floats(const LaunchPlan& plan, ScalarType to, ScalarType from) {
  dispatch<kHalf, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble>(
      to, "copy_", [&]<typename To>() {
        with_conversion_to<To>(from, [&](auto functor) { elementwise(plan, functor); });
      });
}

}  // namespace at::native::cuda
