#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <optional>

#include "aten/core/Tensor.h"

namespace torch::python {

/// How torch.tensor, as_tensor and Tensor(...) read data.
struct DataOptions {
  std::optional<at::ScalarType> dtype;  // inferred when absent
  std::optional<at::Device> device;     // that of the data when absent
  bool copy = true;                     // false: memory is shared where it can be
};

/// A tensor of `data`: a tensor, a NumPy array or scalar, a number, or nested sequences of numbers.
/// No history.
at::Tensor tensor_from_data(PyObject* data, const DataOptions& options);

/// Shape and values of nested sequences, on the CPU; dtype of torch.tensor(data) when absent.
at::Tensor tensor_from_sequence(PyObject* data, std::optional<at::ScalarType> dtype);

}  // namespace torch::python
