// Looks into objects for guards: what is not there is null or false, not an error.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdint>

namespace torch::python::compiler {

// Where Python code of an object raised something else than that it is not there, the exception
// stays set.

/// A new reference, as getattr() finds it.
PyObject* attribute_or_null(PyObject* object, PyObject* name);
bool lacks_attribute(PyObject* object, PyObject* name);

/// An element of a tuple or list; borrowed.
inline PyObject* item_or_null(PyObject* object, int64_t index) {
  if (PyTuple_Check(object))
    return index < PyTuple_GET_SIZE(object) ? PyTuple_GET_ITEM(object, index) : nullptr;
  if (PyList_Check(object))
    return index < PyList_GET_SIZE(object) ? PyList_GET_ITEM(object, index) : nullptr;
  return nullptr;
}

/// A value of a dict; borrowed.
PyObject* value_or_null(PyObject* dict, PyObject* key);
/// False for what is not a dict.
bool lacks_key(PyObject* dict, PyObject* key);
/// Whether it is a dict of exactly these keys in this order.
bool has_keys(PyObject* dict, PyObject* keys);
/// A new reference to the keys of a dict in their order, as a tuple.
PyObject* keys_of(PyObject* dict);

bool has_length(PyObject* object, int64_t length);

/// The size of one dimension of a tensor, as a new int.
PyObject* size_or_null(PyObject* tensor, int64_t dim);

}  // namespace torch::python::compiler
