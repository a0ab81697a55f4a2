// Exchange of tensors by the DLPack protocol.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"

namespace torch::python {

/// A capsule on the tensor's memory, of the versioned or the old form, that keeps the tensor alive.
/// `is_copy` sets the flag that says so. A new reference.
PyObject* tensor_to_dlpack(const at::Tensor& tensor, bool versioned, bool is_copy);
/// (device type, device id) in DLPack's numbers; raises for devices without a number.
PyObject* dlpack_device(const at::Tensor& tensor);

/// The code of DLPack's specification for a dtype's kind of number.
uint8_t dlpack_code(at::ScalarType dtype);

void init_dlpack(PyObject* module);  // from_dlpack

}  // namespace torch::python
