// torch.Stream: a queue of work on a device.
#include "torch_py/csrc/bindings/devices/StreamType.h"

#include <string>
#include <utility>
#include <vector>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/FastCall.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/devices/EventType.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"

namespace torch::python {

namespace {

constexpr Parameter new_parameters[] = {{"device", Kind::Device, kOptional | kNullable},
                                        {"priority", Kind::Int, kOptional | kKeywordOnly}};
constexpr Parameter known_parameters[] = {{"stream_id", Kind::Int},
                                          {"device_index", Kind::Int},
                                          {"device_type", Kind::Int},
                                          {"priority", Kind::Int, kOptional | kKeywordOnly}};
constexpr Parameter external_parameters[] = {{"device", Kind::Device, kOptional | kNullable},
                                             {"stream_ptr", Kind::Int, kKeywordOnly}};
constexpr Signature signatures[] = {
    {"Stream(torch.device device = None, *, int priority = 0)", new_parameters, 2},
    {"Stream(int stream_id, int device_index, int device_type, *, int priority = 0)",
     known_parameters, 4},
    {"Stream(torch.device device = None, *, int stream_ptr)", external_parameters, 2}};
constinit Function constructor = {"Stream", nullptr, signatures, 3};

c10::Stream& stream_of(PyObject* self) { return reinterpret_cast<StreamObject*>(self)->stream; }

/// The hooks of a stream's device; null for the CPU, whose stream is always empty.
c10::DeviceHooks* hooks_of(c10::Stream stream) {
  if (stream.device.is_cpu()) return nullptr;
  return &c10::device_hooks(stream.device.type);
}

/// The accelerator, or the CPU of a machine without one.
c10::Device default_device_of_streams() {
  c10::DeviceHooks* const hooks = c10::device_hooks_or_null(c10::DeviceType::CUDA);
  const bool is_usable = hooks != nullptr && hooks->device_count() > 0;
  return is_usable ? c10::Device(c10::DeviceType::CUDA, hooks->current_device()) : c10::kCPU;
}

c10::Stream make_stream(Arguments& call, int overload) {
  if (overload == 1) {
    const c10::Device device(static_cast<c10::DeviceType>(call.integer(2)),
                             static_cast<c10::DeviceIndex>(call.integer(1)));
    if (!device.is_cpu()) hooks_for("torch.Stream", device);
    return {device, call.integer(0)};
  }

  const c10::Device device = call.given(0) ? call.device(0) : default_device_of_streams();
  if (device.is_cpu()) return {c10::kCPU, 0};

  c10::DeviceHooks& hooks = hooks_for("torch.Stream", device);
  const c10::DeviceIndex index = c10::resolved(device).index;
  if (overload == 2) {
    const auto address = static_cast<uintptr_t>(call.integer(1));
    return hooks.external_stream(index, reinterpret_cast<void*>(address));
  }
  return hooks.new_stream(index, static_cast<int>(call.integer(1, 0)));
}

PyObject* stream_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall fast(args, kwargs);
  Arguments call;
  call.bind(constructor, nullptr, fast.args(), fast.nargs(), fast.kwnames());
  const c10::Stream stream = make_stream(call, call.accepted());

  PyObject* self = checked(type->tp_alloc(type, 0));
  stream_of(self) = stream;
  return self;
  TORCH_PY_CATCH(nullptr)
}

void stream_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<StreamObject*>(self);
  if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);

  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
}

// --- Waiting ---

