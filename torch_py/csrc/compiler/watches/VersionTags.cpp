// Version tags of dicts and types.
#include "torch_py/csrc/bindings/PythonHeaders.h"
#if PY_VERSION_HEX < 0x030C0000
#include "torch_py/csrc/compiler/watches/VersionTags.h"

namespace torch::python::compiler {

namespace {

/// A type's tag, which it gets when an attribute is first looked up; 0 if there are no more of
/// them.
unsigned int assigned_tag(PyTypeObject* type) {
  static PyObject* name = PyUnicode_InternFromString("__dict__");
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) _PyType_Lookup(type, name);
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
}

const void* address_of_tag(PyObject* dict_or_type) {
  if (PyType_Check(dict_or_type))
    return &reinterpret_cast<PyTypeObject*>(dict_or_type)->tp_version_tag;
  return &reinterpret_cast<PyDictObject*>(dict_or_type)->ma_version_tag;
}

}  // namespace

ChangeRecords::Record::Record(PyObject* dict_or_type)
    : tag(address_of_tag(dict_or_type)),
      object(ObjectPtr::borrow(dict_or_type)),
      is_type(PyType_Check(dict_or_type)) {}

void ChangeRecords::add(PyObject* dict_or_type) { records_.emplace_back(dict_or_type); }

void ChangeRecords::replace(size_t i, PyObject* dict) { records_[i] = Record(dict); }

bool ChangeRecords::note(size_t begin, size_t end) {
  bool all = true;
  for (size_t i = begin; i < end; ++i) {
    Record& record = records_[i];
    record.seen = record.is_type
                      ? assigned_tag(reinterpret_cast<PyTypeObject*>(record.object.get()))
                      : *static_cast<const uint64_t*>(record.tag);
    all = all && record.seen != 0;
  }
  return all;
}

}  // namespace torch::python::compiler
#endif
