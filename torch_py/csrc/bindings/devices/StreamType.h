// torch.Stream.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/core/Stream.h"

namespace torch::python {

/// A stream of a device; that of the CPU is always empty. Compared by value.
struct StreamObject {
  PyObject_HEAD
  c10::Stream stream;
  PyObject* weak_references;
};
extern PyTypeObject StreamType;

bool is_stream(PyObject* object);
c10::Stream unpack_stream(PyObject* object);
/// A new torch.Stream; throws PythonError.
PyObject* wrap_stream(c10::Stream stream);

}  // namespace torch::python
