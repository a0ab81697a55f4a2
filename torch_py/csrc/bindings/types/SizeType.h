// torch.Size.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/util/ArrayRef.h"

namespace torch::python {

/// A tuple of ints with numel().
extern PyTypeObject SizeType;
/// A new reference; throws PythonError.
PyObject* make_size(c10::IntArrayRef sizes);
void init_size(PyObject* module);

}  // namespace torch::python
