#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"

namespace torch::python {

/// A capsule on the tensor's memory, versioned or of the old form; keeps the tensor alive. New
/// reference.
PyObject* tensor_to_dlpack(const at::Tensor& tensor, bool versioned, bool is_copy);
/// (device type, device id) of DLPack; BufferError for devices it has no number for.
PyObject* dlpack_device(const at::Tensor& tensor);

/// The specification's code of the kind of number that a dtype is.
uint8_t dlpack_code(at::ScalarType dtype);

void init_dlpack(PyObject* module);  // from_dlpack

}  // namespace torch::python
