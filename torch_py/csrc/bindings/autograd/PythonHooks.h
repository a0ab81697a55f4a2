#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/autograd/AutogradMeta.h"

// Hooks of autograd that call Python. Each holds its callable; removing a hook empties it; it stays
// in its list, doing nothing, until the list is about to grow.

namespace torch::python {

/// What register_hook and its like return: `handle.remove()`, also as a context manager. New
/// references.
PyObject* add_tensor_hook(const at::Tensor& tensor, PyObject* callable);
PyObject* add_post_accumulate_hook(const at::Tensor& tensor, PyObject* callable);
PyObject* add_node_hook(torch::autograd::Node& node, PyObject* callable);
PyObject* add_node_prehook(torch::autograd::Node& node, PyObject* callable);

/// For the garbage collector: callables of a leaf's own hooks.
int visit_tensor_hooks(const at::Tensor& tensor, visitproc visit, void* arg);
void clear_tensor_hooks(const at::Tensor& tensor);

void init_hooks(PyObject* module);

}  // namespace torch::python
