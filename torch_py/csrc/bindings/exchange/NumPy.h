// Tensors on NumPy's memory and NumPy arrays on tensors' memory.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"

// NumPy's headers are not used, so that one build serves NumPy 1.26 and 2.x, and NumPy is not
// imported at start-up.

namespace torch::python {

/// Whether `object` is an instance of numpy.ndarray; false while nobody has imported NumPy.
bool is_numpy_array(PyObject* object);
/// A CPU tensor on the array's memory, which it keeps alive. TypeError or ValueError for arrays
/// that have no tensor equivalent.
at::Tensor tensor_from_numpy(PyObject* array, bool warn_if_readonly = true);

at::ScalarType dtype_of_numpy_scalar(PyObject* scalar);

/// A numpy.ndarray on the tensor's memory, which it keeps alive. A new reference.
PyObject* tensor_to_numpy(const at::Tensor& tensor);

}  // namespace torch::python
