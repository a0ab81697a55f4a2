// torch.UntypedStorage: the bytes behind tensors as a Python object.
#include "torch_py/csrc/bindings/types/StorageType.h"

#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aten/core/Allocation.h"
#include "aten/core/Tensor.h"
#include "c10/core/DeviceHooks.h"
#include "c10/cpu/WatchedBlocks.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/CallsInProgress.h"
#include "torch_py/csrc/bindings/calls/FastCall.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"

namespace torch::python {

namespace {

constexpr Parameter parameters[] = {{"data", Kind::Any, kOptional},
                                    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly}};
constexpr Signature signatures[] = {
    {"UntypedStorage(object data = 0, *, torch.device device = None)", parameters, 2}};
constinit Function constructor = {"UntypedStorage", nullptr, signatures, 1};

c10::Storage& storage_of(PyObject* self) { return reinterpret_cast<StorageObject*>(self)->storage; }
uint8_t* bytes_of(PyObject* self) { return static_cast<uint8_t*>(storage_of(self)->data.get()); }
/// The same for a caller that writes; see Note [Watched contents].
uint8_t* writable_bytes_of(PyObject* self) {
  c10::contents_written(bytes_of(self));
  return bytes_of(self);
}
int64_t size_of(PyObject* self) { return static_cast<int64_t>(storage_of(self)->nbytes); }

bool is_on_cpu(PyObject* self) { return storage_of(self)->device().is_cpu(); }

void check_readable(PyObject* self) {
  const c10::Device device = storage_of(self)->device();
  TORCH_CHECK(device.is_cpu() || c10::is_accelerator(device),
              "UntypedStorage: the bytes of a storage on device '", device, "' cannot be read");
}

c10::Storage allocate(int64_t nbytes, c10::Device device) {
  TORCH_CHECK(nbytes >= 0, "UntypedStorage: size must not be negative, got ", nbytes);
  at::Tensor tensor = at::empty_real_tensor({nbytes}, at::kByte, device);
  return tensor.storage();
}

/// Copies bytes between host and devices; returns when they are there. Memory of one device and
/// host memory may overlap.
void copy_bytes(void* to, c10::Device to_device, const void* from, c10::Device from_device,
                int64_t count) {
  if (count == 0) return;
  if (to_device.is_cpu() && from_device.is_cpu()) {
    std::memmove(to, from, static_cast<size_t>(count));
    return;
  }

  const c10::DeviceType type = to_device.is_cpu() ? from_device.type : to_device.type;
  c10::DeviceHooks& hooks = c10::device_hooks(type);
  const GilRelease unlocked;
  hooks.copy_bytes(to, to_device, from, from_device, static_cast<size_t>(count),
                   /*non_blocking=*/false);
}

/// Copies the bytes from `start` on to a new storage on the same device.
c10::Storage part_of(PyObject* self, int64_t start, int64_t count) {
  const c10::Device device = storage_of(self)->device();
  c10::Storage part = allocate(count, device);
  copy_bytes(part->data.get(), device, bytes_of(self) + start, device, count);
  return part;
}

uint8_t byte_value(PyObject* item) {
  TORCH_CHECK(is_int(item),
              "torch.UntypedStorage(): expected bytes as int, but one of them was of type ",
              type_name(item));
  const int64_t value = to_int64(item);
  TORCH_CHECK_VALUE(value >= -128 && value < 256, "torch.UntypedStorage(): byte ", value,
                    " is out of range");
  return static_cast<uint8_t>(value);
}

c10::Storage from_sequence(PyObject* data) {
  TORCH_CHECK(PySequence_Check(data), "torch.UntypedStorage(): Expected a sequence type, but got ",
              type_name(data));
  const ObjectPtr items = ObjectPtr::steal(checked(PySequence_Tuple(data)));

  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  c10::Storage storage = allocate(count, c10::kCPU);
  auto* bytes = static_cast<uint8_t*>(storage->data.get());

  for (Py_ssize_t i = 0; i < count; ++i) bytes[i] = byte_value(PyTuple_GET_ITEM(items.get(), i));
  return storage;
}

c10::Storage from_buffer(PyObject* data) {
  // The buffer is released on every path.
  Py_buffer view;
  check_status(PyObject_GetBuffer(data, &view, PyBUF_C_CONTIGUOUS));

  c10::Storage storage;
  try {
    storage = allocate(view.len, c10::kCPU);
    if (view.len > 0) std::memcpy(storage->data.get(), view.buf, static_cast<size_t>(view.len));
  } catch (...) {
    PyBuffer_Release(&view);
    throw;
  }
  PyBuffer_Release(&view);
  return storage;
}

PyObject* storage_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall call(args, kwargs);
  Arguments arguments;
  arguments.bind(constructor, nullptr, call.args(), call.nargs(), call.kwnames());

