// torch_py._C.FunctionBase: the contexts (ctx) of custom Functions, and apply(), which runs one.
// See Note [Contexts of custom Functions].
#include "torch_py/csrc/bindings/autograd/FunctionType.h"

#include <cstddef>
#include <new>

#if PY_VERSION_HEX >= 0x030C0000
#include <structmember.h>
#endif

#include "torch_py/csrc/autograd/CustomFunction.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/autograd/FunctionNode.h"
#include "torch_py/csrc/bindings/autograd/NodeType.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

using torch::autograd::NodePtr;

/// What forward and backward see as `ctx`. The PyObject* members are owned and may be null.
struct ContextObject {
  PyObject_HEAD
  c10::weak_intrusive_ptr<torch::autograd::Node> node;
  PyObject* needs_input_grad;    // tuple of bools, one per argument of forward
  PyObject* to_save;             // set by save_for_backward; moved to the node after forward
  PyObject* saved_for_forward;   // set by save_for_forward
  PyObject* non_differentiable;  // set by mark_non_differentiable
  PyObject* dirty_tensors;       // set by mark_dirty
  PyObject* metadata;            // dict for the user, made on first use
  char materialize_grads;        // set by set_materialize_grads
};
PyTypeObject FunctionType = {PyVarObject_HEAD_INIT(nullptr, 0)};

ContextObject* as_context(PyObject* self) { return reinterpret_cast<ContextObject*>(self); }

PyObject* context_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  new (&as_context(self)->node) c10::weak_intrusive_ptr<torch::autograd::Node>();
  as_context(self)->materialize_grads = 1;
  return self;
}

int context_traverse(PyObject* self, visitproc visit, void* arg) {
  ContextObject* context = as_context(self);
  Py_VISIT(context->needs_input_grad);
  Py_VISIT(context->to_save);
  Py_VISIT(context->saved_for_forward);
  Py_VISIT(context->non_differentiable);
  Py_VISIT(context->dirty_tensors);
  Py_VISIT(context->metadata);
  return 0;
}

int context_clear(PyObject* self) {
  ContextObject* context = as_context(self);
  Py_CLEAR(context->needs_input_grad);
  Py_CLEAR(context->to_save);
  Py_CLEAR(context->saved_for_forward);
  Py_CLEAR(context->non_differentiable);
  Py_CLEAR(context->dirty_tensors);
  Py_CLEAR(context->metadata);
  return 0;
}

void context_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (const NodePtr node = as_context(self)->node.lock()) node->pyobj.store(nullptr);
  context_clear(self);
  as_context(self)->node.~weak_intrusive_ptr();
  Py_TYPE(self)->tp_free(self);
}

// --- Running forward ---

/// One call of apply().
struct Forward {
  PyObject* cls;
  PyObject* args;    // tuple
  PyObject* kwargs;  // dict or null; tensors in it are not differentiated
  ObjectPtr context;
  c10::intrusive_ptr<FunctionNode> node;
  TensorVector inputs;    // the tensors among args
  bool recorded = false;  // grad mode is on and an input requires grad
};

/// Finds the tensors among the arguments and, if one needs a gradient, links the node to theirs.
void prepare_inputs(Forward& forward) {
  const Py_ssize_t count = PyTuple_GET_SIZE(forward.args);
  const ObjectPtr needs = ObjectPtr::steal(checked(PyTuple_New(count)));

  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* argument = PyTuple_GET_ITEM(forward.args, i);
    const bool is_tensor_argument = is_tensor(argument);
    const bool needs_grad = is_tensor_argument && torch::autograd::requires_grad(unpack(argument));

    forward.node->is_tensor_input.push_back(is_tensor_argument);
    PyTuple_SET_ITEM(needs.get(), i, PyBool_FromLong(needs_grad));
    if (is_tensor_argument) forward.inputs.push_back(unpack(argument));
  }

  forward.recorded = torch::autograd::compute_requires_grad(at::TensorList(forward.inputs));
  if (forward.recorded)
    forward.node->set_next_edges(
        torch::autograd::collect_next_edges(at::TensorList(forward.inputs)));
  Py_XSETREF(as_context(forward.context.get())->needs_input_grad, Py_NewRef(needs.get()));
}

