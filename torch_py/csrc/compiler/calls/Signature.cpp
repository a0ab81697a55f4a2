// Binds arguments to the parameters of a Python function.
#include "torch_py/csrc/compiler/calls/Signature.h"

#include <algorithm>

namespace torch::python::compiler {

namespace {

PyFunctionObject* as_function(PyObject* object) {
  return reinterpret_cast<PyFunctionObject*>(object);
}

PyObject* names_of(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  return code->co_localsplusnames;
#else
  return code->co_varnames;
#endif
}

}  // namespace

Signature::Signature(PyObject* function) : function_(function) {
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  code_ = ObjectPtr::borrow(reinterpret_cast<PyObject*>(code));
  names_ = names_of(code);
  positional_ = static_cast<size_t>(code->co_argcount);
  positional_only_ = static_cast<size_t>(code->co_posonlyargcount);
  keyword_only_ = static_cast<size_t>(code->co_kwonlyargcount);
  has_args_ = (code->co_flags & CO_VARARGS) != 0;
  has_kwargs_ = (code->co_flags & CO_VARKEYWORDS) != 0;
  is_simple_ = keyword_only_ == 0 && !has_args_ && !has_kwargs_;
}

bool Signature::bind_positional(BoundArguments& bound, PyObject* const* args, size_t nargs) const {
  const size_t own = std::min(nargs, positional_);
  std::copy_n(args, own, bound.values_.data());
  if (nargs > positional_ && !has_args_) return false;
  if (!has_args_) return true;

  ObjectPtr further = ObjectPtr::steal(PyTuple_New(static_cast<Py_ssize_t>(nargs - own)));
  if (!further) return false;
  for (size_t i = own; i < nargs; ++i)
    PyTuple_SET_ITEM(further.get(), static_cast<Py_ssize_t>(i - own), Py_NewRef(args[i]));
  bound.values_[positional_ + keyword_only_] = bound.keep(std::move(further));
  return true;
}

Py_ssize_t Signature::find(PyObject* name) const {
  const auto first = static_cast<Py_ssize_t>(positional_only_);
  const auto end = static_cast<Py_ssize_t>(positional_ + keyword_only_);
  for (Py_ssize_t i = first; i < end; ++i) {
    if (PyTuple_GET_ITEM(names_, i) == name) return i;
  }

  // Names in a call are interned, unless they come from **kwargs.
  for (Py_ssize_t i = first; i < end; ++i) {
    const int same = PyObject_RichCompareBool(PyTuple_GET_ITEM(names_, i), name, Py_EQ);
    if (same != 0) return same > 0 ? i : -2;
  }
  return -1;
}

bool Signature::bind_keywords(BoundArguments& bound, PyObject* const* values,
                              PyObject* kwnames) const {
  PyObject* further = nullptr;
  if (has_kwargs_) {
    further = bound.keep(ObjectPtr::steal(PyDict_New()));
    if (further == nullptr) return false;
    bound.values_.back() = further;
  }

  const Py_ssize_t count = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, i);
    const Py_ssize_t place = find(name);
    if (place >= 0) {
      PyObject*& value = bound.values_[static_cast<size_t>(place)];
      if (value != nullptr) return false;  // given twice
      value = values[i];
      continue;
    }
    if (place == -2 || !has_kwargs_) return false;
    if (PyDict_SetItem(further, name, values[i]) < 0) return false;
  }
  return true;
}

bool Signature::bind_defaults(BoundArguments& bound) const {
  PyObject* defaults = as_function(function_)->func_defaults;
  PyObject* keyword_defaults = as_function(function_)->func_kwdefaults;
  bound.keep(ObjectPtr::borrow(defaults));
  const size_t count = defaults != nullptr ? static_cast<size_t>(PyTuple_GET_SIZE(defaults)) : 0;

  for (size_t i = 0; i < positional_; ++i) {
    if (bound.values_[i] != nullptr) continue;
    if (i + count < positional_) return false;
    bound.values_[i] = PyTuple_GET_ITEM(defaults, static_cast<Py_ssize_t>(i + count - positional_));
  }

  for (size_t i = positional_; i < positional_ + keyword_only_; ++i) {
    if (bound.values_[i] != nullptr) continue;
    PyObject* name = PyTuple_GET_ITEM(names_, static_cast<Py_ssize_t>(i));
    PyObject* value =
        keyword_defaults != nullptr ? PyDict_GetItemWithError(keyword_defaults, name) : nullptr;
    if (value == nullptr) return false;
    bound.values_[i] = bound.keep(ObjectPtr::borrow(value));
  }
  return true;
}

bool Signature::bind(BoundArguments& bound, PyObject* const* args, size_t nargs,
                     PyObject* kwnames) const {
  bound.values_.assign(parameter_count(), nullptr);
  return bind_positional(bound, args, nargs) && bind_keywords(bound, args + nargs, kwnames) &&
         bind_defaults(bound);
}

}  // namespace torch::python::compiler
