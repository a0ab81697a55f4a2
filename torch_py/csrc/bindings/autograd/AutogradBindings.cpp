// Functions of torch_py._C that run backward passes, and the stacks that anomaly mode records.
#include "torch_py/csrc/bindings/autograd/AutogradBindings.h"

#include <memory>

#include "c10/core/InferenceMode.h"
#include "torch_py/csrc/autograd/AnomalyMode.h"
#include "torch_py/csrc/autograd/Backward.h"
#include "torch_py/csrc/autograd/Engine.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/autograd/NodeType.h"

namespace torch::python {

namespace {

constexpr Parameter parameters[] = {
    {"tensors", Kind::TensorList},  {"grad_tensors", Kind::OptionalTensorList, kNullable},
    {"keep_graph", Kind::Bool},     {"create_graph", Kind::Bool},
    {"inputs", Kind::TensorList},   {"allow_unused", Kind::Bool},
    {"accumulate_grad", Kind::Bool}};
constexpr Signature signatures[] = {
    {"_run_backward(tuple of Tensors tensors, tuple of Tensors grad_tensors, bool keep_graph, bool "
     "create_graph, tuple of Tensors inputs, bool allow_unused, bool accumulate_grad)",
     parameters, 7}};
constinit Function function = {"_run_backward", nullptr, signatures, 1};

PyObject* run_backward(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  // kOverridden does not matter: to the engine, subclasses are tensors.
  call.bind(function, nullptr, args, nargs, kwnames);
  const TensorVector tensors = call.tensor_list(0);
  const TensorVector grads = call.tensor_list(1);
  const TensorVector inputs = call.tensor_list(4);
  const bool keep_graph = call.boolean(2);
  const bool create_graph = call.boolean(3);
  const bool allow_unused = call.boolean(5);
  const bool accumulate = call.boolean(6);

  for (const at::Tensor& tensor : tensors)
    TORCH_CHECK_TYPE(tensor.defined(), "backward: expected Tensors to differentiate, got None");
  for (const at::Tensor& tensor : inputs)
    TORCH_CHECK_TYPE(tensor.defined(), "backward: expected Tensors as inputs, got None");

  torch::autograd::variable_list results;
  {
    const GilReleaseForCall no_gil;
    results = torch::autograd::run_backward(tensors, grads, keep_graph, create_graph, inputs,
                                            allow_unused, accumulate);
  }

  if (accumulate) Py_RETURN_NONE;
  return wrap(std::move(results));
  TORCH_PY_CATCH(nullptr)
}

/// The edge that a (node, output_nr) pair describes.
torch::autograd::Edge unpack_edge(PyObject* object) {
  PyObject* node = PyTuple_Check(object) && PyTuple_GET_SIZE(object) == 2
                       ? PyTuple_GET_ITEM(object, 0)
                       : nullptr;
  torch::autograd::Edge edge{node != nullptr ? unpack_node(node) : nullptr, 0};
  if (!edge.is_valid()) {
    throw_python(PyExc_TypeError, "expected a Tensor or a GradientEdge of a live graph, got %s",
                 type_name(object));
  }

  const int64_t number = to_int64(PyTuple_GET_ITEM(object, 1));
  TORCH_CHECK_INDEX(number >= 0 && static_cast<size_t>(number) < edge.function->num_inputs(),
                    "GradientEdge: ", edge.function->name(), " has ", edge.function->num_inputs(),
                    " outputs, got output_nr=", number);

  edge.input_nr = static_cast<uint32_t>(number);
  return edge;
}

torch::autograd::edge_list unpack_edges(PyObject* tuple) {
  torch::autograd::edge_list edges;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
    edges.push_back(unpack_edge(PyTuple_GET_ITEM(tuple, i)));
  return edges;
}

PyObject* run_backward_of_edges(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* roots = nullptr;
  PyObject* gradients = nullptr;
  PyObject* inputs = nullptr;
  int keep_graph = 0;
  int create_graph = 0;
  int allow_unused = 0;
  int accumulate = 0;
  if (!PyArg_ParseTuple(args, "O!O!ppO!pp:_run_backward_of_edges", &PyTuple_Type, &roots,
                        &PyTuple_Type, &gradients, &keep_graph, &create_graph, &PyTuple_Type,
                        &inputs, &allow_unused, &accumulate))
    return nullptr;
  TORCH_CHECK_VALUE(PyTuple_GET_SIZE(roots) == PyTuple_GET_SIZE(gradients),
                    "_run_backward_of_edges: expected one gradient for each root");

  torch::autograd::variable_list grads;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(gradients); ++i) {
    PyObject* gradient = PyTuple_GET_ITEM(gradients, i);
    grads.push_back(is_tensor(gradient) ? unpack(gradient) : at::Tensor());
  }
  const torch::autograd::edge_list from = unpack_edges(roots);
  const torch::autograd::edge_list to = unpack_edges(inputs);

  torch::autograd::variable_list results;
  {
    const GilReleaseForCall no_gil;
    results =
        torch::autograd::run_backward(from, std::move(grads), keep_graph != 0, create_graph != 0,
                                      to, allow_unused != 0, accumulate != 0);
  }

