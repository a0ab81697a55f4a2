// Functions that make tensors from Python data.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// Adds torch.tensor, as_tensor, asarray, from_numpy and frombuffer.
void init_tensor_factory(PyObject* module);

}  // namespace torch::python
