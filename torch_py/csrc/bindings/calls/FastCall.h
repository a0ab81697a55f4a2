// Adapts tp_new and tp_call to the convention that Arguments binds.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/util/SmallVector.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python {

/// The arguments of a tp_new or tp_call (tuple and dict) in the form of a METH_FASTCALL |
/// METH_KEYWORDS call.
class FastCall {
 public:
  FastCall(PyObject* args, PyObject* kwargs) : nargs_(PyTuple_GET_SIZE(args)) {
    for (Py_ssize_t i = 0; i < nargs_; ++i) values_.push_back(PyTuple_GET_ITEM(args, i));

    if (kwargs == nullptr || PyDict_GET_SIZE(kwargs) == 0) return;

    names_ = ObjectPtr::steal(checked(PyTuple_New(PyDict_GET_SIZE(kwargs))));
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    for (Py_ssize_t i = 0; PyDict_Next(kwargs, &position, &key, &value); ++i) {
      PyTuple_SET_ITEM(names_.get(), i, Py_NewRef(key));
      values_.push_back(value);
    }
  }

  PyObject* const* args() const { return values_.data(); }
  Py_ssize_t nargs() const { return nargs_; }
  PyObject* kwnames() const { return names_.get(); }

 private:
  c10::SmallVector<PyObject*, 8> values_;  // borrowed from the tuple and the dict
  Py_ssize_t nargs_;                       // how many of them are positional
  ObjectPtr names_;                        // of the others; null without keywords
};

}  // namespace torch::python
