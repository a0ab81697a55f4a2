// Functions of torch_py._C about CUDA's devices and their current streams. torch_py/cuda/ gives
// them their public form.
#include <string>

#include "aten/dispatch/HostFallback.h"
#include "c10/core/AbsentDevice.h"
#include "c10/core/PhiloxGenerator.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/devices/StreamType.h"

namespace torch::python {

namespace {

using c10::DeviceIndex;

int device_count() {
  c10::DeviceHooks* const hooks = c10::device_hooks_or_null(c10::DeviceType::CUDA);
  return hooks == nullptr ? 0 : hooks->device_count();
}

// --- Devices ---

PyObject* is_loaded(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return wrap(c10::device_hooks_or_null(c10::DeviceType::CUDA) != nullptr);
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_device_count(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return PyLong_FromLong(device_count());
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_device(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return PyLong_FromLong(cuda_hooks().current_device());
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_device(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  cuda_hooks().exchange_device(to_cuda_index(index));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

/// Returns the index before; a negative index changes nothing and returns -1.
PyObject* exchange_device(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  if (to_int64(index) < 0) return PyLong_FromLong(-1);
  return PyLong_FromLong(cuda_hooks().exchange_device(to_cuda_index(index)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* can_access_peer(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* from = nullptr;
  PyObject* to = nullptr;
  if (!PyArg_ParseTuple(args, "OO:_cuda_canDeviceAccessPeer", &from, &to)) return nullptr;
  return wrap(cuda_hooks().can_access_peer(to_cuda_index(from), to_cuda_index(to)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* synchronize(PyObject*, PyObject*) {
  TORCH_PY_TRY
  c10::DeviceHooks& hooks = cuda_hooks();
  const DeviceIndex index = hooks.current_device();
  {
    const GilRelease unlocked;
    hooks.synchronize_device(index);
  }
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* versions(PyObject*, PyObject*) {
  TORCH_PY_TRY
  const auto [driver, runtime] = cuda_hooks().versions();
  return Py_BuildValue("ii", driver, runtime);
  TORCH_PY_CATCH(nullptr)
}

/// Adds a property that the backend knows.
template <class T>
void put(PyObject* dict, const char* name, const std::optional<T>& value) {
  if (!value) return;
  ObjectPtr object;
  if constexpr (std::is_same_v<T, std::string>) {
    object = ObjectPtr::steal(checked(PyUnicode_FromString(value->c_str())));
  } else if constexpr (std::is_same_v<T, bool>) {
    object = ObjectPtr::steal(wrap(*value));
  } else {
    object = ObjectPtr::steal(checked(PyLong_FromLongLong(static_cast<long long>(*value))));
  }
  check_status(PyDict_SetItemString(dict, name, object.get()));
}

PyObject* get_properties(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  const c10::DeviceProperties p = cuda_hooks().properties(to_cuda_index(index));
  ObjectPtr dict = ObjectPtr::steal(checked(PyDict_New()));
  PyObject* to = dict.get();

  put(to, "name", std::optional(p.name));
  put(to, "major", std::optional(p.major));
  put(to, "minor", std::optional(p.minor));
  put(to, "total_memory", std::optional(p.total_memory));
  put(to, "multi_processor_count", std::optional(p.multi_processor_count));
  put(to, "max_threads_per_multi_processor", std::optional(p.max_threads_per_multi_processor));
  put(to, "warp_size", std::optional(p.warp_size));
  put(to, "shared_memory_per_block", std::optional(p.shared_memory_per_block));
  put(to, "L2_cache_size", std::optional(p.l2_cache_size));

  put(to, "uuid", p.uuid);
  put(to, "pci_bus_id", p.pci_bus_id);
  put(to, "pci_device_id", p.pci_device_id);
  put(to, "pci_domain_id", p.pci_domain_id);
  put(to, "max_threads_per_block", p.max_threads_per_block);
  put(to, "regs_per_multiprocessor", p.regs_per_multiprocessor);
  put(to, "shared_memory_per_block_optin", p.shared_memory_per_block_optin);
  put(to, "shared_memory_per_multiprocessor", p.shared_memory_per_multiprocessor);
  put(to, "is_integrated", p.is_integrated);
  put(to, "is_multi_gpu_board", p.is_multi_gpu_board);
  return dict.release();
  TORCH_PY_CATCH(nullptr)
}

// --- Streams ---

/// (stream_id, device_index, device_type)
PyObject* wrap_parts(c10::Stream stream) {
  return Py_BuildValue("Lii", static_cast<long long>(stream.id), int{stream.device.index},
                       static_cast<int>(stream.device.type));
}

PyObject* current_stream(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  return wrap_parts(cuda_hooks().current_stream(to_cuda_index(index)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* current_raw_stream(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  c10::DeviceHooks& hooks = cuda_hooks();
  return PyLong_FromVoidPtr(hooks.native_stream(hooks.current_stream(to_cuda_index(index))));
  TORCH_PY_CATCH(nullptr)
}

PyObject* default_stream(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  return wrap_parts(cuda_hooks().default_stream(to_cuda_index(index)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_stream(PyObject*, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"stream_id", "device_index", "device_type", nullptr};
  long long id = 0;
  PyObject* device_index = nullptr;
  int type = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "LOi:_cuda_setStream", const_cast<char**>(names),
                                   &id, &device_index, &type))
    return nullptr;
  const c10::Device device(static_cast<c10::DeviceType>(type), to_cuda_index(device_index));
  TORCH_CHECK(device.is_cuda(), "_cuda_setStream: expected a stream of a CUDA device");

  cuda_hooks().exchange_device(device.index);
  cuda_hooks().exchange_stream({device, id});
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* priority_range(PyObject*, PyObject*) {
  TORCH_PY_TRY
  const auto [lowest, highest] = cuda_hooks().priority_range();
  return Py_BuildValue("ii", lowest, highest);
  TORCH_PY_CATCH(nullptr)
}

// --- Random numbers ---

/// Any integer; PyTorch's seeds have 64 bits, and negative ones wrap.
PyObject* seed_all(PyObject*, PyObject* seed) {
  TORCH_PY_TRY
  const ObjectPtr mask = ObjectPtr::steal(checked(PyLong_FromUnsignedLongLong(~0ULL)));
  const ObjectPtr wrapped = ObjectPtr::steal(checked(PyNumber_And(seed, mask.get())));
  c10::seed_generators(c10::DeviceType::CUDA, PyLong_AsUnsignedLongLong(wrapped.get()));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// --- Operators without a kernel of their own ---

PyObject* host_fallbacks(PyObject*, PyObject*) {
  TORCH_PY_TRY
  ObjectPtr dict = ObjectPtr::steal(checked(PyDict_New()));
  for (const auto& [name, count] : at::host_fallbacks()) {
    const ObjectPtr number = ObjectPtr::steal(checked(PyLong_FromLongLong(count)));
    check_status(PyDict_SetItemString(dict.get(), name.c_str(), number.get()));
  }
  return dict.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* reset_host_fallbacks(PyObject*, PyObject*) {
  TORCH_PY_TRY
  at::reset_host_fallbacks();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// --- Marks for profilers ---

PyObject* mark(PyObject*, PyObject* text) {
  TORCH_PY_TRY
  cuda_hooks().mark(std::string(to_string_view(text)).c_str());
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* push_range(PyObject*, PyObject* text) {
  TORCH_PY_TRY
  return PyLong_FromLong(cuda_hooks().push_range(std::string(to_string_view(text)).c_str()));
  TORCH_PY_CATCH(nullptr)
}

PyObject* pop_range(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return PyLong_FromLong(cuda_hooks().pop_range());
  TORCH_PY_CATCH(nullptr)
}

PyObject* start_range(PyObject*, PyObject* text) {
  TORCH_PY_TRY
  const std::string message(to_string_view(text));
  return PyLong_FromUnsignedLongLong(cuda_hooks().start_range(message.c_str()));
  TORCH_PY_CATCH(nullptr)
}

PyObject* end_range(PyObject*, PyObject* number) {
  TORCH_PY_TRY
  const unsigned long long id = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred()) return nullptr;
  cuda_hooks().end_range(id);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_cuda_isLoaded", is_loaded, METH_NOARGS, "Whether the CUDA library is in the process."},
    {"_cuda_getDeviceCount", get_device_count, METH_NOARGS, nullptr},
    {"_cuda_getDevice", get_device, METH_NOARGS, nullptr},
    {"_cuda_setDevice", set_device, METH_O, nullptr},
    {"_cuda_exchangeDevice", exchange_device, METH_O, nullptr},
    {"_cuda_maybeExchangeDevice", exchange_device, METH_O, nullptr},
    {"_cuda_canDeviceAccessPeer", can_access_peer, METH_VARARGS, nullptr},
    {"_cuda_synchronize", synchronize, METH_NOARGS, "Waits for the current device."},
    {"_cuda_versions", versions, METH_NOARGS, "(driver, runtime) as CUDA counts them."},
    {"_cuda_getDeviceProperties", get_properties, METH_O, "The properties as a dict."},
    {"_cuda_getCurrentStream", current_stream, METH_O, "(stream_id, device_index, device_type)"},
    {"_cuda_getCurrentRawStream", current_raw_stream, METH_O, "The backend's handle."},
    {"_cuda_getDefaultStream", default_stream, METH_O, "(stream_id, device_index, device_type)"},
    {"_cuda_setStream", as_method(set_stream), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"_cuda_priorityRange", priority_range, METH_NOARGS, "(lowest, highest) priority of streams."},
    {"_cuda_seedAll", seed_all, METH_O, "Seeds all default generators, also of later devices."},
    {"_cuda_hostFallbacks", host_fallbacks, METH_NOARGS, "Counts by operator."},
    {"_cuda_resetHostFallbacks", reset_host_fallbacks, METH_NOARGS, nullptr},
    {"_cuda_mark", mark, METH_O, nullptr},
    {"_cuda_pushRange", push_range, METH_O, "The depth of the new range."},
    {"_cuda_popRange", pop_range, METH_NOARGS, "The depth of the range."},
    {"_cuda_startRange", start_range, METH_O, nullptr},
    {"_cuda_endRange", end_range, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

c10::DeviceHooks& hooks_for(const char* what, c10::Device device) {
  TORCH_CHECK(c10::is_accelerator(device), what, ": torch_py has no support for ",
              c10::device_type_name(device.type), " devices");

  c10::DeviceHooks* const hooks = c10::device_hooks_or_null(device.type);
  TORCH_CHECK(hooks != nullptr, what, ": ", c10::AbsentDeviceError(device).what());
  TORCH_CHECK(hooks->device_count() > 0, what, ": No ",
              device.is_cuda() ? "CUDA GPUs" : c10::device_type_name(device.type) + " devices",
              " are available");
  return *hooks;
}

DeviceIndex to_cuda_index(PyObject* index) {
  TORCH_CHECK(is_int(index), "invalid argument to setDevice: expected an int, got ",
              type_name(index));
  const int64_t value = to_int64(index);
  cuda_hooks();  // an absent backend is the better explanation
  TORCH_CHECK(value >= 0 && value < device_count(),
              "CUDA error: invalid device ordinal: there is no device ", value, " among ",
              device_count());
  return static_cast<DeviceIndex>(value);
}

void init_cuda(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
