#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"

// Exchange with NumPy without its headers, so that one build serves NumPy 1.26 and 2.x, and without
// importing it at start-up.

namespace torch::python {

/// Whether `object` is an instance of numpy.ndarray; false while nobody has imported NumPy.
bool is_numpy_array(PyObject* object);
/// A CPU tensor on the array's memory, which it keeps alive. TypeError or ValueError for what has
/// no tensor equivalent.
at::Tensor tensor_from_numpy(PyObject* array, bool warn_if_readonly = true);
at::ScalarType dtype_of_numpy_scalar(PyObject* scalar);
/// A numpy.ndarray on the tensor's memory, which it keeps alive; new reference.
PyObject* tensor_to_numpy(const at::Tensor& tensor);

}  // namespace torch::python
