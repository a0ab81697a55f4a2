// grad_fn objects: the Python face of nodes of the graph.
#include "torch_py/csrc/bindings/autograd/NodeType.h"

#include <memory>
#include <new>
#include <string_view>

#include "torch_py/csrc/autograd/AccumulateGrad.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/autograd/FunctionType.h"
#include "torch_py/csrc/bindings/autograd/PythonHooks.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

using torch::autograd::NodePtr;
using torch::autograd::variable_list;

/// Owns its node. Node::pyobj points back, so that a node has at most one object at a time.
struct NodeObject {
  PyObject_HEAD
  NodePtr node;
};
PyTypeObject NodeType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyObject* node_classes = nullptr;  // name -> class

NodeObject* as_node(PyObject* self) { return reinterpret_cast<NodeObject*>(self); }

/// The class of nodes with this name (AddBackward0), made on first use.
PyTypeObject* class_of(const char* name) {
  PyObject* known = PyDict_GetItemString(node_classes, name);
  if (known != nullptr) return reinterpret_cast<PyTypeObject*>(known);

  const ObjectPtr made = ObjectPtr::steal(checked(
      PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(O){s:(),s:s}", name,
                            &NodeType, "__slots__", "__module__", "torch_py.autograd.graph")));

  check_status(PyDict_SetItemString(node_classes, name, made.get()));
  return reinterpret_cast<PyTypeObject*>(made.get());
}

void node_dealloc(PyObject* self) {
  NodeObject* object = as_node(self);
  PyObject_GC_UnTrack(self);
  if (object->node) object->node->pyobj.store(nullptr);
  object->node.~intrusive_ptr();
  Py_TYPE(self)->tp_free(self);
}

/// Classes made in Python are garbage collected, so their base must be. It refers to no object.
int node_traverse(PyObject*, visitproc, void*) { return 0; }

/// The user's dict of a node. It lives in the node, as a hook that does nothing, because the node's
/// Python object may come and go.
struct Metadata final : torch::autograd::FunctionPreHook {
  Metadata() : dict(checked(PyDict_New())) {}
  ~Metadata() override {
    if (python_has_ended()) return;
    const GilAcquire gil;
    Py_CLEAR(dict);
  }
  variable_list call(const variable_list&) override { return {}; }

  PyObject* dict;
};

NodePtr live_node(PyObject* self) {
  NodePtr node = unpack_node(self);
  TORCH_CHECK(static_cast<bool>(node), "the graph that this node was part of has been freed");
  return node;
}

PyObject* node_name(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return PyUnicode_FromString(live_node(self)->name());
  TORCH_PY_CATCH(nullptr)
}

PyObject* node_register_hook(PyObject* self, PyObject* hook) {
  TORCH_PY_TRY
  return add_node_hook(*live_node(self), hook);
  TORCH_PY_CATCH(nullptr)
}

PyObject* node_register_prehook(PyObject* self, PyObject* hook) {
  TORCH_PY_TRY
  return add_node_prehook(*live_node(self), hook);
  TORCH_PY_CATCH(nullptr)
}

PyObject* node_sequence_nr(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  return PyLong_FromUnsignedLongLong(live_node(self)->sequence_nr());
  TORCH_PY_CATCH(nullptr)
}

/// Runs this step on gradients: grad_fn(grad).
PyObject* node_call(PyObject* self, PyObject* args, PyObject*) {
  TORCH_PY_TRY
  const NodePtr node = live_node(self);
  variable_list grads;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* item = PyTuple_GET_ITEM(args, i);
    if (item != Py_None && !is_tensor(item))
      throw_python(PyExc_TypeError, "expected Tensor or None, got %s", type_name(item));
    grads.push_back(item == Py_None ? at::Tensor() : unpack(item));
  }

  TORCH_CHECK(grads.size() == node->num_inputs(), node->name(), " expected ", node->num_inputs(),
              " arguments, got ", grads.size());

  variable_list results;
  {
    const GilRelease no_gil;
    results = node->apply(std::move(grads));
  }

  return results.size() == 1 ? wrap(std::move(results[0])) : wrap(std::move(results));
  TORCH_PY_CATCH(nullptr)
}

