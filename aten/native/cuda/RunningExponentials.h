// The scans of logcumsumexp and its derivatives.
#pragma once
#include "aten/native/cuda/Lanes.cuh"

namespace at::native::cuda {

/// Operands: the elements, the running results.
void running_log_sums(const LaneTable& lanes, ScalarType type);

/// The sums of _logcumsumexp_backward or _logcumsumexp_forward. Operands: the gradient, the
/// elements, their running results, and the sums.
void exponential_weights(const char* name, const LaneTable& lanes, ScalarType type, bool backward);

}  // namespace at::native::cuda
