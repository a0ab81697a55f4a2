// torch_py._C._compiler.CompiledGraph: a training step as a Python callable.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

void init_compiled_graph(PyObject* module);

}  // namespace torch::python
