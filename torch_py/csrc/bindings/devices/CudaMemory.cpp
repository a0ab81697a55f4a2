// Functions of torch_py._C about the memory of CUDA devices.
#include <string>
#include <unordered_map>
#include <utility>

#include "aten/core/PinnedMemory.h"
#include "c10/core/DeviceGuard.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Unlocked.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/devices/StreamType.h"
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"
#include "torch_py/csrc/bindings/types/StorageType.h"

namespace torch::python {

namespace {

// --- Statistics and limits ---

PyObject* to_dict(const std::vector<std::pair<std::string, int64_t>>& named) {
  ObjectPtr dict = ObjectPtr::steal(checked(PyDict_New()));
  for (const auto& [name, value] : named) {
    const ObjectPtr number = ObjectPtr::steal(checked(PyLong_FromLongLong(value)));
    check_status(PyDict_SetItemString(dict.get(), name.c_str(), number.get()));
  }
  return dict.release();
}

PyObject* memory_stats(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  return to_dict(cuda_hooks().memory_stats(to_cuda_index(index)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* host_memory_stats(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return to_dict(cuda_hooks().pinned_memory_stats());
  TORCH_PY_CATCH(nullptr)
}

PyObject* reset_peak_host(PyObject*, PyObject*) {
  TORCH_PY_TRY
  cuda_hooks().reset_peak_pinned_memory_stats();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* reset_accumulated_host(PyObject*, PyObject*) {
  TORCH_PY_TRY
  cuda_hooks().reset_accumulated_pinned_memory_stats();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* memory_snapshot(PyObject*, PyObject*) {
  TORCH_PY_TRY
  const std::string text = cuda_hooks().memory_snapshot();
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  TORCH_PY_CATCH(nullptr)
}

PyObject* memory_info(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  const auto [free, total] = cuda_hooks().memory_info(to_cuda_index(index));
  return Py_BuildValue("nn", static_cast<Py_ssize_t>(free), static_cast<Py_ssize_t>(total));
  TORCH_PY_CATCH(nullptr)
}

PyObject* empty_cache(PyObject*, PyObject*) {
  TORCH_PY_TRY {
    const GilRelease unlocked;  // waits for the work that uses cached memory
    cuda_hooks().empty_cache();
  }
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* reset_peak(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  cuda_hooks().reset_peak_memory_stats(to_cuda_index(index));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* reset_accumulated(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  cuda_hooks().reset_accumulated_memory_stats(to_cuda_index(index));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_fraction(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  double fraction = 0;
  PyObject* index = nullptr;
  if (!PyArg_ParseTuple(args, "dO:_cuda_setMemoryFraction", &fraction, &index)) return nullptr;
  cuda_hooks().set_memory_fraction(to_cuda_index(index), fraction);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_fraction(PyObject*, PyObject* index) {
  TORCH_PY_TRY
  return PyFloat_FromDouble(cuda_hooks().memory_fraction(to_cuda_index(index)));
  TORCH_PY_CATCH(nullptr)
}

// --- Memory without a tensor ---

/// What raw_allocate handed out; the GIL guards it. Never destroyed: the process frees the memory.
std::unordered_map<uintptr_t, c10::DataPtr>& raw_memory() {
  static auto* const table = new std::unordered_map<uintptr_t, c10::DataPtr>;
  return *table;
}

/// (bytes, address of the stream): on the current device.
PyObject* raw_allocate(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  long long bytes = 0;
  unsigned long long stream = 0;
  if (!PyArg_ParseTuple(args, "LK:_cuda_cudaCachingAllocator_raw_alloc", &bytes, &stream))
    return nullptr;
  TORCH_CHECK(bytes >= 0, "caching_allocator_alloc: size must not be negative, got ", bytes);

  c10::DeviceHooks& hooks = cuda_hooks();
  const c10::DeviceIndex index = hooks.current_device();
  const c10::StreamGuard guard(
      hooks.external_stream(index, reinterpret_cast<void*>(static_cast<uintptr_t>(stream))));

  c10::DataPtr memory = hooks.allocator().allocate(static_cast<size_t>(bytes), index);
  const auto address = reinterpret_cast<uintptr_t>(memory.get());
  if (address != 0) raw_memory()[address] = std::move(memory);
  return PyLong_FromUnsignedLongLong(address);
  TORCH_PY_CATCH(nullptr)
}

PyObject* raw_delete(PyObject*, PyObject* address) {
  TORCH_PY_TRY
  const unsigned long long value = PyLong_AsUnsignedLongLong(address);
  if (PyErr_Occurred()) return nullptr;
  if (value == 0) Py_RETURN_NONE;

  TORCH_CHECK(raw_memory().erase(static_cast<uintptr_t>(value)) == 1,
              "caching_allocator_delete: ", value,
              " is not an address that caching_allocator_alloc returned");
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// --- Storages ---

PyObject* is_pinned(PyObject*, PyObject* storage) {
  TORCH_PY_TRY
  if (!is_storage(storage))
    throw_python(PyExc_TypeError, "expected an UntypedStorage, got %s", type_name(storage));
  const c10::StorageImpl& memory = *unpack_storage(storage);
  if (!memory.device().is_cpu() || memory.data.get() == nullptr) Py_RETURN_FALSE;

  c10::DeviceHooks* const hooks = c10::loaded_hooks(c10::DeviceType::CUDA);
  const bool is_usable = hooks != nullptr && hooks->device_count() > 0;
  return PyBool_FromLong(is_usable && hooks->is_pinned(memory.data.get()));
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_pinned_tensor(PyObject*, PyObject* tensor) {
  TORCH_PY_TRY
  if (!is_tensor(tensor))
    throw_python(PyExc_TypeError, "expected a Tensor, got %s", type_name(tensor));
  return PyBool_FromLong(at::is_pinned(unpack(tensor)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* pin_tensor(PyObject*, PyObject* tensor) {
  TORCH_PY_TRY
  if (!is_tensor(tensor))
    throw_python(PyExc_TypeError, "expected a Tensor, got %s", type_name(tensor));
  const at::Tensor& source = unpack(tensor);
  if (at::is_pinned(source)) return Py_NewRef(tensor);
  return wrap(unlocked([&] { return at::pinned(source); }, source));
  TORCH_PY_CATCH(nullptr)
}

/// A storage of page-locked memory.
PyObject* pinned_storage(PyObject*, PyObject* bytes) {
  TORCH_PY_TRY
  const int64_t size = to_int64(bytes);
  TORCH_CHECK(size >= 0, "pin_memory: size must not be negative, got ", size);
  c10::Allocator& allocator = cuda_hooks().pinned_allocator();
  const auto count = static_cast<size_t>(size);
  return wrap_storage(
      c10::make_intrusive<c10::StorageImpl>(allocator.allocate(count), count, &allocator));
  TORCH_PY_CATCH(nullptr)
}

PyObject* record_stream(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* storage = nullptr;
  PyObject* stream = nullptr;
  if (!PyArg_ParseTuple(args, "OO:_record_stream", &storage, &stream)) return nullptr;
  if (!is_storage(storage) || !is_stream(stream))
    throw_python(PyExc_TypeError, "_record_stream(): expected an UntypedStorage and a Stream");

  const c10::StorageImpl& memory = *unpack_storage(storage);
  if (memory.data.get() != nullptr)
    c10::device_hooks(memory.device().type).record_stream(memory.data, unpack_stream(stream));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// --- Memory of other libraries ---

/// (address, sizes, strides in elements, dtype, owner): a tensor on CUDA memory. Of a null address
/// the device is the current one.
PyObject* tensor_at(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  unsigned long long address = 0;
  PyObject* sizes = nullptr;
  PyObject* strides = nullptr;
  PyObject* dtype = nullptr;
  PyObject* owner = nullptr;
  if (!PyArg_ParseTuple(args, "KO!O!OO:_cuda_tensorAt", &address, &PyTuple_Type, &sizes,
                        &PyTuple_Type, &strides, &dtype, &owner))
    return nullptr;

  const auto numbers = [](PyObject* tuple) {
    at::DimVector found;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
      found.push_back(to_int64(PyTuple_GET_ITEM(tuple, i)));
      TORCH_CHECK_VALUE(found.back() >= 0, "sizes and strides must not be negative, got ",
                        found.back());
    }
    return found;
  };

  c10::DeviceHooks& hooks = cuda_hooks();
  auto* const data = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  const c10::DeviceIndex index = data == nullptr ? hooks.current_device() : hooks.device_of(data);
  return wrap(tensor_on_foreign_memory(data, numbers(sizes), numbers(strides), to_dtype(dtype),
                                       ObjectPtr::borrow(owner),
                                       at::Device(c10::DeviceType::CUDA, index)));
  TORCH_PY_CATCH(nullptr)
}

// --- Between processes ---

/// (handle, offset in the block, bytes)
PyObject* share_storage(PyObject*, PyObject* storage) {
  TORCH_PY_TRY
  if (!is_storage(storage))
    throw_python(PyExc_TypeError, "expected an UntypedStorage, got %s", type_name(storage));
  const c10::StorageImpl& memory = *unpack_storage(storage);
  TORCH_CHECK(memory.device().is_cuda(), "_share_cuda: the storage is on ", memory.device());

  const c10::SharedBlock block = cuda_hooks().share_memory(memory.data, memory.nbytes);
  return Py_BuildValue("y#nn", block.handle.data(), static_cast<Py_ssize_t>(block.handle.size()),
                       static_cast<Py_ssize_t>(block.offset), static_cast<Py_ssize_t>(block.bytes));
  TORCH_PY_CATCH(nullptr)
}

/// Memory of another process, and the byte by which that process learns that it is closed.
struct OpenedMemory {
  c10::DataPtr memory;
  c10::Storage closed;

  static void release(void* context) {
    auto* const self = static_cast<OpenedMemory*>(context);
    self->memory.clear();
    *static_cast<volatile uint8_t*>(self->closed->data.get()) = 1;
    delete self;
  }
};

PyObject* open_storage(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* index = nullptr;
  const char* handle = nullptr;
  Py_ssize_t length = 0;
  Py_ssize_t offset = 0;
  Py_ssize_t bytes = 0;
  PyObject* closed = nullptr;
  if (!PyArg_ParseTuple(args, "Oy#nnO:_open_cuda", &index, &handle, &length, &offset, &bytes,
                        &closed))
    return nullptr;
  TORCH_CHECK_VALUE(offset >= 0 && bytes >= 0, "_open_cuda: sizes must not be negative, got ",
                    offset, " and ", bytes);
  if (!is_storage(closed) || unpack_storage(closed)->nbytes == 0)
    throw_python(PyExc_TypeError, "_open_cuda(): expected a storage of at least one byte");

  const c10::SharedBlock block{std::string(handle, static_cast<size_t>(length)),
                               static_cast<size_t>(offset), static_cast<size_t>(bytes)};
  c10::DataPtr memory = cuda_hooks().open_memory(to_cuda_index(index), block);
  void* const data = memory.get();
  const c10::Device device = memory.device();
  auto* const opened = new OpenedMemory{std::move(memory), unpack_storage(closed)};
  c10::DataPtr owned(data, opened, OpenedMemory::release, device);
  return wrap_storage(
      c10::make_intrusive<c10::StorageImpl>(std::move(owned), block.bytes, nullptr));
  TORCH_PY_CATCH(nullptr)
}

PyObject* collect(PyObject*, PyObject*) {
  TORCH_PY_TRY
  cuda_hooks().collect_shared_memory();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_cuda_memoryStats", memory_stats, METH_O, "The statistics of a device, by dotted names."},
    {"_cuda_memorySnapshot", memory_snapshot, METH_NOARGS, "JSON"},
    {"_cuda_memoryInfo", memory_info, METH_O, "(free, total) bytes"},
    {"_cuda_emptyCache", empty_cache, METH_NOARGS, nullptr},
    {"_cuda_resetPeakMemoryStats", reset_peak, METH_O, nullptr},
    {"_cuda_resetAccumulatedMemoryStats", reset_accumulated, METH_O, nullptr},
    {"_cuda_hostMemoryStats", host_memory_stats, METH_NOARGS,
     "The statistics of pinned memory, by dotted names."},
    {"_cuda_resetPeakHostMemoryStats", reset_peak_host, METH_NOARGS, nullptr},
    {"_cuda_resetAccumulatedHostMemoryStats", reset_accumulated_host, METH_NOARGS, nullptr},
    {"_cuda_setMemoryFraction", set_fraction, METH_VARARGS, "(fraction, device)"},
    {"_cuda_getMemoryFraction", get_fraction, METH_O, nullptr},
    {"_cuda_cudaCachingAllocator_raw_alloc", raw_allocate, METH_VARARGS, "(bytes, stream)"},
    {"_cuda_cudaCachingAllocator_raw_delete", raw_delete, METH_O, "(address)"},
    {"_is_pinned", is_pinned, METH_O, "Whether a storage is page-locked memory of the host."},
    {"_is_pinned_tensor", is_pinned_tensor, METH_O, nullptr},
    {"_pin_tensor", pin_tensor, METH_O, "(tensor) -> itself, or a copy in pinned memory"},
    {"_pinned_storage", pinned_storage, METH_O, "(bytes) -> UntypedStorage of pinned memory"},
    {"_record_stream", record_stream, METH_VARARGS, "(storage, stream)"},
    {"_cuda_tensorAt", tensor_at, METH_VARARGS, "(address, sizes, strides, dtype, owner)"},
    {"_share_cuda", share_storage, METH_O, "(storage) -> (handle, offset, bytes)"},
    {"_open_cuda", open_storage, METH_VARARGS,
     "(device, handle, offset, bytes, closed) -> storage; closed[0] becomes 1 when it is freed"},
    {"_cuda_ipc_collect", collect, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_cuda_memory(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
