// Conversions of numbers, by what they become: together they would take nvcc a minute.
#pragma once
#include "aten/iteration/LaunchPlan.h"

namespace at::native::cuda {

/// From numbers of any dtype to another dtype of integers, or to bool.
void convert_to_integers(const LaunchPlan& plan, ScalarType to, ScalarType from);
/// From numbers of any dtype to another dtype of real or complex numbers.
void convert_to_floats(const LaunchPlan& plan, ScalarType to, ScalarType from);

}  // namespace at::native::cuda
