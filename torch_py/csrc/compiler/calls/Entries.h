// The compiled variants of a function.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python::compiler {

/// torch_py._C._compiler.Entry: compiled code and the guards under which it may run. Immutable.
struct EntryObject {
  PyObject_HEAD
  PyObject* guards;  // a GuardProgram
  PyObject* code;    // a callable
};

/// A new reference.
PyObject* make_entry(PyObject* guards, PyObject* code);

inline EntryObject& entry_at(PyObject* entries, Py_ssize_t i) {
  return *reinterpret_cast<EntryObject*>(PyTuple_GET_ITEM(entries, i));
}

/// A new tuple with one more entry, in front. Throws PythonError.
PyObject* with_first(PyObject* entries, PyObject* entry);

/// Moves entry `i` to the front of `*entries`, an owned tuple that the caller refers to once more.
/// It is replaced by another one if anybody else looks at it. Throws PythonError.
void move_to_front(PyObject** entries, Py_ssize_t i);

void add_entry_type(PyObject* module);

}  // namespace torch::python::compiler
