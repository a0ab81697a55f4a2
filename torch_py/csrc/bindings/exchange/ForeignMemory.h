// Tensors on memory that someone else owns, and tensors whose memory others use.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python {

/// A tensor at `data` that keeps `owner` alive. Strides count elements and must not be
/// negative; `data` must be aligned.
at::Tensor tensor_on_foreign_memory(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                                    at::ScalarType dtype, ObjectPtr owner,
                                    at::Device device = at::kCPU);
/// The same with any deleter, as part of `data`.
at::Tensor tensor_on_foreign_memory(at::DataPtr data, at::IntArrayRef sizes,
                                    at::IntArrayRef strides, at::ScalarType dtype);

/// ValueError unless `data` is aligned to elements of `dtype`.
void check_alignment(const void* data, at::ScalarType dtype);

/// Call before handing out the address of a tensor's memory: resizing can no longer move its
/// storage.
void pin_memory_of(const at::Tensor& tensor);

}  // namespace torch::python
