#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

/// Functions of torch_py._C about the process and the thread: default dtype, threads, grad mode,
/// allocator, promotion.
void init_global_state(PyObject* module);
/// Automatic dtypes: is_autocast_enabled and its like.
void init_autocast(PyObject* module);
/// _dispatch_table, _operator_schemas, _dispatch_keys: what there is to call, for people and tools.
void init_introspection(PyObject* module);
/// _rename_type: native types under another package's name.
void init_type_names(PyObject* module);

PyObject* swap_tensors(PyObject* module, PyObject* args);

}  // namespace torch::python
