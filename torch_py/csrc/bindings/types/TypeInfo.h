#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// torch.finfo and torch.iinfo
void init_type_info(PyObject* module);

}  // namespace torch::python
