#pragma once
// The divisor of a variance.
#include <optional>

#include "aten/core/Tensor.h"

namespace at::native {

/// The number of elements of each result minus the correction, 1 by default, but at least 0, which
/// warns.
TORCH_PY_API double degrees_of_freedom(const Tensor& self, OptionalIntArrayRef dim,
                                       const std::optional<Scalar>& correction);

}  // namespace at::native
