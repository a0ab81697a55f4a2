// torch.dtype, torch.layout and torch.memory_format.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/core/Layout.h"
#include "c10/core/ScalarType.h"

// There is one immutable object per value, so that identity is equality.

namespace torch::python {

struct DtypeObject {
  PyObject_HEAD
  c10::ScalarType dtype;
};

struct LayoutObject {
  PyObject_HEAD
  c10::Layout layout;
};

struct MemoryFormatObject {
  PyObject_HEAD
  c10::MemoryFormat format;
};

extern PyTypeObject DtypeType;
extern PyTypeObject LayoutType;
extern PyTypeObject MemoryFormatType;

/// The object of a value. Borrowed: the objects live as long as the process.
PyObject* dtype_object(c10::ScalarType dtype);
PyObject* layout_object(c10::Layout layout);
PyObject* memory_format_object(c10::MemoryFormat format);

void init_dtypes(PyObject* module);

}  // namespace torch::python
