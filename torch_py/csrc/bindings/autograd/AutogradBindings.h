// Functions of torch_py._C that run and observe backward passes.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// _run_backward, callbacks of the engine, anomaly mode.
void init_autograd_engine(PyObject* module);
/// _saved_tensors_hooks_push, _saved_tensors_hooks_pop
void init_saved_tensor_hooks(PyObject* module);

}  // namespace torch::python
