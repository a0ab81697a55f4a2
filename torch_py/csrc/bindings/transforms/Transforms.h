// Function transforms in Python: levels, and tensors that they wrap.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

void init_transforms(PyObject* module);

}  // namespace torch::python
