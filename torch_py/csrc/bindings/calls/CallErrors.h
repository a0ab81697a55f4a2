// The errors for calls that no signature accepts.
#pragma once
#include "torch_py/csrc/bindings/calls/Arguments.h"

namespace torch::python {

/// A call that no signature of the function accepts.
struct WrongCall {
  const Function& function;
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames;  // null without keywords
};

/// Throws a TypeError that says which argument of which overload is wrong, in PyTorch's words.
[[noreturn]] void throw_call_error(const WrongCall& call);

/// Whether a keyword names this parameter: by its own name or by NumPy's.
bool keyword_matches(const char* keyword, const char* parameter);

/// Whether the parameter takes the object, by its type; the rule that Arguments binds by.
bool parameter_accepts(const Parameter& parameter, PyObject* object);

/// The name of a kind in messages: "tuple of ints", "torch.dtype".
const char* kind_name(Kind kind);

}  // namespace torch::python
