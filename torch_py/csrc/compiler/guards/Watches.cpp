// Version tags of dicts and types.
#include "torch_py/csrc/compiler/guards/Watches.h"

namespace torch::python::compiler {

namespace {

/// A type's tag, which it gets when an attribute is first looked up; 0 if there are no more of
/// them.
unsigned int assigned_tag(PyTypeObject* type) {
  static PyObject* name = PyUnicode_InternFromString("__dict__");
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)) _PyType_Lookup(type, name);
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
}

}  // namespace

void Watches::add(PyObject* dict_or_type) {
  if (PyType_Check(dict_or_type)) {
    types_.push_back({reinterpret_cast<PyTypeObject*>(dict_or_type), 0});
  } else {
    dicts_.push_back({reinterpret_cast<PyDictObject*>(dict_or_type), 0});
  }
}

uint64_t Watches::prepare() {
  is_armed_ = false;
  for (DictWatch& watch : dicts_) watch.seen = watch.dict->ma_version_tag;
  for (TypeWatch& watch : types_) watch.seen = assigned_tag(watch.type);
  return ++preparations_;
}

void Watches::arm(uint64_t prepared) {
  if (prepared != preparations_ || times_armed_ == kPatience) return;
  for (const TypeWatch& watch : types_) {
    if (watch.seen == 0) return;
  }
  ++times_armed_;
  is_armed_ = true;
}

}  // namespace torch::python::compiler
