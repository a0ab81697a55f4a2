#pragma once
// Whether tensors share memory, within themselves and with each other.
#include "aten/core/Tensor.h"

namespace at {

enum class Overlap : uint8_t { No, Full, Partial, Unknown };

/// Whether two elements of one tensor share memory, as a stride of 0 makes certain.
TORCH_PY_API bool has_internal_overlap(const Tensor& tensor);
/// How the memory of two tensors relates; Unknown for interleaved strided tensors.
TORCH_PY_API Overlap memory_overlap(const Tensor& a, const Tensor& b);

}  // namespace at