/// The leaf of an AccumulateGrad node; AttributeError for other nodes.
PyObject* node_variable(PyObject* self, void*) {
  TORCH_PY_TRY
  const NodePtr node = live_node(self);
  const auto* accumulate = dynamic_cast<torch::autograd::AccumulateGrad*>(node.get());
  if (accumulate == nullptr)
    throw_python(PyExc_AttributeError, "'%s' object has no attribute 'variable'", node->name());
  return wrap(accumulate->variable());
  TORCH_PY_CATCH(nullptr)
}

/// The value behind grad_fn._saved_NAME, or null if the node saved nothing of that name.
PyObject* saved_attribute(const torch::autograd::Node& node, std::string_view name) {
  for (const char* known : node.saved_names()) {
    if (name != known) continue;
    const at::AutoGradMode record(true);  // saved outputs show their history in every grad mode

    return std::visit(
        [](auto value) -> PyObject* {
          using T = decltype(value);
          if constexpr (std::is_same_v<T, std::monostate>) Py_RETURN_NONE;
          else if constexpr (std::is_same_v<T, at::DimVector>) return wrap_size(value);
          else if constexpr (std::is_same_v<T, std::string>)
            return checked(PyUnicode_FromString(value.c_str()));
          else return wrap(std::move(value));
        },
        node.saved_value(name).value);
  }
  return nullptr;
}

constexpr std::string_view kSavedPrefix = "_saved_";

/// Attributes as usual, then saved values; the original AttributeError if there is neither.
PyObject* node_attribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;

  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr || !std::string_view(text).starts_with(kSavedPrefix)) return nullptr;

  PyObject* type = nullptr;
  PyObject* error = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);

  TORCH_PY_TRY
  if (const NodePtr node = unpack_node(self))
    found = saved_attribute(*node, std::string_view(text).substr(kSavedPrefix.size()));

  if (found == nullptr) {
    PyErr_Restore(type, error, trace);
    return nullptr;
  }

  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(trace);
  return found;
  TORCH_PY_CATCH(nullptr)
}

