// Turns the index of tensor[...] into a view and the index tensors that remain.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"

namespace torch::python {

/// The result of applying an index.
///
/// Note [Indexing]
/// Integers, slices, None and `...` are applied one after another and give a view. Tensors (and
/// lists, arrays, bools) are collected as `indices`, one entry per dimension of the view, undefined
/// where the dimension is kept; a mask is one entry that covers as many dimensions as it has.
/// Without index tensors the view is the result; otherwise at::index or at::index_put_ finishes.
struct IndexedView {
  at::Tensor view;
  TensorVector indices;
  bool is_advanced = false;
};

/// Raises IndexError, TypeError or ValueError for an invalid or out-of-range index.
IndexedView apply_index(const at::Tensor& tensor, PyObject* index);

// The single steps, for fast paths.
at::Tensor select_index(const at::Tensor& tensor, int64_t dim, int64_t index, int64_t original_dim);
at::Tensor slice_index(const at::Tensor& tensor, int64_t dim, PyObject* slice);

}  // namespace torch::python
