// Python objects of nodes of the graph (grad_fn).
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/autograd/Node.h"

namespace torch::python {

/// A new reference to the Python object of a node: for a custom Function its ctx, otherwise an
/// instance of a class named after the node (AddBackward0). None for a null node.
PyObject* wrap_node(const torch::autograd::NodePtr& node);
/// The node behind such an object; null for other objects, and when its graph is gone.
torch::autograd::NodePtr unpack_node(PyObject* object);

// Members that nodes and contexts of custom Functions have in common.
PyObject* node_next_functions(PyObject* self, void*);
PyObject* node_metadata(PyObject* self, void*);
/// (shape, dtype, device) of each output of forward, None where it has no gradient.
PyObject* node_input_metadata(PyObject* self, void*);
extern PyMethodDef node_methods[];  // name, register_hook, register_prehook, _sequence_nr

void init_nodes(PyObject* module);

}  // namespace torch::python
