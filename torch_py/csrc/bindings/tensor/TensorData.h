// Tensors from Python data: numbers, nested sequences, arrays.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <optional>

#include "aten/core/Tensor.h"

namespace torch::python {

/// How torch.tensor, as_tensor and Tensor(...) read data.
struct DataOptions {
  std::optional<at::ScalarType> dtype;  // inferred if absent
  std::optional<at::Device> device;     // that of the data if absent
  bool copy = true;                     // false shares memory where possible
};

/// A tensor of `data`, which is a tensor, a NumPy array or scalar, a number, or nested sequences of
/// numbers. The result has no history.
at::Tensor tensor_from_data(PyObject* data, const DataOptions& options);

/// A CPU tensor with the shape and values of nested sequences. Without `dtype`, the dtype is that
/// of torch.tensor(data).
at::Tensor tensor_from_sequence(PyObject* data, std::optional<at::ScalarType> dtype);

}  // namespace torch::python
