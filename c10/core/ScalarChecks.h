#pragma once
#include "c10/core/Scalar.h"

namespace c10 {

/// Throws when `value` is a finite number outside the range of `type`, which would make infinities
/// of it or wrap it around.
TORCH_PY_API void check_representable(const Scalar& value, ScalarType type);

}  // namespace c10
