// Where the extremes are: compiled apart from ExtremumKernel.cu, which takes nvcc long enough.
#pragma once

#include "aten/iteration/LaunchPlan.h"

namespace at::native::cuda {

/// Reduces to the position of the first of the largest (or smallest) elements, and to their value
/// if the plan has a third operand.
void find_positions(const LaunchPlan& plan, bool is_max);

}  // namespace at::native::cuda