/// Calls `forward`, in one of two styles: with ctx as its first argument, or without it and
/// followed by `setup_context` where the class defines that.
ObjectPtr call_forward(const Forward& forward) {
  const at::NoGradGuard no_grad;
  const ObjectPtr function =
      ObjectPtr::steal(checked(PyObject_GetAttrString(forward.cls, "forward")));
  const ObjectPtr has_setup =
      ObjectPtr::steal(PyObject_GetAttrString(forward.cls, "_has_setup_context"));
  if (!has_setup) PyErr_Clear();

  if (has_setup && has_setup.get() == Py_True) {
    ObjectPtr output =
        ObjectPtr::steal(checked(PyObject_Call(function.get(), forward.args, forward.kwargs)));
    const ObjectPtr setup =
        ObjectPtr::steal(checked(PyObject_GetAttrString(forward.cls, "setup_context")));
    const ObjectPtr ignored = ObjectPtr::steal(checked(PyObject_CallFunctionObjArgs(
        setup.get(), forward.context.get(), forward.args, output.get(), nullptr)));
    return output;
  }

  const Py_ssize_t count = PyTuple_GET_SIZE(forward.args);
  const ObjectPtr args = ObjectPtr::steal(checked(PyTuple_New(count + 1)));
  PyTuple_SET_ITEM(args.get(), 0, Py_NewRef(forward.context.get()));
  for (Py_ssize_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(args.get(), i + 1, Py_NewRef(PyTuple_GET_ITEM(forward.args, i)));
  return ObjectPtr::steal(checked(PyObject_Call(function.get(), args.get(), forward.kwargs)));
}

/// The tensors that a ctx.mark_... call listed; `what` names the call in messages.
TensorVector marked(PyObject* tuple, const char* what) {
  TensorVector tensors;
  if (tuple == nullptr || tuple == Py_None) return tensors;
  if (!PyTuple_Check(tuple))
    throw_python(PyExc_TypeError,
                 "autograd internal error: %s attribute is expected to be a tuple but is %s", what,
                 type_name(tuple));

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple, i);
    if (!is_tensor(item))
      throw_python(PyExc_TypeError, "%s can only accept variables, but argument %zd is of type %s",
                   what, i, type_name(item));
    tensors.push_back(unpack(item));
  }
  return tensors;
}

/// Moves what save_for_backward kept to the node.
void save_tensors(const Forward& forward) {
  ContextObject* context = as_context(forward.context.get());
  const ObjectPtr to_save = ObjectPtr::steal(std::exchange(context->to_save, nullptr));
  if (!forward.recorded || !to_save || to_save.get() == Py_None) return;
  if (!PyTuple_Check(to_save.get()))
    throw_python(PyExc_TypeError, "saved tensors must be a tuple, got %s",
                 type_name(to_save.get()));

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(to_save.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(to_save.get(), i);
    if (item != Py_None && !is_tensor(item)) {
      throw_python(PyExc_TypeError,
                   "save_for_backward can only save variables, but argument %zd is of type %s", i,
                   type_name(item));
    }

    const at::Tensor tensor = item == Py_None ? at::Tensor() : unpack(item);
    const bool is_output =
        tensor.defined() && torch::autograd::grad_fn(tensor) == NodePtr(forward.node);
    forward.node->saved.emplace_back(tensor, is_output);
  }
}

/// Gives the outputs their history; items that are not tensors pass through unchanged.
ObjectPtr finish_outputs(const Forward& forward, const ObjectPtr& output) {
  const bool single = !PyTuple_Check(output.get());
  const Py_ssize_t count = single ? 1 : PyTuple_GET_SIZE(output.get());
  const auto item = [&](Py_ssize_t i) {
    return single ? output.get() : PyTuple_GET_ITEM(output.get(), i);
  };

  TensorVector tensors;
  for (Py_ssize_t i = 0; i < count; ++i)
    tensors.push_back(is_tensor(item(i)) ? unpack(item(i)) : at::Tensor());

  const ContextObject* context = as_context(forward.context.get());
  const TensorVector non_differentiable =
      marked(context->non_differentiable, "mark_non_differentiable");
  const TensorVector dirty = marked(context->dirty_tensors, "mark_dirty");
  const torch::autograd::variable_list wrapped =
      torch::autograd::wrap_outputs({forward.inputs, non_differentiable, dirty}, tensors,
                                    forward.recorded ? NodePtr(forward.node) : NodePtr());

  forward.node->materialize_grads = context->materialize_grads != 0;
  for (const at::Tensor& tensor : wrapped) forward.node->outputs.emplace_back(tensor);

  if (single) {
    return wrapped[0].defined() ? ObjectPtr::steal(wrap(wrapped[0]))
                                : ObjectPtr::borrow(output.get());
  }

  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(count)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    const at::Tensor& tensor = wrapped[static_cast<size_t>(i)];
    PyTuple_SET_ITEM(tuple.get(), i, tensor.defined() ? wrap(tensor) : Py_NewRef(item(i)));
  }
  return tuple;
}

