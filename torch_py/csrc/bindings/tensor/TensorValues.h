#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"

namespace torch::python {

/// The element at `address` as a Python number; new reference, throws PythonError.
PyObject* element_to_python(const void* address, at::ScalarType dtype);
/// Writes a Python number to `address`; RuntimeError when it does not fit, TypeError when it is no
/// number.
void element_from_python(void* address, at::ScalarType dtype, PyObject* number);

/// The only element, as bool(), int() and float() want it; `what` is for the message.
at::Scalar single_value(const at::Tensor& tensor);

}  // namespace torch::python
