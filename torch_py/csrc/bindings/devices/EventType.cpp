// torch.Event: a point in the work of a stream.
#include "torch_py/csrc/bindings/devices/EventType.h"

#include <new>
#include <string>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/FastCall.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/devices/StreamType.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"

namespace torch::python {

namespace {

constexpr Parameter parameters[] = {{"device", Kind::Device, kOptional | kNullable},
                                    {"enable_timing", Kind::Bool, kOptional | kKeywordOnly},
                                    {"blocking", Kind::Bool, kOptional | kKeywordOnly},
                                    {"interprocess", Kind::Bool, kOptional | kKeywordOnly}};
constexpr Signature signatures[] = {{"Event(torch.device device = None, *, bool enable_timing = "
                                     "False, bool blocking = False, bool interprocess = False)",
                                     parameters, 4}};
constinit Function constructor = {"Event", nullptr, signatures, 1};

/// The accelerator, or the CPU of a machine without one.
c10::Device default_device_of_events() {
  c10::DeviceHooks* const hooks = c10::device_hooks_or_null(c10::DeviceType::CUDA);
  const bool is_usable = hooks != nullptr && hooks->device_count() > 0;
  return is_usable ? c10::Device(c10::DeviceType::CUDA) : c10::kCPU;
}

PyObject* make_event(PyTypeObject* type, c10::Device device, bool timing) {
  PyObject* self = checked(type->tp_alloc(type, 0));
  EventObject& object = unpack_event(self);
  new (&object.event) std::optional<c10::Event>();
  object.device = device;
  object.timing = timing;
  return self;
}

PyObject* event_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  const FastCall fast(args, kwargs);
  Arguments call;
  call.bind(constructor, nullptr, fast.args(), fast.nargs(), fast.kwnames());

  const c10::Device device = call.given(0) ? call.device(0) : default_device_of_events();
  if (!device.is_cpu()) hooks_for("torch.Event", device);

  const bool timing = call.boolean(1, false);
  ObjectPtr self = ObjectPtr::steal(make_event(type, device, timing));
  if (!device.is_cpu()) {
    unpack_event(self.get())
        .event.emplace(device.type, timing, call.boolean(2, false), call.boolean(3, false));
  }
  return self.release();
  TORCH_PY_CATCH(nullptr)
}

void event_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  unpack_event(self).event.~optional();
  type->tp_free(self);
}

/// The stream that a call names, or the current one of the event's device.
c10::Stream stream_of_call(const EventObject& event, PyObject* given) {
  if (given != nullptr && given != Py_None) {
    if (!is_stream(given))
      throw_python(PyExc_TypeError, "expected a Stream, got %s", type_name(given));
    return unpack_stream(given);
  }

  if (!event.event) return {c10::kCPU, 0};
  const c10::Device device =
      event.event->is_created() ? event.event->device() : c10::resolved(event.device);
  return c10::device_hooks(device.type).current_stream(device.index);
}

constexpr Parameter stream_parameters[] = {{"stream", Kind::Any, kOptional}};
constexpr Signature record_signatures[] = {{"record(Stream stream = None)", stream_parameters, 1}};
constexpr Signature wait_signatures[] = {{"wait(Stream stream = None)", stream_parameters, 1}};
constinit Function record_function = {"record", nullptr, record_signatures, 1};
constinit Function wait_function = {"wait", nullptr, wait_signatures, 1};