  PyObject* data = arguments.object(0);

  c10::Storage storage;
  if (data == nullptr || is_int(data)) {
    storage = allocate(data == nullptr ? 0 : to_int64(data), arguments.device(1, c10::kCPU));
  } else if (PyObject_CheckBuffer(data) && !is_tensor(data)) {
    storage = from_buffer(data);
  } else {
    storage = from_sequence(data);
  }

  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&storage_of(self)) c10::Storage(std::move(storage));
  return self;
  TORCH_PY_CATCH(nullptr)
}

void storage_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  storage_of(self).~intrusive_ptr();
  type->tp_free(self);
}

PyObject* nbytes(PyObject* self, PyObject*) { return PyLong_FromLongLong(size_of(self)); }
Py_ssize_t length(PyObject* self) { return size_of(self); }
PyObject* data_ptr(PyObject* self, PyObject*) {
  c10::expose_contents(*storage_of(self));
  return PyLong_FromVoidPtr(bytes_of(self));
}
/// The same as an identity: nobody writes there.
PyObject* address(PyObject* self, PyObject*) { return PyLong_FromVoidPtr(bytes_of(self)); }
PyObject* element_size(PyObject*, PyObject*) { return PyLong_FromLong(1); }

PyObject* is_resizable(PyObject* self, PyObject*) {
  return PyBool_FromLong(storage_of(self)->resizable());
}

PyObject* item(PyObject* self, Py_ssize_t i) {
  TORCH_PY_TRY
  check_readable(self);
  TORCH_CHECK_INDEX(i >= 0 && i < size_of(self), "index ", i, " out of range for storage of size ",
                    size_of(self));
  if (is_on_cpu(self)) return PyLong_FromLong(bytes_of(self)[i]);

  uint8_t byte = 0;
  copy_bytes(&byte, c10::kCPU, bytes_of(self) + i, storage_of(self)->device(), 1);
  return PyLong_FromLong(byte);
  TORCH_PY_CATCH(nullptr)
}

/// storage[i] and storage[start:stop].
PyObject* subscript(PyObject* self, PyObject* index) {
  TORCH_PY_TRY
  check_readable(self);
  if (!PySlice_Check(index)) {
    const Py_ssize_t position = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (position == -1 && PyErr_Occurred()) return nullptr;
    return item(self, position < 0 ? position + size_of(self) : position);
  }

  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  check_status(PySlice_Unpack(index, &start, &stop, &step));
  const Py_ssize_t count = PySlice_AdjustIndices(size_of(self), &start, &stop, step);
  TORCH_CHECK(step == 1, "Trying to slice with a step of ", step,
              ", but only a step of 1 is supported");

  return wrap_storage(part_of(self, start, count));
  TORCH_PY_CATCH(nullptr)
}

void set_byte(PyObject* self, int64_t position, uint8_t byte) {
  if (is_on_cpu(self)) {
    writable_bytes_of(self)[position] = byte;
  } else {
    copy_bytes(writable_bytes_of(self) + position, storage_of(self)->device(), &byte, c10::kCPU, 1);
  }
}

/// storage[i] = byte and storage[start:stop:step] = byte.
int assign(PyObject* self, PyObject* index, PyObject* value) {
  TORCH_PY_TRY
  check_readable(self);
  TORCH_CHECK_TYPE(value != nullptr, "UntypedStorage does not support deleting items");
  const uint8_t byte = byte_value(value);

  if (PySlice_Check(index)) {
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 0;
    check_status(PySlice_Unpack(index, &start, &stop, &step));
    const Py_ssize_t count = PySlice_AdjustIndices(size_of(self), &start, &stop, step);
    for (Py_ssize_t i = 0; i < count; ++i) set_byte(self, start + i * step, byte);
    return 0;
  }

  Py_ssize_t position = PyNumber_AsSsize_t(index, PyExc_IndexError);
  if (position == -1 && PyErr_Occurred()) return -1;
  if (position < 0) position += size_of(self);

  TORCH_CHECK_INDEX(position >= 0 && position < size_of(self), "index ", position,
                    " out of range for storage of size ", size_of(self));
  set_byte(self, position, byte);
  return 0;
  TORCH_PY_CATCH(-1)
}

