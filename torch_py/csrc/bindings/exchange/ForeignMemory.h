#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"

// Memory that belongs to somebody else (NumPy, a buffer, DLPack), and memory of ours that somebody
// else looks at.

namespace torch::python {

/// A CPU tensor at `data` that keeps `owner` alive. Strides count elements and are not negative;
/// `data` must be aligned.
at::Tensor tensor_on_foreign_memory(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                                    at::ScalarType dtype, ObjectPtr owner);
/// The same with any deleter.
at::Tensor tensor_on_foreign_memory(at::DataPtr data, at::IntArrayRef sizes,
                                    at::IntArrayRef strides, at::ScalarType dtype);

/// ValueError unless `data` is aligned to elements of `dtype`.
void check_alignment(const void* data, at::ScalarType dtype);

/// Before the address of a tensor's memory is handed out: its storage can no longer be moved by
/// resizing.
void pin_memory_of(const at::Tensor& tensor);

}  // namespace torch::python
