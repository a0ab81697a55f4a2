// The recording behind torch.profiler: one for each thread.
#include "torch_py/csrc/bindings/profiling/Profiler.h"

#include <frameobject.h>

#include <memory>

#include "aten/profiling/Recording.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/dispatch/Values.h"

namespace torch::python {

namespace {

using at::profiling::Event;
using at::profiling::Recording;

constexpr int kMaxFrames = 64;

/// The recording of this thread, and a list of the Python stacks of its events.
struct Profile {
  explicit Profile(at::profiling::Options options) : recording(options) {}

  Recording recording;
  ObjectPtr stacks = ObjectPtr::steal(PyList_New(0));
};

thread_local std::unique_ptr<Profile> profile;

/// "file.py(12): function"
PyObject* describe_frame(PyFrameObject* frame) {
  const ObjectPtr code = ObjectPtr::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const auto* fields = reinterpret_cast<PyCodeObject*>(code.get());
  return PyUnicode_FromFormat("%U(%d): %U", fields->co_filename, PyFrame_GetLineNumber(frame),
                              fields->co_name);
}

/// Options::stack. Whoever calls an operator may have released the GIL.
int32_t note_stack() {
  const GilAcquire gil;
  const ObjectPtr lines = ObjectPtr::steal(PyList_New(0));
  ObjectPtr frame = ObjectPtr::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));

  for (int depth = 0; frame && lines && depth < kMaxFrames; ++depth) {
    auto* current = reinterpret_cast<PyFrameObject*>(frame.get());
    const ObjectPtr line = ObjectPtr::steal(describe_frame(current));
    if (!line || PyList_Append(lines.get(), line.get()) < 0) break;
    frame = ObjectPtr::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(current)));
  }

  const bool is_kept = lines && PyList_Append(profile->stacks.get(), lines.get()) == 0;
  if (!is_kept) PyErr_Clear();
  return is_kept ? static_cast<int32_t>(PyList_GET_SIZE(profile->stacks.get()) - 1) : Event::kNone;
}

/// The shapes of the arguments of a call: a list of lists, empty for arguments without a shape.
PyObject* shapes_of(const Recording& recording, int32_t start) {
  if (start == Event::kNone) return wrap_none();
  const std::vector<int64_t>& shapes = recording.shapes();
  ObjectPtr list = ObjectPtr::steal(checked(PyList_New(0)));

  for (auto i = static_cast<size_t>(start); shapes[i] != -2;) {
    const int64_t ndim = std::max<int64_t>(shapes[i++], 0);
    const ObjectPtr sizes = ObjectPtr::steal(checked(PyList_New(ndim)));
    for (int64_t dim = 0; dim < ndim; ++dim) PyList_SET_ITEM(sizes.get(), dim, wrap(shapes[i++]));
    check_status(PyList_Append(list.get(), sizes.get()));
  }
  return list.release();
}

/// (name, is an operator, start, end, parent, memory, sequence number, shapes, stack)
PyObject* wrap_event(const Profile& of, const Event& event) {
  const bool is_operator = event.entry != nullptr;
  const std::string name = is_operator ? function_name(*event.entry)
                                       : of.recording.names()[static_cast<size_t>(event.name)];

  const ObjectPtr shapes = ObjectPtr::steal(shapes_of(of.recording, event.shapes));
  PyObject* stack =
      event.stack == Event::kNone ? Py_None : PyList_GET_ITEM(of.stacks.get(), event.stack);
  return checked(Py_BuildValue("(sNLLiLLOO)", name.c_str(), PyBool_FromLong(is_operator),
                               static_cast<long long>(event.start_ns),
                               static_cast<long long>(event.end_ns), event.parent,
                               static_cast<long long>(event.memory),
                               static_cast<long long>(event.sequence), shapes.get(), stack));
}

PyObject* start(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  int shapes = 0;
  int memory = 0;
  int stack = 0;
  if (!PyArg_ParseTuple(args, "ppp:_profiler_start", &shapes, &memory, &stack)) return nullptr;

  TORCH_CHECK(profile == nullptr, "this thread is being profiled already");
  auto made = std::make_unique<Profile>(
      at::profiling::Options{shapes != 0, memory != 0, stack != 0 ? note_stack : nullptr});
  made->recording.start();
  profile = std::move(made);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* stop(PyObject*, PyObject*) {
  TORCH_PY_TRY
  TORCH_CHECK(profile != nullptr, "this thread is not being profiled");
  const std::unique_ptr<Profile> done = std::move(profile);
  done->recording.stop();

  const std::vector<Event>& events = done->recording.events();
  ObjectPtr list = ObjectPtr::steal(checked(PyList_New(static_cast<Py_ssize_t>(events.size()))));
  for (size_t i = 0; i < events.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap_event(*done, events[i]));
  return list.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* begin_range(PyObject*, PyObject* name) {
  TORCH_PY_TRY
  if (profile == nullptr) return PyLong_FromLong(Event::kNone);
  return PyLong_FromLong(profile->recording.begin_range(to_string_view(name), Event::kNone));
  TORCH_PY_CATCH(nullptr)
}

PyObject* end_range(PyObject*, PyObject* event) {
  TORCH_PY_TRY
  const int64_t position = to_int64(event);
  const bool exists = profile != nullptr && position >= 0 &&
                      position < static_cast<int64_t>(profile->recording.events().size());
  if (exists) profile->recording.end(static_cast<int32_t>(position));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_recording(PyObject*, PyObject*) { return PyBool_FromLong(profile != nullptr); }
PyObject* now(PyObject*, PyObject*) { return PyLong_FromLongLong(at::profiling::now_ns()); }

PyMethodDef functions[] = {
    {"_profiler_start", start, METH_VARARGS,
     "_profiler_start(shapes, memory, stacks): records the operator calls of this thread."},
    {"_profiler_stop", stop, METH_NOARGS,
     "Ends the recording; returns (name, is an operator, start, end, parent, memory, sequence "
     "number, shapes, stack) of each event, in the order in which they began."},
    {"_profiler_begin", begin_range, METH_O, "Begins a named range; returns its number or -1."},
    {"_profiler_end", end_range, METH_O, "Ends a range."},
    {"_profiler_now", now, METH_NOARGS, "The recording's clock, in nanoseconds."},
    {"_profiler_enabled", is_recording, METH_NOARGS, "Whether this thread is being recorded."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_profiler(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