PyObject* record(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  call.bind(record_function, nullptr, args, nargs, kwnames);
  EventObject& event = unpack_event(self);
  record_event(event, stream_of_call(event, call.object(0)));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* wait(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  call.bind(wait_function, nullptr, args, nargs, kwnames);
  const EventObject& event = unpack_event(self);
  if (event.event && event.event->is_created())
    event.event->wait(stream_of_call(event, call.object(0)));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* query(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const EventObject& event = unpack_event(self);
  return wrap(!event.event || event.event->query());
  TORCH_PY_CATCH(nullptr)
}

PyObject* synchronize(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const EventObject& event = unpack_event(self);
  if (event.event) {
    const GilRelease unlocked;
    event.event->synchronize();
  }
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* elapsed_time(PyObject* self, PyObject* end) {
  TORCH_PY_TRY
  if (!is_event(end))
    throw_python(PyExc_TypeError, "elapsed_time(): expected an Event, got %s", type_name(end));
  const EventObject& first = unpack_event(self);
  const EventObject& last = unpack_event(end);

  TORCH_CHECK_VALUE(first.timing && last.timing,
                    "Both events must be created with argument 'enable_timing=True'.");
  const bool are_recorded =
      first.event && first.event->is_created() && last.event && last.event->is_created();
  TORCH_CHECK_VALUE(are_recorded, "Both events must be recorded before calculating elapsed time.");
  TORCH_CHECK_VALUE(first.device.type == last.device.type,
                    "elapsed_time(): the events are of different types of devices");
  return PyFloat_FromDouble(double{first.event->elapsed_time(*last.event)});
  TORCH_PY_CATCH(nullptr)
}

// --- Between processes ---

PyObject* ipc_handle(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  EventObject& event = unpack_event(self);
  TORCH_CHECK(event.event.has_value(), "cpu backend doesn't support events.");
  const std::string handle = event.event->ipc_handle(c10::resolved(event.device));
  return PyBytes_FromStringAndSize(handle.data(), static_cast<Py_ssize_t>(handle.size()));
  TORCH_PY_CATCH(nullptr)
}

PyObject* from_ipc_handle(PyObject* type, PyObject* args) {
  TORCH_PY_TRY
  PyObject* where = nullptr;
  const char* handle = nullptr;
  Py_ssize_t length = 0;
  if (!PyArg_ParseTuple(args, "Oy#:from_ipc_handle", &where, &handle, &length)) return nullptr;

  const c10::Device device = c10::resolved(to_device(where));
  TORCH_CHECK(device.is_cuda(), "from_ipc_handle: ", device, " has no events");
  ObjectPtr self =
      ObjectPtr::steal(make_event(reinterpret_cast<PyTypeObject*>(type), device, false));
  unpack_event(self.get()).event.emplace(device, std::string(handle, static_cast<size_t>(length)));
  return self.release();
  TORCH_PY_CATCH(nullptr)
}

// --- Attributes ---

PyObject* device(PyObject* self, void*) {
  TORCH_PY_TRY
  const EventObject& event = unpack_event(self);
  const bool is_created = event.event && event.event->is_created();
  return make_device(is_created ? event.event->device() : event.device);
  TORCH_PY_CATCH(nullptr)
}

PyObject* native(PyObject* self, void*) {
  const EventObject& event = unpack_event(self);
  return PyLong_FromVoidPtr(event.event ? event.event->native() : nullptr);
}

PyObject* repr(PyObject* self) {
  TORCH_PY_TRY
  const EventObject& event = unpack_event(self);
  void* handle = event.event ? event.event->native() : nullptr;
  const c10::Device device =
      event.event && event.event->is_created() ? event.event->device() : event.device;
  return PyUnicode_FromFormat(
      "torch.Event device_type=%s, device_index=%d, event_flag=%d, event_id=%lld",
      c10::device_type_name(device.type).c_str(), int{device.index}, int{event.timing},
      static_cast<long long>(reinterpret_cast<intptr_t>(handle)));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef methods[] = {
    {"record", as_method(record), METH_FASTCALL | METH_KEYWORDS,
     "record(stream=None): marks the work put into the stream so far."},
    {"wait", as_method(wait), METH_FASTCALL | METH_KEYWORDS,
     "wait(stream=None): later work of the stream waits for the event."},
    {"query", query, METH_NOARGS,
     "query() -> bool: whether the marked work is done; True if nothing is marked."},
    {"synchronize", synchronize, METH_NOARGS, "synchronize(): waits for the marked work."},
    {"elapsed_time", elapsed_time, METH_O,
     "elapsed_time(end_event) -> float: milliseconds from this event to the other."},
    {"ipc_handle", ipc_handle, METH_NOARGS,
     "ipc_handle() -> bytes: with which another process opens the event."},
    {"from_ipc_handle", from_ipc_handle, METH_VARARGS | METH_CLASS,
     "from_ipc_handle(device, handle) -> Event of another process."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"device", device, nullptr, nullptr, nullptr},
    {"event_id", native, nullptr, "int: the backend's handle; 0 before the first record.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyTypeObject EventType = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool is_event(PyObject* object) { return PyObject_TypeCheck(object, &EventType); }
EventObject& unpack_event(PyObject* object) { return *reinterpret_cast<EventObject*>(object); }

void record_event(EventObject& event, c10::Stream stream) {
  TORCH_CHECK(event.event.has_value() && !stream.device.is_cpu(),
              "cpu backend doesn't support events.");
  event.event->record(stream);
}

void init_event(PyObject* module) {
  PyTypeObject& type = EventType;
  type.tp_name = "torch_py.Event";
  type.tp_doc = texts::torch_Event;
  type.tp_basicsize = sizeof(EventObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_new = event_new;
  type.tp_dealloc = event_dealloc;
  type.tp_repr = repr;
  type.tp_methods = methods;
  type.tp_getset = properties;

  add_type(module, type);
}

}  // namespace torch::python
