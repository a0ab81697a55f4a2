// Adds types that are written in C++ to modules.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstring>

#include "torch_py/csrc/bindings/Errors.h"

namespace torch::python {

/// Completes a type, unless that is done, and adds it to the module under the last part of its
/// name. Throws PythonError.
inline void add_type(PyObject* module, PyTypeObject& type) {
  check_status(PyType_Ready(&type));
  const char* name = std::strrchr(type.tp_name, '.') + 1;
  check_status(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(&type)));
}

}  // namespace torch::python
