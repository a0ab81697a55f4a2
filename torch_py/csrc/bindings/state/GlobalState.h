// Functions of torch_py._C about the state of the process and the thread.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// Default dtype, threads, grad mode, allocator, type promotion.
void init_global_state(PyObject* module);
/// Automatic dtypes: is_autocast_enabled and the like.
void init_autocast(PyObject* module);
/// Dispatch tables, schemas and dispatch keys, for people and tools.
void init_introspection(PyObject* module);
/// _add_to_type and _rename_type: what Python adds to native types.
void init_type_names(PyObject* module);

/// _swap_tensors (SwapTensors.cpp).
PyObject* swap_tensors(PyObject* module, PyObject* args);

}  // namespace torch::python
