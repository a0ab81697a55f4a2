// The check that a number fits a dtype.
#pragma once
#include "c10/core/Scalar.h"

namespace c10 {

/// Throws if `value` is a finite number outside the range of `type`: converting it would overflow
/// to infinity or wrap around.
TORCH_PY_API void check_representable(const Scalar& value, ScalarType type);

}  // namespace c10
