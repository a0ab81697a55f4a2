// Attributes, keys and lengths for guards.
#include "torch_py/csrc/compiler/guards/Lookup.h"

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"
#include "torch_py/csrc/compiler/guards/Equality.h"

namespace torch::python::compiler {

namespace {

/// 1 and a new reference, 0 if the object lacks it, -1 with an exception set.
int look_up(PyObject* object, PyObject* name, PyObject** found) {
#if PY_VERSION_HEX >= 0x030D0000
  return PyObject_GetOptionalAttr(object, name, found);
#else
  return _PyObject_LookupAttr(object, name, found);
#endif
}

}  // namespace

PyObject* attribute_or_null(PyObject* object, PyObject* name) {
  PyObject* found = nullptr;
  look_up(object, name, &found);
  return found;
}

bool lacks_attribute(PyObject* object, PyObject* name) {
  PyObject* found = nullptr;
  const int status = look_up(object, name, &found);
  Py_XDECREF(found);
  return status == 0;
}

PyObject* value_or_null(PyObject* dict, PyObject* key) {
  return PyDict_Check(dict) ? PyDict_GetItemWithError(dict, key) : nullptr;
}

bool lacks_key(PyObject* dict, PyObject* key) {
  return PyDict_Check(dict) && PyDict_Contains(dict, key) == 0;
}

PyObject* keys_of(PyObject* dict) {
  // An OrderedDict has an order of its own, whatever __iter__ a subclass has.
  if (PyODict_Check(dict)) {
    const ObjectPtr iterator = ObjectPtr::steal(PyODict_Type.tp_iter(dict));
    return iterator ? PySequence_Tuple(iterator.get()) : nullptr;
  }
  const ObjectPtr keys = ObjectPtr::steal(PyDict_Keys(dict));
  return keys ? PyList_AsTuple(keys.get()) : nullptr;
}

bool has_keys(PyObject* dict, PyObject* keys) {
  if (!PyDict_Check(dict) || PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(keys)) return false;
  const ObjectPtr actual = ObjectPtr::steal(keys_of(dict));
  return actual && same_value(actual.get(), keys) == 1;
}

bool has_length(PyObject* object, int64_t length) { return PyObject_Size(object) == length; }

PyObject* size_or_null(PyObject* tensor, int64_t dim) {
  if (!is_tensor(tensor) || dim >= unpack(tensor).dim()) return nullptr;
  return PyLong_FromLongLong(unpack(tensor).sizes()[static_cast<size_t>(dim)]);
}

}  // namespace torch::python::compiler
