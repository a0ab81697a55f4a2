// Conversions of numbers to integers and bools.
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/cuda/creation/Conversions.h"
#include "aten/native/functors/Copy.h"

namespace at::native::cuda {

void convert_to_integers(const LaunchPlan& plan, ScalarType to, ScalarType from) {
  dispatch<kBool, kByte, kChar, kShort, kInt, kLong>(to, "copy_", [&]<typename To>() {
    with_conversion_to<To>(from, [&](auto functor) { elementwise(plan, functor); });
  });
}

}  // namespace at::native::cuda
