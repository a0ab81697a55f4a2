#pragma once
// Strides and memory formats of results that follow those of their operands.
#include <initializer_list>

#include "aten/core/Tensor.h"

namespace at::native {

/// Dense strides for a result of `shape` whose dimensions have the same order in memory as in the
/// operands. Each operand is given by its strides along the dimensions of the result, 0 where it
/// does not vary. The first operand that orders two dimensions decides.
TORCH_PY_API DimVector strides_like(IntArrayRef shape, ArrayRef<DimVector> operands);

/// The same for operands that broadcast to `shape`.
TORCH_PY_API DimVector strides_like(IntArrayRef shape,
                                    std::initializer_list<const Tensor*> operands);

/// Dense strides of `shape` in a memory format: contiguous or channels_last.
TORCH_PY_API DimVector strides_in_format(IntArrayRef shape, MemoryFormat format);

/// The memory format for a new tensor made from this one. Unlike Tensor::suggest_memory_format, it
/// also recognises strided parts of channels_last tensors.
TORCH_PY_API MemoryFormat format_like(const Tensor& tensor);

}  // namespace at::native
