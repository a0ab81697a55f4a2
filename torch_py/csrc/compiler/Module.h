// torch_py._C._compiler: what torch.compile needs in C++.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python::compiler {

/// `const RegisterPart part(add_guards);` in a file that offers something to Python: `add` is
/// called with the module torch_py._C._compiler when it is made. It may throw PythonError.
struct RegisterPart {
  explicit RegisterPart(void (*add)(PyObject* module));
};

/// Adds the module `_compiler` to torch_py._C.
void init_compiler(PyObject* module);

}  // namespace torch::python::compiler
