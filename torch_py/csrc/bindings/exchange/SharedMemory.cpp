// Shared memory in Python: methods of UntypedStorage, _SegmentPool and _SegmentReceiver.
#include "torch_py/csrc/bindings/exchange/SharedMemory.h"

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "c10/cpu/SegmentPool.h"
#include "c10/cpu/SharedMemory.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/CallsInProgress.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/bindings/types/StorageType.h"

namespace torch::python {

namespace {

// --- UntypedStorage ---

/// Bytes from which a copy is worth a release of the GIL.
constexpr size_t kLongCopy = size_t{1} << 20;

/// Copies without the GIL. Nobody waits for the mutex while holding the GIL, so the owner of the
/// mutex may wait for the GIL.
void share_large(c10::StorageImpl& storage) {
  std::unique_lock lock(c10::sharing_mutex(), std::defer_lock);
  std::shared_ptr<c10::SharedSegment> segment;
  {
    const GilRelease unlocked;
    lock.lock();
    if (!c10::shared_segment(storage)) segment = c10::copy_to_segment(storage);
  }
  if (segment) release_replaced(c10::move_to_segment(storage, std::move(segment)));
}

PyObject* share_memory(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const c10::Storage storage = unpack_storage(self);

  TORCH_CHECK_NOT_IMPLEMENTED(storage->device().type != c10::DeviceType::PrivateUse1,
                              "share_memory_: processes cannot share the memory of '",
                              storage->device(), "'; copy the tensor to the CPU first");

  // Other processes can open the memory of a CUDA device as it is.
  if (storage->device().is_cuda() || c10::shared_segment(*storage)) return Py_NewRef(self);
  if (storage->nbytes >= kLongCopy && storage->device().is_cpu()) {
    share_large(*storage);
  } else {
    release_replaced(c10::move_to_segment(*storage, c10::copy_to_segment(*storage)));
  }
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_shared(PyObject* self, PyObject*) {
  const c10::StorageImpl& storage = *unpack_storage(self);
  return PyBool_FromLong(storage.device().is_cuda() || c10::shared_segment(storage) != nullptr);
}

PyObject* descriptor(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const auto segment = c10::shared_segment(*unpack_storage(self));
  TORCH_CHECK(segment != nullptr, "_shared_descriptor: the storage is not shared");
  return PyLong_FromLong(segment->descriptor());
  TORCH_PY_CATCH(nullptr)
}

PyObject* from_descriptor(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  int file = -1;
  Py_ssize_t bytes = 0;
  if (!PyArg_ParseTuple(args, "in:_from_descriptor", &file, &bytes)) return nullptr;
  TORCH_CHECK_VALUE(bytes >= 0, "_from_descriptor: size must not be negative, got ", bytes);
  const auto size = static_cast<size_t>(bytes);
  return wrap_storage(c10::storage_on_segment(c10::SharedSegment::open(file, size), size));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef storage_methods[] = {
    {"share_memory_", share_memory, METH_NOARGS,
     "share_memory_() -> UntypedStorage: this one, moved to memory that other processes can map."},
    {"is_shared", is_shared, METH_NOARGS,
     "is_shared() -> bool: whether other processes can map the memory."},
    {"_shared_descriptor", descriptor, METH_NOARGS,
     "_shared_descriptor() -> int: the file behind a shared storage, which keeps it."},
    {"_from_descriptor", from_descriptor, METH_VARARGS | METH_STATIC,
     "_from_descriptor(descriptor, nbytes) -> UntypedStorage: over the file, whose descriptor it "
     "takes over."}};

void add_storage_methods() {
  for (PyMethodDef& method : storage_methods) {
    const bool is_static = (method.ml_flags & METH_STATIC) != 0;
    ObjectPtr callable =
        ObjectPtr::steal(checked(is_static ? PyCFunction_NewEx(&method, nullptr, nullptr)
                                           : PyDescr_NewMethod(&StorageType, &method)));

    if (is_static) callable = ObjectPtr::steal(checked(PyStaticMethod_New(callable.get())));
    check_status(PyDict_SetItemString(StorageType.tp_dict, method.ml_name, callable.get()));
  }
  PyType_Modified(&StorageType);
}

// --- _SegmentPool and _SegmentReceiver ---

/// A Python object that holds a T.
template <class T>
struct Holder {
  PyObject_HEAD
  T value;
};

template <class T>
T& value_of(PyObject* self) {
  return reinterpret_cast<Holder<T>*>(self)->value;
}

template <class T>
PyObject* make_holder(PyTypeObject* type, PyObject*, PyObject*) {
  TORCH_PY_TRY
  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&value_of<T>(self)) T();
  return self;
  TORCH_PY_CATCH(nullptr)
}

template <class T>
void delete_holder(PyObject* self) {
  value_of<T>(self).~T();
  Py_TYPE(self)->tp_free(self);
}

std::vector<int64_t> to_ids(PyObject* sequence) {
  const ObjectPtr items = ObjectPtr::steal(
      checked(PySequence_Fast(sequence, "expected a sequence of segment numbers")));
  std::vector<int64_t> ids;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    ids.push_back(to_int64(PySequence_Fast_GET_ITEM(items.get(), i)));
  return ids;
}

ObjectPtr to_list(const std::vector<int64_t>& ids) {
  ObjectPtr list = ObjectPtr::steal(checked(PyList_New(static_cast<Py_ssize_t>(ids.size()))));
  for (size_t i = 0; i < ids.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(ids[i])));
  return list;
}

using c10::SegmentPool;
using c10::SegmentReceiver;

PyObject* pool_allocate(PyObject* self, PyObject* size) {
  TORCH_PY_TRY
  const int64_t bytes = to_int64(size);
  TORCH_CHECK_VALUE(bytes >= 0, "allocate: size must not be negative, got ", bytes);
  return wrap_storage(value_of<SegmentPool>(self).allocate(static_cast<size_t>(bytes)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* pool_export(PyObject* self, PyObject* storage) {
  TORCH_PY_TRY
  if (!is_storage(storage))
    throw_python(PyExc_TypeError, "export(): expected an UntypedStorage, got %s",
                 type_name(storage));
  const auto exported = value_of<SegmentPool>(self).export_storage(*unpack_storage(storage));

  if (!exported) Py_RETURN_NONE;
  return Py_BuildValue("Lni", static_cast<long long>(exported->id),
                       static_cast<Py_ssize_t>(exported->capacity), exported->descriptor);
  TORCH_PY_CATCH(nullptr)
}

PyObject* pool_delivered(PyObject* self, PyObject* ids) {
  TORCH_PY_TRY
  value_of<SegmentPool>(self).delivered(to_ids(ids));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* pool_release(PyObject* self, PyObject* args) {
  TORCH_PY_TRY
  PyObject* reusable = nullptr;
  PyObject* dropped = nullptr;
  if (!PyArg_ParseTuple(args, "OO:release", &reusable, &dropped)) return nullptr;

  value_of<SegmentPool>(self).release(to_ids(reusable), true);
  value_of<SegmentPool>(self).release(to_ids(dropped), false);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* pool_trim(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return to_list(value_of<SegmentPool>(self).trim()).release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* pool_count(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const auto [segments, idle] = value_of<SegmentPool>(self).count();
  return Py_BuildValue("nn", static_cast<Py_ssize_t>(segments), static_cast<Py_ssize_t>(idle));
  TORCH_PY_CATCH(nullptr)
}

PyObject* receiver_receive(PyObject* self, PyObject* args) {
  TORCH_PY_TRY
  long long id = 0;
  int file = -1;
  Py_ssize_t capacity = 0;
  Py_ssize_t bytes = 0;
  if (!PyArg_ParseTuple(args, "Linn:receive", &id, &file, &capacity, &bytes)) return nullptr;
  TORCH_CHECK_VALUE(capacity >= 0 && bytes >= 0, "receive: sizes must not be negative, got ",
                    capacity, " and ", bytes);

  return wrap_storage(value_of<SegmentReceiver>(self).receive(
      id, file, static_cast<size_t>(capacity), static_cast<size_t>(bytes)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* receiver_take_returned(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const auto returned = value_of<SegmentReceiver>(self).take_returned();
  return PyTuple_Pack(2, to_list(returned.reusable).get(), to_list(returned.dropped).get());
  TORCH_PY_CATCH(nullptr)
}

PyObject* receiver_forget(PyObject* self, PyObject* ids) {
  TORCH_PY_TRY
  value_of<SegmentReceiver>(self).forget(to_ids(ids));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* receiver_close(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  value_of<SegmentReceiver>(self).close();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef pool_methods[] = {
    {"allocate", pool_allocate, METH_O, "allocate(nbytes) -> UntypedStorage"},
    {"export", pool_export, METH_O,
     "export(storage) -> (id, capacity, descriptor or -1), or None if the storage is not the "
     "pool's or was sent already"},
    {"delivered", pool_delivered, METH_O, "delivered(ids): the receiver has their descriptors"},
    {"release", pool_release, METH_VARARGS, "release(reusable_ids, dropped_ids)"},
    {"trim", pool_trim, METH_NOARGS, "trim() -> ids that the receiver should forget"},
    {"count", pool_count, METH_NOARGS, "count() -> (segments, idle ones)"},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef receiver_methods[] = {
    {"receive", receiver_receive, METH_VARARGS,
     "receive(id, descriptor or -1, capacity, nbytes) -> UntypedStorage"},
    {"take_returned", receiver_take_returned, METH_NOARGS,
     "take_returned() -> (reusable_ids, dropped_ids)"},
    {"forget", receiver_forget, METH_O, "forget(ids)"},
    {"close", receiver_close, METH_NOARGS, "close(): stops returning segments"},
    {nullptr, nullptr, 0, nullptr}};

PyTypeObject PoolType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject ReceiverType = {PyVarObject_HEAD_INIT(nullptr, 0)};

template <class T>
void add_holder(PyObject* module, PyTypeObject& type, const char* name, PyMethodDef* methods) {
  type.tp_name = name;
  type.tp_basicsize = sizeof(Holder<T>);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_new = make_holder<T>;
  type.tp_dealloc = delete_holder<T>;
  type.tp_methods = methods;
  add_type(module, type);
}

}  // namespace

void init_shared_memory(PyObject* module) {
  add_storage_methods();
  add_holder<SegmentPool>(module, PoolType, "torch_py._C._SegmentPool", pool_methods);
  add_holder<SegmentReceiver>(module, ReceiverType, "torch_py._C._SegmentReceiver",
                              receiver_methods);
}

}  // namespace torch::python
