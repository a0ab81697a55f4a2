// torch.UntypedStorage.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/core/Storage.h"

namespace torch::python {

/// The bytes that tensors share. Two objects are equal if they refer to one storage.
struct StorageObject {
  PyObject_HEAD
  c10::Storage storage;
};
extern PyTypeObject StorageType;

/// A new reference; throws PythonError.
PyObject* wrap_storage(c10::Storage storage);
bool is_storage(PyObject* object);
const c10::Storage& unpack_storage(PyObject* object);

void init_storage(PyObject* module);

}  // namespace torch::python
