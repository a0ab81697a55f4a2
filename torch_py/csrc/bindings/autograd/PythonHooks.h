// Hooks of tensors and nodes that call Python functions.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/autograd/AutogradMeta.h"

// Each hook holds its callable. Removing a hook drops the callable; the empty hook stays in its
// list, doing nothing, until the list is about to grow.

namespace torch::python {

/// Each registers a hook and returns a new reference to its handle, which `handle.remove()` or the
/// end of a `with handle:` block removes.
PyObject* add_tensor_hook(const at::Tensor& tensor, PyObject* callable);
PyObject* add_post_accumulate_hook(const at::Tensor& tensor, PyObject* callable);
PyObject* add_node_hook(torch::autograd::Node& node, PyObject* callable);
PyObject* add_node_prehook(torch::autograd::Node& node, PyObject* callable);

/// For the garbage collector: the callables of a leaf's own hooks.
int visit_tensor_hooks(const at::Tensor& tensor, visitproc visit, void* arg);
void clear_tensor_hooks(const at::Tensor& tensor);

void init_hooks(PyObject* module);

}  // namespace torch::python
