// Elements of tensors as Python numbers, and back.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"

namespace torch::python {

/// The element at `address` as a Python number. A new reference; throws PythonError.
PyObject* element_to_python(const void* address, at::ScalarType dtype);
/// Writes a Python number to `address`. RuntimeError if it does not fit, TypeError if the object is
/// not a number.
void element_from_python(void* address, at::ScalarType dtype, PyObject* number);

/// The only element of a tensor, for bool(), int() and float(); throws if there is not exactly one.
at::Scalar single_value(const at::Tensor& tensor);

}  // namespace torch::python
