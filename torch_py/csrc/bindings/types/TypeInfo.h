// torch.finfo and torch.iinfo: the limits of dtypes.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

void init_type_info(PyObject* module);

}  // namespace torch::python
