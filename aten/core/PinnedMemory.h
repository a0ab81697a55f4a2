// Tensors in memory of the host that devices read and write by themselves.
#pragma once
#include "aten/core/Tensor.h"

namespace at {

/// Whether the tensor's memory is pinned. Loads no backend: without one, nothing can be pinned.
TORCH_PY_API bool is_pinned(const Tensor& tensor);
/// An uninitialised CPU tensor in pinned memory. Throws Error without an accelerator.
TORCH_PY_API Tensor empty_pinned(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype);
/// The tensor, or a copy of it in pinned memory, with its strides where it is dense. Throws Error
/// without an accelerator and for tensors that are not on the CPU.
TORCH_PY_API Tensor pinned(const Tensor& tensor);

}  // namespace at
