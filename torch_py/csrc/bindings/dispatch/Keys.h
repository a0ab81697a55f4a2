// Dispatch keys and sets of them in Python: an int each, the position of the key and the bits.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/dispatch/DispatchKeySet.h"

namespace torch::python {

/// A key by its name or position; RuntimeError for others.
c10::DispatchKey to_key(PyObject* object);
c10::DispatchKeySet to_key_set(PyObject* object);

void init_dispatch_keys(PyObject* module);

}  // namespace torch::python
