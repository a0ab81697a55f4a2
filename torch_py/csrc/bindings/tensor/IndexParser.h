#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"

namespace torch::python {

/// What tensor[...] comes to.
///
/// Note [Indexing]
/// Integers, slices, None, `...` are applied one after the other and give a view. Tensors (and
/// lists, arrays, bools) are collected as `indices`: one entry per dimension of the view, undefined
/// where the dimension is kept; a mask is one entry and stands for as many dimensions as it has.
/// Without any of them the view is the result, otherwise at::index or at::index_put_ does the rest.
struct IndexedView {
  at::Tensor view;
  TensorVector indices;
  bool is_advanced = false;
};

/// IndexError, TypeError or ValueError for what is no index or out of range.
IndexedView apply_index(const at::Tensor& tensor, PyObject* index);

// The single steps, for fast paths.
at::Tensor select_index(const at::Tensor& tensor, int64_t dim, int64_t index, int64_t original_dim);
at::Tensor slice_index(const at::Tensor& tensor, int64_t dim, PyObject* slice);

}  // namespace torch::python