PyObject* resize(PyObject* self, PyObject* size) {
  TORCH_PY_TRY
  c10::StorageImpl& storage = *storage_of(self);
  TORCH_CHECK(is_int(size), "resize_ expects an int, but got ", type_name(size));

  const int64_t wanted = to_int64(size);
  TORCH_CHECK(wanted >= 0, "resize_: size must not be negative, got ", wanted);
  TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");

  release_replaced(storage.resize(static_cast<size_t>(wanted)));
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* fill(PyObject* self, PyObject* value) {
  TORCH_PY_TRY
  check_readable(self);
  const uint8_t byte = byte_value(value);
  if (size_of(self) == 0) return Py_NewRef(self);
  if (is_on_cpu(self)) {
    std::memset(writable_bytes_of(self), byte, static_cast<size_t>(size_of(self)));
    return Py_NewRef(self);
  }

  const std::vector<uint8_t> bytes(static_cast<size_t>(size_of(self)), byte);
  copy_bytes(writable_bytes_of(self), storage_of(self)->device(), bytes.data(), c10::kCPU,
             size_of(self));
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* clone(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  check_readable(self);
  return wrap_storage(part_of(self, 0, size_of(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* copy_from(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject*) {
  TORCH_PY_TRY
  if (nargs < 1 || !is_storage(args[0]))
    throw_python(PyExc_TypeError, "copy_(): expected an UntypedStorage");
  check_readable(self);

  check_readable(args[0]);
  TORCH_CHECK(size_of(self) == size_of(args[0]), "size does not match, self was ", size_of(self),
              " bytes but src was ", size_of(args[0]));

  copy_bytes(writable_bytes_of(self), storage_of(self)->device(), bytes_of(args[0]),
             storage_of(args[0])->device(), size_of(self));
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* tolist(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  check_readable(self);
  if (is_on_cpu(self)) return PySequence_List(self);

  c10::Storage copy = allocate(size_of(self), c10::kCPU);
  copy_bytes(copy->data.get(), c10::kCPU, bytes_of(self), storage_of(self)->device(),
             size_of(self));
  const ObjectPtr host = ObjectPtr::steal(wrap_storage(std::move(copy)));
  return PySequence_List(host.get());
  TORCH_PY_CATCH(nullptr)
}

PyObject* device(PyObject* self, void*) {
  TORCH_PY_TRY
  return make_device(storage_of(self)->device());
  TORCH_PY_CATCH(nullptr)
}

PyObject* identity(PyObject* self, void*) { return PyLong_FromVoidPtr(storage_of(self).get()); }

PyObject* repr(PyObject* self) {
  TORCH_PY_TRY
  return PyUnicode_FromFormat("[torch.storage.UntypedStorage(device=%s) of size %zd]",
                              storage_of(self)->device().str().c_str(),
                              static_cast<Py_ssize_t>(size_of(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* compare(PyObject* a, PyObject* b, int operation) {
  if (!is_storage(a) || !is_storage(b) || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((storage_of(a) == storage_of(b)) == (operation == Py_EQ));
}

Py_hash_t hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(storage_of(self).get()) >> 4);
}

// Note [Memory that a buffer looks at]
// A memoryview keeps its storage alive, but resizing the storage would free the memory under it. So
// a storage with buffers is not resizable, like one over foreign memory. It becomes resizable again
// when the last buffer goes, unless its memory was exchanged meanwhile (share_memory_, which keeps
// the old memory). The GIL guards the table.
struct Buffers {
  Py_ssize_t count = 0;
  c10::Allocator* allocator = nullptr;  // the storage's own, given back with the last buffer
  const void* data = nullptr;           // the memory that the buffers look at
};

std::unordered_map<const c10::StorageImpl*, Buffers>& buffers_of_storages() {
  // Never destroyed: buffers may outlive it.
  static auto* const table = new std::unordered_map<const c10::StorageImpl*, Buffers>;
  return *table;
}

void begin_buffer(c10::StorageImpl& storage) {
  Buffers& buffers = buffers_of_storages()[&storage];
  if (buffers.count++ > 0) return;
  buffers.allocator = std::exchange(storage.allocator, nullptr);
  buffers.data = storage.data.get();
}

void release_buffer(PyObject* self, Py_buffer*) {
  c10::StorageImpl& storage = *storage_of(self);
  const auto found = buffers_of_storages().find(&storage);
  if (found == buffers_of_storages().end() || --found->second.count > 0) return;

  c10::contents_written(found->second.data);
  if (storage.data.get() == found->second.data) storage.allocator = found->second.allocator;
  buffers_of_storages().erase(found);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (!storage_of(self)->device().is_cpu()) {
    view->obj = nullptr;
    PyErr_SetString(
        PyExc_BufferError,
        "the memory of a storage that is not on the CPU cannot be exported as a buffer");
    return -1;
  }

  static uint8_t none;  // the address of an empty storage
  const int status = PyBuffer_FillInfo(
      view, self, bytes_of(self) != nullptr ? bytes_of(self) : &none, size_of(self), 0, flags);
  if (status == 0) begin_buffer(*storage_of(self));
  return status;
}

PyObject* untyped(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyObject* from_file(PyObject*, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const ObjectPtr module =
      ObjectPtr::steal(checked(PyImport_ImportModule("torch_py._storage_files")));
  const ObjectPtr function =
      ObjectPtr::steal(checked(PyObject_GetAttrString(module.get(), "storage_from_file")));

  return checked(PyObject_Call(function.get(), args, kwargs));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef methods[] = {{"from_file", as_method(from_file),
                          METH_STATIC | METH_VARARGS | METH_KEYWORDS,
                          "from_file(filename, shared=False, nbytes=0): a storage over a file that "
                          "is mapped into memory."},
                         {"untyped", untyped, METH_NOARGS, "This storage."},
                         {"nbytes", nbytes, METH_NOARGS, nullptr},
                         {"size", nbytes, METH_NOARGS, nullptr},
                         {"data_ptr", data_ptr, METH_NOARGS, nullptr},
                         {"_address", address, METH_NOARGS, nullptr},
                         {"element_size", element_size, METH_NOARGS, nullptr},
                         {"resizable", is_resizable, METH_NOARGS, nullptr},
                         {"resize_", resize, METH_O, nullptr},
                         {"fill_", fill, METH_O, nullptr},
                         {"clone", clone, METH_NOARGS, nullptr},
                         {"copy_", as_method(copy_from), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"tolist", tolist, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"device", device, nullptr, nullptr, nullptr},
    {"_cdata", identity, nullptr, "int: the same for objects of one storage.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PySequenceMethods as_sequence = {};
PyMappingMethods as_mapping = {length, subscript, assign};
PyBufferProcs as_buffer = {get_buffer, release_buffer};

}  // namespace

PyTypeObject StorageType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* wrap_storage(c10::Storage storage) {
  PyObject* self = checked(StorageType.tp_alloc(&StorageType, 0));
  new (&storage_of(self)) c10::Storage(std::move(storage));
  return self;
}

bool is_storage(PyObject* object) { return PyObject_TypeCheck(object, &StorageType); }
const c10::Storage& unpack_storage(PyObject* object) { return storage_of(object); }

void init_storage(PyObject* module) {
  as_sequence.sq_length = length;
  as_sequence.sq_item = item;
  PyTypeObject& type = StorageType;

  type.tp_name = "torch_py.UntypedStorage";
  type.tp_doc = texts::torch_UntypedStorage;
  type.tp_basicsize = sizeof(StorageObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_new = storage_new;
  type.tp_dealloc = storage_dealloc;
  type.tp_repr = repr;
  type.tp_hash = hash;
  type.tp_richcompare = compare;
  type.tp_methods = methods;
  type.tp_getset = properties;
  type.tp_as_sequence = &as_sequence;
  type.tp_as_mapping = &as_mapping;
  type.tp_as_buffer = &as_buffer;

  add_type(module, type);
}

}  // namespace torch::python