PyObject* query(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  c10::DeviceHooks* const hooks = hooks_of(stream_of(self));
  return wrap(hooks == nullptr || hooks->query_stream(stream_of(self)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* synchronize(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const c10::Stream stream = stream_of(self);
  if (c10::DeviceHooks* const hooks = hooks_of(stream)) {
    const GilRelease unlocked;
    hooks->synchronize_stream(stream);
  }
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* wait_event(PyObject* self, PyObject* event) {
  TORCH_PY_TRY
  if (!is_event(event))
    throw_python(PyExc_TypeError, "wait_event(): expected an Event, got %s", type_name(event));
  const EventObject& object = unpack_event(event);
  if (object.event) object.event->wait(stream_of(self));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* wait_stream(PyObject* self, PyObject* other) {
  TORCH_PY_TRY
  if (!is_stream(other))
    throw_python(PyExc_TypeError, "wait_stream(): expected a Stream, got %s", type_name(other));
  TORCH_CHECK(!stream_of(other).device.is_cpu(), "cpu backend doesn't support events.");

  c10::Event event(stream_of(other).device.type);
  event.record(stream_of(other));
  event.wait(stream_of(self));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* record(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  static constexpr Parameter parameters[] = {{"event", Kind::Any, kOptional}};
  static constexpr Signature forms[] = {{"record_event(Event event = None)", parameters, 1}};
  static constinit Function function = {"record_event", nullptr, forms, 1};
  Arguments call;
  call.bind(function, nullptr, args, nargs, kwnames);

  ObjectPtr event;
  if (call.given(0)) {
    event = ObjectPtr::borrow(call.object(0));
  } else {
    const ObjectPtr device = ObjectPtr::steal(make_device(stream_of(self).device));
    event = ObjectPtr::steal(
        checked(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&EventType), device.get())));
  }

  if (!is_event(event.get())) {
    throw_python(PyExc_TypeError, "record_event(): expected an Event, got %s",
                 type_name(event.get()));
  }
  record_event(unpack_event(event.get()), stream_of(self));
  return event.release();
  TORCH_PY_CATCH(nullptr)
}

// --- with stream: ---

/// What a `with` block of this thread replaced.
struct Entered {
  c10::Stream before;
  c10::DeviceIndex device;
};
thread_local std::vector<Entered> entered;

PyObject* enter(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const c10::Stream stream = stream_of(self);
  if (c10::DeviceHooks* const hooks = hooks_of(stream)) {
    const c10::DeviceIndex device = hooks->exchange_device(stream.device.index);
    entered.push_back({hooks->exchange_stream(stream), device});
  }
  return Py_NewRef(self);
  TORCH_PY_CATCH(nullptr)
}

PyObject* leave(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  c10::DeviceHooks* const hooks = hooks_of(stream_of(self));
  if (hooks != nullptr && !entered.empty()) {
    const Entered replaced = entered.back();
    entered.pop_back();
    hooks->exchange_stream(replaced.before);
    hooks->exchange_device(replaced.device);
  }
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// --- Attributes ---

PyObject* device(PyObject* self, void*) {
  TORCH_PY_TRY
  return make_device(stream_of(self).device);
  TORCH_PY_CATCH(nullptr)
}

PyObject* stream_id(PyObject* self, void*) { return PyLong_FromLongLong(stream_of(self).id); }

PyObject* device_index(PyObject* self, void*) {
  return PyLong_FromLong(stream_of(self).device.index);
}

PyObject* device_type(PyObject* self, void*) {
  return PyLong_FromLong(static_cast<long>(stream_of(self).device.type));
}

PyObject* native_handle(PyObject* self, void*) {
  TORCH_PY_TRY
  const c10::Stream stream = stream_of(self);
  c10::DeviceHooks* const hooks = hooks_of(stream);
  return PyLong_FromVoidPtr(hooks == nullptr ? nullptr : hooks->native_stream(stream));
  TORCH_PY_CATCH(nullptr)
}

PyObject* priority(PyObject* self, void*) {
  TORCH_PY_TRY
  const c10::Stream stream = stream_of(self);
  c10::DeviceHooks* const hooks = hooks_of(stream);
  return PyLong_FromLong(hooks == nullptr ? 0 : hooks->stream_priority(stream));
  TORCH_PY_CATCH(nullptr)
}

PyObject* repr(PyObject* self) {
  TORCH_PY_TRY
  const c10::Stream stream = stream_of(self);
  return PyUnicode_FromFormat("torch.Stream device_type=%s, device_index=%d, stream_id=%lld",
                              c10::device_type_name(stream.device.type).c_str(),
                              int{stream.device.index}, static_cast<long long>(stream.id));
  TORCH_PY_CATCH(nullptr)
}

PyObject* compare(PyObject* a, PyObject* b, int operation) {
  if (!is_stream(a) || !is_stream(b) || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((stream_of(a) == stream_of(b)) == (operation == Py_EQ));
}

Py_hash_t hash(PyObject* self) {
  const c10::Stream stream = stream_of(self);
  const int64_t device = (static_cast<int64_t>(stream.device.type) << 8) + stream.device.index + 1;
  const auto mixed = static_cast<Py_hash_t>(stream.id * 1000003 + device);
  return mixed == -1 ? -2 : mixed;
}

PyMethodDef methods[] = {
    {"query", query, METH_NOARGS, "query() -> bool: whether all work is done."},
    {"synchronize", synchronize, METH_NOARGS, "synchronize(): waits until all work is done."},
    {"wait_event", wait_event, METH_O,
     "wait_event(event): work put in from now on waits for the event."},
    {"wait_stream", wait_stream, METH_O,
     "wait_stream(stream): work put in from now on waits for the work of the other stream."},
    {"record_event", as_method(record), METH_FASTCALL | METH_KEYWORDS,
     "record_event(event=None) -> Event: marks the work put in so far."},
    {"__enter__", enter, METH_NOARGS,
     "Makes the stream and its device the current ones of this thread."},
    {"__exit__", leave, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"device", device, nullptr, nullptr, nullptr},
    {"stream_id", stream_id, nullptr, "int: names the stream among those of its device.", nullptr},
    {"device_index", device_index, nullptr, nullptr, nullptr},
    {"device_type", device_type, nullptr, "int: the number of the type of device.", nullptr},
    {"native_handle", native_handle, nullptr, "int: the backend's handle.", nullptr},
    {"priority", priority, nullptr, "int: lower numbers run first.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyTypeObject StreamType = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool is_stream(PyObject* object) { return PyObject_TypeCheck(object, &StreamType); }
c10::Stream unpack_stream(PyObject* object) { return stream_of(object); }

PyObject* wrap_stream(c10::Stream stream) {
  PyObject* self = checked(StreamType.tp_alloc(&StreamType, 0));
  stream_of(self) = stream;
  return self;
}

void init_stream(PyObject* module) {
  PyTypeObject& type = StreamType;
  type.tp_name = "torch_py.Stream";
  type.tp_doc = texts::torch_Stream;
  type.tp_basicsize = sizeof(StreamObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_weaklistoffset = offsetof(StreamObject, weak_references);
  type.tp_new = stream_new;
  type.tp_dealloc = stream_dealloc;
  type.tp_repr = repr;
  type.tp_hash = hash;
  type.tp_richcompare = compare;
  type.tp_methods = methods;
  type.tp_getset = properties;

  add_type(module, type);
}

}  // namespace torch::python
