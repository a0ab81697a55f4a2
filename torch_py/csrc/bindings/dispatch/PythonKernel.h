// Kernels in Python: of single operators, and the one that hands calls to __torch_dispatch__.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <memory>

#include "c10/dispatch/OperatorEntry.h"

namespace torch::python {

/// A kernel that calls `function(*args, **kwargs)`, with the keys of the call in front if
/// `takes_keys`.
std::shared_ptr<const c10::BoxedKernel> make_python_kernel(PyObject* function, bool takes_keys);

/// A kernel for the calls of many operators: it calls `function(operator, args, kwargs)`.
std::shared_ptr<const c10::BoxedKernel> make_operator_handler(PyObject* function);

/// Whether the exception that is set was raised by code of the program that handled a call.
/// Python's operators must not take its TypeError for one about their operands.
bool is_error_of_handler();

/// Whether the instances of a class handle operator calls: it defines __torch_dispatch__.
bool has_torch_dispatch(PyTypeObject* type);

void init_python_kernels(PyObject* module);

}  // namespace torch::python
