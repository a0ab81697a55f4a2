#pragma once
#include "torch_py/csrc/bindings/calls/Arguments.h"

namespace torch::python {

/// A call that no overload accepts.
struct WrongCall {
  const Function& function;
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames;  // null without keywords
};

/// Throws TypeError that says which argument of which overload is wrong, as PyTorch words it.
[[noreturn]] void throw_call_error(const WrongCall& call);

/// Whether a keyword names this parameter: by its own name or by NumPy's.
bool keyword_matches(const char* keyword, const char* parameter);

/// As Arguments decides it, without side effects.
bool parameter_accepts(const Parameter& parameter, PyObject* object);

/// "tuple of ints", "torch.dtype"
const char* kind_name(Kind kind);

}  // namespace torch::python
