// torch_py._C.FunctionBase, the base of custom autograd Functions.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/autograd/Node.h"

namespace torch::python {

/// The node of a custom Function's context; null for other objects, and when its graph is gone.
torch::autograd::NodePtr function_node(PyObject* object);

void init_function(PyObject* module);

}  // namespace torch::python
