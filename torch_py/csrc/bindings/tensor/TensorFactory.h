#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// torch.tensor, as_tensor, asarray, from_numpy, frombuffer
void init_tensor_factory(PyObject* module);

}  // namespace torch::python
