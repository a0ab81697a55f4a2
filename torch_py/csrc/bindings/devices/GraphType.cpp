// _CUDAGraph: the native half of torch.cuda.CUDAGraph.
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/Gil.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/devices/Devices.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

struct Contents {
  std::vector<ObjectPtr> generators;  // the graph draws from them: destroyed after it
  std::unique_ptr<c10::DeviceGraph> graph;
};

struct GraphObject {
  PyObject_HEAD
  Contents contents;
};

Contents& contents_of(PyObject* self) { return reinterpret_cast<GraphObject*>(self)->contents; }

c10::DeviceGraph& graph_of(PyObject* self) {
  const auto& graph = contents_of(self).graph;
  TORCH_CHECK(graph != nullptr, "CUDAGraph.__init__ was not called");
  return *graph;
}

PyObject* graph_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"keep_graph", nullptr};
  int keep_graph = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:CUDAGraph", const_cast<char**>(names),
                                   &keep_graph))
    return nullptr;

  std::unique_ptr<c10::DeviceGraph> graph = cuda_hooks().new_graph(keep_graph != 0);
  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&contents_of(self)) Contents{{}, std::move(graph)};
  return self;
  TORCH_PY_CATCH(nullptr)
}

void graph_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  contents_of(self).~Contents();
  type->tp_free(self);
}

c10::CaptureMode capture_mode(std::string_view name) {
  if (name == "global") return c10::CaptureMode::Global;
  if (name == "thread_local") return c10::CaptureMode::ThreadLocal;
  if (name == "relaxed") return c10::CaptureMode::Relaxed;
  TORCH_THROW(Error,
              "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, "
              "got ",
              std::string(name));
}

PyObject* begin(PyObject* self, PyObject* args) {
  TORCH_PY_TRY
  long long first = 0;
  long long second = 0;
  const char* mode = nullptr;
  if (!PyArg_ParseTuple(args, "(LL)s:_begin", &first, &second, &mode)) return nullptr;
  graph_of(self).begin_capture({first, second}, capture_mode(mode));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// A method without arguments and result, run without the GIL.
template <auto function>
PyObject* call(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  c10::DeviceGraph& graph = graph_of(self);
  {
    const GilRelease unlocked;
    (graph.*function)();
  }
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// A method without arguments that returns a handle.
template <auto function>
PyObject* handle(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return PyLong_FromVoidPtr((graph_of(self).*function)());
  TORCH_PY_CATCH(nullptr)
}

PyObject* pool(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const auto [first, second] = graph_of(self).pool();
  return Py_BuildValue("LL", static_cast<long long>(first), static_cast<long long>(second));
  TORCH_PY_CATCH(nullptr)
}

PyObject* register_generator(PyObject* self, PyObject* generator) {
  TORCH_PY_TRY
  graph_of(self).register_generator(*to_generator(generator));
  contents_of(self).generators.push_back(ObjectPtr::borrow(generator));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* debug_dump(PyObject* self, PyObject* path) {
  TORCH_PY_TRY
  graph_of(self).debug_dump(std::string(to_string_view(path)));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef methods[] = {
    {"_begin", begin, METH_VARARGS, "_begin(pool, mode)"},
    {"capture_end", call<&c10::DeviceGraph::end_capture>, METH_NOARGS,
     "capture_end(): ends the capture on the current stream."},
    {"instantiate", call<&c10::DeviceGraph::instantiate>, METH_NOARGS,
     "instantiate(): makes a graph with keep_graph ready for replay."},
    {"replay", call<&c10::DeviceGraph::replay>, METH_NOARGS,
     "replay(): runs the captured work in the current stream."},
    {"reset", call<&c10::DeviceGraph::reset>, METH_NOARGS, "reset(): deletes the captured work."},
    {"enable_debug_mode", call<&c10::DeviceGraph::enable_debug_mode>, METH_NOARGS,
     "enable_debug_mode(): keeps what debug_dump writes."},
    {"pool", pool, METH_NOARGS, "pool() -> the identifier of the graph's memory."},
    {"register_generator_state", register_generator, METH_O,
     "register_generator_state(generator): lets a generator take part in the capture."},
    {"debug_dump", debug_dump, METH_O, "debug_dump(path): writes the graph for Graphviz."},
    {"raw_cuda_graph", handle<&c10::DeviceGraph::native_graph>, METH_NOARGS, nullptr},
    {"raw_cuda_graph_exec", handle<&c10::DeviceGraph::native_executable>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyTypeObject GraphType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* new_memory_pool(PyObject*, PyObject*) {
  TORCH_PY_TRY
  const auto [first, second] = cuda_hooks().new_memory_pool();
  return Py_BuildValue("LL", static_cast<long long>(first), static_cast<long long>(second));
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_capturing(PyObject*, PyObject*) {
  TORCH_PY_TRY
  c10::DeviceHooks& hooks = cuda_hooks();
  return wrap(hooks.is_capturing(hooks.current_stream(hooks.current_device())));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {{"_graph_pool_handle", new_memory_pool, METH_NOARGS, nullptr},
                           {"_cuda_isCurrentStreamCapturing", is_capturing, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_graph(PyObject* module) {
  PyTypeObject& type = GraphType;
  type.tp_name = "torch_py._C._CUDAGraph";
  type.tp_basicsize = sizeof(GraphObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_new = graph_new;
  type.tp_dealloc = graph_dealloc;
  type.tp_methods = methods;

  add_type(module, type);
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