/// __dir__: the class's attributes and the saved values.
PyObject* node_dir(PyObject* self, PyObject*) {
  TORCH_PY_TRY
  const ObjectPtr names =
      ObjectPtr::steal(checked(PyObject_Dir(reinterpret_cast<PyObject*>(Py_TYPE(self)))));

  for (const char* name : live_node(self)->saved_names()) {
    const ObjectPtr attribute = ObjectPtr::steal(checked(PyUnicode_FromFormat("_saved_%s", name)));
    check_status(PyList_Append(names.get(), attribute.get()));
  }

  return Py_NewRef(names.get());
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef own_methods[] = {{"__dir__", node_dir, METH_NOARGS, nullptr},
                             {nullptr, nullptr, 0, nullptr}};

PyObject* node_repr(PyObject* self) {
  const NodePtr& node = as_node(self)->node;
  return PyUnicode_FromFormat("<%s object at %p>", node ? node->name() : "Node",
                              static_cast<void*>(self));
}

PyGetSetDef properties[] = {
    {"next_functions", node_next_functions, nullptr,
     "The (node, input number) pairs that the gradients of the inputs go to.", nullptr},
    {"metadata", node_metadata, nullptr, "A dict for the user.", nullptr},
    {"_input_metadata", node_input_metadata, nullptr,
     "Shape, dtype and device of each gradient that enters.", nullptr},
    {"variable", node_variable, nullptr, "The leaf whose .grad AccumulateGrad adds to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyMethodDef node_methods[] = {{"name", node_name, METH_NOARGS, "name() -> str"},
                              {"register_hook", node_register_hook, METH_O,
                               "register_hook(hook(grad_inputs, grad_outputs)) -> handle"},
                              {"register_prehook", node_register_prehook, METH_O,
                               "register_prehook(hook(grad_outputs)) -> handle"},
                              {"_sequence_nr", node_sequence_nr, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

PyObject* node_next_functions(PyObject* self, void*) {
  TORCH_PY_TRY
  const NodePtr node = live_node(self);
  ObjectPtr tuple =
      ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(node->num_outputs()))));

  for (size_t i = 0; i < node->num_outputs(); ++i) {
    const torch::autograd::Edge& edge = node->next_edge(i);

    const ObjectPtr function = ObjectPtr::steal(wrap_node(edge.function));
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     checked(Py_BuildValue("(OI)", function.get(), edge.input_nr)));
  }

  return tuple.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* node_input_metadata(PyObject* self, void*) {
  TORCH_PY_TRY
  const NodePtr node = live_node(self);
  const ObjectPtr module =
      ObjectPtr::steal(checked(PyImport_ImportModule("torch_py.autograd.graph")));
  const ObjectPtr type =
      ObjectPtr::steal(checked(PyObject_GetAttrString(module.get(), "InputMetadata")));
  ObjectPtr tuple =
      ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(node->num_inputs()))));

  for (size_t i = 0; i < node->num_inputs(); ++i) {
    const torch::autograd::InputMetadata& input = node->input_metadata(i);
    PyObject* item = Py_NewRef(Py_None);
    if (input.is_defined()) {
      Py_DECREF(item);
      const ObjectPtr sizes = ObjectPtr::steal(wrap_size(input.sizes));
      const ObjectPtr dtype = ObjectPtr::steal(wrap(input.dtype));
      const ObjectPtr device = ObjectPtr::steal(wrap(input.device));
      item = checked(PyObject_CallFunctionObjArgs(type.get(), sizes.get(), dtype.get(),
                                                  device.get(), nullptr));
    }
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
  }

  return tuple.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* node_metadata(PyObject* self, void*) {
  TORCH_PY_TRY
  const NodePtr node = live_node(self);
  auto& hooks = node->mutable_hooks().pre_hooks;
  for (const auto& hook : hooks) {
    if (auto* known = dynamic_cast<Metadata*>(hook.get())) return Py_NewRef(known->dict);
  }

  const auto made = std::make_shared<Metadata>();
  hooks.push_back(made);
  return Py_NewRef(made->dict);
  TORCH_PY_CATCH(nullptr)
}

PyObject* wrap_node(const NodePtr& node) {
  if (!node) Py_RETURN_NONE;
  if (PyObject* known = node->pyobj.load()) return Py_NewRef(known);

  PyTypeObject* type = class_of(node->name());
  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&as_node(self)->node) NodePtr(node);
  node->pyobj.store(self);
  return self;
}

NodePtr unpack_node(PyObject* object) {
  if (PyObject_TypeCheck(object, &NodeType)) return as_node(object)->node;
  return function_node(object);
}

void init_nodes(PyObject* module) {
  node_classes = checked(PyDict_New());

  NodeType.tp_name = "torch_py.autograd.graph.Node";
  NodeType.tp_basicsize = sizeof(NodeObject);
  NodeType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                      Py_TPFLAGS_DISALLOW_INSTANTIATION;
  NodeType.tp_dealloc = node_dealloc;
  NodeType.tp_traverse = node_traverse;
  NodeType.tp_call = node_call;
  NodeType.tp_repr = node_repr;
  NodeType.tp_methods = node_methods;
  NodeType.tp_getattro = node_attribute;
  NodeType.tp_getset = properties;
  add_type(module, NodeType);

  const ObjectPtr dir = ObjectPtr::steal(checked(PyDescr_NewMethod(&NodeType, own_methods)));
  check_status(PyDict_SetItemString(NodeType.tp_dict, "__dir__", dir.get()));
}

}  // namespace torch::python
