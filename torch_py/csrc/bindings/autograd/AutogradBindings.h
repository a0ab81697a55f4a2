// Adds the functions of autograd to torch_py._C.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// Adds functions that run backward passes, queue callbacks and control anomaly mode.
void init_autograd_engine(PyObject* module);
/// Adds _saved_tensors_hooks_push, _saved_tensors_hooks_pop and _saved_tensors_hooks_take.
void init_saved_tensor_hooks(PyObject* module);

}  // namespace torch::python