  if (accumulate != 0) Py_RETURN_NONE;
  return wrap(std::move(results));
  TORCH_PY_CATCH(nullptr)
}

PyObject* queue_callback(PyObject*, PyObject* callback) {
  TORCH_PY_TRY
  if (!PyCallable_Check(callback))
    throw_python(PyExc_TypeError, "queue_callback: expected a callable, got %s",
                 type_name(callback));

  // Shared, because std::function copies its callable; released with the GIL held.
  const std::shared_ptr<PyObject> held(Py_NewRef(callback), [](PyObject* object) {
    if (python_has_ended()) return;
    const GilAcquire gil;
    Py_DECREF(object);
  });

  torch::autograd::Engine::queue_callback([held] {
    const GilAcquire gil;
    Py_DECREF(checked(PyObject_CallNoArgs(held.get())));
  });

  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* in_backward(PyObject*, PyObject*) {
  return PyBool_FromLong(torch::autograd::Engine::in_backward());
}

PyObject* current_pass(PyObject*, PyObject*) {
  return PyLong_FromLongLong(torch::autograd::Engine::current_pass());
}

PyObject* outermost_node(PyObject*, PyObject*) {
  TORCH_PY_TRY
  using torch::autograd::Node;
  const Node* node = torch::autograd::Engine::outermost_node();
  if (node == nullptr) Py_RETURN_NONE;
  return wrap_node(torch::autograd::NodePtr::reclaim_copy(const_cast<Node*>(node)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_checkpoint_valid(PyObject*, PyObject*) {
  return PyBool_FromLong(!torch::autograd::Engine::is_selective());
}

PyObject* increment_version(PyObject*, PyObject* tensor) {
  TORCH_PY_TRY
  if (!is_tensor(tensor))
    throw_python(PyExc_TypeError, "increment_version: expected a tensor, got %s",
                 type_name(tensor));
  TORCH_CHECK(!c10::is_inference(*unpack(tensor).unsafe_impl()),
              "increment_version: inference tensors do not track versions");
  unpack(tensor).unsafe_impl()->bump_version();
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* will_run(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  const torch::autograd::NodePtr node = unpack_node(object);
  if (!node)
    throw_python(PyExc_TypeError, "_will_engine_execute_node: expected a node of a graph, got %s",
                 type_name(object));
  if (!torch::autograd::Engine::in_backward())
    throw_python(PyExc_RuntimeError,
                 "_will_engine_execute_node: can be asked during backward only");
  return PyBool_FromLong(torch::autograd::Engine::will_run(node.get()));
  TORCH_PY_CATCH(nullptr)
}

/// The Python stack at the time when a node was created.
struct PythonStack final : torch::autograd::AnomalyMetadata {
  explicit PythonStack(std::string text) : text(std::move(text)) {}

  void print_stack(const char* name) override {
    const GilAcquire gil;
    warn_user(std::string("Error detected in ") + name +
              ". Traceback of forward call that caused the error:\n" + text);
  }

  std::string text;
};

std::unique_ptr<torch::autograd::AnomalyMetadata> record_stack(const torch::autograd::Node&,
                                                               const torch::autograd::Node*) {
  const GilAcquire gil;
  // Recording may run inside of an operation that has set an exception: keep that.
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);

  std::string text = "No forward pass information available.";
  const ObjectPtr module = ObjectPtr::steal(PyImport_ImportModule("traceback"));
  const ObjectPtr lines = ObjectPtr::steal(
      module ? PyObject_CallMethod(module.get(), "format_stack", nullptr) : nullptr);
  const ObjectPtr empty = ObjectPtr::steal(PyUnicode_FromString(""));
  const ObjectPtr joined =
      ObjectPtr::steal(lines && empty ? PyUnicode_Join(empty.get(), lines.get()) : nullptr);
  if (const char* utf8 = joined ? PyUnicode_AsUTF8(joined.get()) : nullptr) text = utf8;

  PyErr_Restore(type, value, trace);
  return std::make_unique<PythonStack>(std::move(text));
}

PyMethodDef functions[] = {
    {"_run_backward", as_method(run_backward), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"_run_backward_of_edges", run_backward_of_edges, METH_VARARGS,
     "Like _run_backward, with a (node, output_nr) pair in place of each tensor."},
    {"_engine_queue_callback", queue_callback, METH_O,
     "Runs a function when the backward pass in progress is finished."},
    {"_in_backward", in_backward, METH_NOARGS, nullptr},
    {"_increment_version", increment_version, METH_O,
     "Counts a write to the tensor's memory that autograd did not see."},
    {"_current_graph_task_id", current_pass, METH_NOARGS,
     "The number of the backward pass in progress; -1 outside of one."},
    {"_outermost_backward_node", outermost_node, METH_NOARGS,
     "The node that runs in the outermost backward pass in progress; None without one."},
    {"_is_checkpoint_valid", is_checkpoint_valid, METH_NOARGS,
     "False during a backward pass that computes gradients of given inputs only."},
    {"_will_engine_execute_node", will_run, METH_O,
     "Whether the backward pass in progress runs a node."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_autograd_engine(PyObject* module) {
  torch::autograd::AnomalyMode::set_factory(record_stack);
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
