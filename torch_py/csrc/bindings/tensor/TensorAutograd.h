// Getters and setters of Tensor's autograd attributes, for the table in TensorProperties.cpp.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

PyObject* get_requires_grad(PyObject* self, void*);
int set_requires_grad(PyObject* self, PyObject* value, void*);
PyObject* get_grad(PyObject* self, void*);
int set_grad(PyObject* self, PyObject* value, void*);
PyObject* get_grad_fn(PyObject* self, void*);
PyObject* get_is_leaf(PyObject* self, void*);
PyObject* get_data(PyObject* self, void*);
int set_data(PyObject* self, PyObject* value, void*);
PyObject* get_base(PyObject* self, void*);
PyObject* get_output_nr(PyObject* self, void*);
PyObject* get_retains_grad(PyObject* self, void*);

}  // namespace torch::python
