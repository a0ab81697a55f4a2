// The recording behind torch.profiler.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

void init_profiler(PyObject* module);

}  // namespace torch::python
