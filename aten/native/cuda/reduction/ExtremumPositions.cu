// Positions of the largest and smallest elements, of the first of equal ones.
#include "aten/native/cuda/reduction/ExtremumPositions.h"

#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/functors/Extremum.h"

namespace at::native::cuda {

void find_positions(const LaunchPlan& plan, bool is_max) {
  with_extremum_at_ops(plan.dtype(1), plan.op_name, is_max,
                       [&](auto ops) { reduce_elements(plan, ops); });
}

}  // namespace at::native::cuda