PyObject* function_apply(PyObject* cls, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  Forward forward{cls, args, kwargs, {}, {}, {}};

  // Classes made by the Function metaclass name the class of their contexts.
  const ObjectPtr context_class = ObjectPtr::steal(PyObject_GetAttrString(cls, "_node_class"));
  if (!context_class) PyErr_Clear();
  forward.context =
      ObjectPtr::steal(checked(PyObject_CallNoArgs(context_class ? context_class.get() : cls)));
  if (!PyObject_TypeCheck(forward.context.get(), &FunctionType)) {
    throw_python(PyExc_TypeError, "Function.apply: the context must be a FunctionBase, got %s",
                 type_name(forward.context.get()));
  }

  forward.node = c10::make_intrusive<FunctionNode>(forward.context.get());
  as_context(forward.context.get())->node =
      c10::weak_intrusive_ptr<torch::autograd::Node>(NodePtr(forward.node));
  prepare_inputs(forward);
  const ObjectPtr output = call_forward(forward);
  ObjectPtr result = finish_outputs(forward, output);
  save_tensors(forward);

  return result.release();
  TORCH_PY_CATCH(nullptr)
}

// --- What backward sees ---

PyObject* saved_tensors(PyObject* self, void*) {
  TORCH_PY_TRY
  const NodePtr node = as_context(self)->node.lock();
  const auto* function = dynamic_cast<FunctionNode*>(node.get());
  if (function == nullptr) return PyTuple_New(0);
  const at::AutoGradMode record(true);  // saved outputs show their history in every grad mode

  std::vector<at::Tensor> tensors;
  for (const torch::autograd::SavedVariable& variable : function->saved)
    tensors.push_back(variable.unpack(function));
  return wrap(std::move(tensors));
  TORCH_PY_CATCH(nullptr)
}

PyObject* needs_input_grad(PyObject* self, void*) {
  PyObject* tuple = as_context(self)->needs_input_grad;
  return tuple != nullptr ? Py_NewRef(tuple) : PyTuple_New(0);
}

int set_needs_input_grad(PyObject* self, PyObject* value, void*) {
  Py_XSETREF(as_context(self)->needs_input_grad, Py_XNewRef(value));
  return 0;
}

PyObject* context_metadata(PyObject* self, void*) {
  PyObject*& metadata = as_context(self)->metadata;
  if (metadata == nullptr) metadata = PyDict_New();
  return Py_XNewRef(metadata);
}

PyGetSetDef properties[] = {
    {"saved_tensors", saved_tensors, nullptr,
     "The tensors that save_for_backward kept; raises if one was changed since.", nullptr},
    {"saved_variables", saved_tensors, nullptr, nullptr, nullptr},
    {"needs_input_grad", needs_input_grad, set_needs_input_grad,
     "For each argument of forward, whether its gradient is needed.", nullptr},
    {"next_functions", node_next_functions, nullptr, nullptr, nullptr},
    {"_input_metadata", node_input_metadata, nullptr, nullptr, nullptr},
    {"metadata", context_metadata, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"to_save", T_OBJECT, offsetof(ContextObject, to_save), 0, nullptr},
    {"saved_for_forward", T_OBJECT, offsetof(ContextObject, saved_for_forward), 0, nullptr},
    {"non_differentiable", T_OBJECT, offsetof(ContextObject, non_differentiable), 0, nullptr},
    {"dirty_tensors", T_OBJECT, offsetof(ContextObject, dirty_tensors), 0, nullptr},
    {"materialize_grads", T_BOOL, offsetof(ContextObject, materialize_grads), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef apply_method = {
    "apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function_apply)),
    METH_CLASS | METH_VARARGS | METH_KEYWORDS,
    "apply(*args, **kwargs): runs forward and records it."};

}  // namespace

NodePtr function_node(PyObject* object) {
  return PyObject_TypeCheck(object, &FunctionType) ? as_context(object)->node.lock() : NodePtr();
}

void init_function(PyObject* module) {
  FunctionType.tp_name = "torch_py._C.FunctionBase";
  FunctionType.tp_basicsize = sizeof(ContextObject);
  FunctionType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  FunctionType.tp_new = context_new;
  FunctionType.tp_dealloc = context_dealloc;
  FunctionType.tp_traverse = context_traverse;
  FunctionType.tp_clear = context_clear;
  FunctionType.tp_methods = node_methods;
  FunctionType.tp_members = members;
  FunctionType.tp_getset = properties;
  add_type(module, FunctionType);

  const ObjectPtr apply =
      ObjectPtr::steal(checked(PyDescr_NewClassMethod(&FunctionType, &apply_method)));
  check_status(PyDict_SetItemString(FunctionType.tp_dict, "apply", apply.get()));
}

}  // namespace torch::python
