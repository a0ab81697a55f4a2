// Places the arguments of a call as the function would.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/util/SmallVector.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python::compiler {

/// The arguments of one call, in the order of the function's parameters: positional ones, those by
/// keyword only, the tuple of further ones, the dict of further keywords.
class BoundArguments {
 public:
  PyObject* const* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }

 private:
  friend class Signature;
  /// Keeps an object for as long as the arguments.
  PyObject* keep(ObjectPtr object) {
    kept_.push_back(std::move(object));
    return kept_.back().get();
  }

  c10::SmallVector<PyObject*, 16> values_;  // borrowed from the call or from `kept_`
  c10::SmallVector<ObjectPtr, 4>
      kept_;  // defaults, which code may exchange during the call; *args, **kwargs
};

/// The parameters of a Python function.
class Signature {
 public:
  explicit Signature(PyObject* function);

  /// Whether the function still has the code whose parameters these are.
  bool is_current() const { return PyFunction_GET_CODE(function_) == code_.get(); }
  size_t parameter_count() const { return positional_ + keyword_only_ + has_args_ + has_kwargs_; }
  /// Whether arguments that are given by position, in this number, are all there is to bind.
  bool is_complete(size_t positional) const { return is_simple_ && positional == positional_; }

  /// False if the function would raise TypeError; an exception is set only if something else went
  /// wrong.
  bool bind(BoundArguments& bound, PyObject* const* args, size_t nargs, PyObject* kwnames) const;

  PyObject* code() const { return code_.get(); }

 private:
  bool bind_positional(BoundArguments& bound, PyObject* const* args, size_t nargs) const;
  bool bind_keywords(BoundArguments& bound, PyObject* const* values, PyObject* kwnames) const;
  bool bind_defaults(BoundArguments& bound) const;
  /// The parameter of that name that may be given by keyword; -1 if no parameter has it, -2 for an
  /// error.
  Py_ssize_t find(PyObject* name) const;

  PyObject* function_;  // borrowed
  ObjectPtr code_;      // of the function, which may get another one
  PyObject* names_;     // the code's; parameters come first
  size_t positional_;
  size_t positional_only_;
  size_t keyword_only_;
  bool has_args_;
  bool has_kwargs_;
  bool is_simple_;  // only positional parameters
};

}  // namespace torch::python::compiler
