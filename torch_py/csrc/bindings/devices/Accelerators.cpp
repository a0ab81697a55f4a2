// Functions of torch_py._C about accelerators of any kind, and the name of the backend that a
// package provides. torch_py/utils/backend_registration.py gives them their public form.
#include <string>

#include "c10/core/PhiloxGenerator.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"

namespace torch::python {

namespace {

// --- The name of a backend ---

PyObject* rename_backend(PyObject*, PyObject* name) {
  TORCH_PY_TRY
  c10::rename_privateuse1_backend(std::string(to_string_view(name)));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* backend_name(PyObject*, PyObject*) {
  TORCH_PY_TRY
  const std::string name = c10::device_type_name(c10::DeviceType::PrivateUse1);
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  TORCH_PY_CATCH(nullptr)
}

// --- Devices ---

/// 0 without a backend.
PyObject* accelerator_count(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  c10::DeviceHooks* const hooks = c10::device_hooks_or_null(to_device(object).type);
  return PyLong_FromLong(hooks == nullptr ? 0 : hooks->device_count());
  TORCH_PY_CATCH(nullptr)
}

PyObject* current_index(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  const c10::Device device = to_device(object);
  return PyLong_FromLong(hooks_for("current_device", device).current_device());
  TORCH_PY_CATCH(nullptr)
}

/// Selects a device, and returns the index of the one that was selected before.
PyObject* exchange_index(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  const c10::Device device = to_device(object);
  c10::DeviceHooks& hooks = hooks_for("set_device", device);
  return PyLong_FromLong(hooks.exchange_device(c10::resolved(device).index));
  TORCH_PY_CATCH(nullptr)
}

PyObject* synchronize(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  const c10::Device device = to_device(object);
  c10::DeviceHooks& hooks = hooks_for("synchronize", device);
  const c10::DeviceIndex index = c10::resolved(device).index;
  const GilRelease unlocked;
  hooks.synchronize_device(index);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// --- Random numbers ---

PyObject* seed_generators(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* device = nullptr;
  unsigned long long seed = 0;
  if (!PyArg_ParseTuple(args, "OK:_accelerator_seed", &device, &seed)) return nullptr;
  c10::seed_generators(to_device(device).type, seed);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_rename_privateuse1_backend", rename_backend, METH_O,
     "Names the devices of the key PrivateUse1."},
    {"_get_privateuse1_backend_name", backend_name, METH_NOARGS, nullptr},
    {"_accelerator_count", accelerator_count, METH_O, "The number of devices of a type."},
    {"_accelerator_index", current_index, METH_O, "The index of the current device of a type."},
    {"_accelerator_exchange", exchange_index, METH_O, "Selects a device; the index before."},
    {"_accelerator_synchronize", synchronize, METH_O, "Waits for the work of a device."},
    {"_accelerator_seed", seed_generators, METH_VARARGS,
     "_accelerator_seed(device, seed): seeds the default generators of all devices of the type."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_accelerators(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
