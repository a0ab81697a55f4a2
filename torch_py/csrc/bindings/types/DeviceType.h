// torch.device.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/core/Device.h"

namespace torch::python {

/// Immutable, hashable, and equal by value.
struct DeviceObject {
  PyObject_HEAD
  c10::Device device;
};
extern PyTypeObject DeviceObjectType;

/// A new reference; throws PythonError.
PyObject* make_device(c10::Device device);
void init_device(PyObject* module);

}  // namespace torch::python
