// Hooks of tensors and nodes that call Python functions, and the handles that remove them.
#include "torch_py/csrc/bindings/autograd/PythonHooks.h"

#include <memory>
#include <vector>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

using torch::autograd::variable_list;

/// The callable of a hook, shared by the hook and the handle that removes it. Touched only with the
/// GIL.
struct Callable {
  explicit Callable(PyObject* function) : function(Py_NewRef(function)) {}
  ~Callable() {
    if (function == nullptr || python_has_ended()) return;
    const GilAcquire gil;
    Py_CLEAR(function);
  }
  Callable(const Callable&) = delete;
  Callable& operator=(const Callable&) = delete;

  PyObject* function;  // null once the hook is removed
};
using CallablePtr = std::shared_ptr<Callable>;

/// The function's name for messages.
std::string name_of(PyObject* function) {
  const ObjectPtr name = ObjectPtr::steal(PyObject_GetAttrString(function, "__name__"));
  const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return text != nullptr ? text : Py_TYPE(function)->tp_name;
}

/// A gradient that a hook returns must have the dtype, device and sizes of the one it replaces.
at::Tensor checked_result(PyObject* function, PyObject* result, const at::Tensor& original) {
  if (result == Py_None) return at::Tensor();
  if (!is_tensor(result))
    throw_python(PyExc_TypeError, "expected Tensor, but hook returned '%s'", type_name(result));

  const at::Tensor& value = unpack(result);
  if (!original.defined()) return value;
  TORCH_CHECK(value.scalar_type() == original.scalar_type() && value.device() == original.device(),
              "hook '", name_of(function), "' has changed the type of value (was ",
              original.scalar_type(), " on ", original.device(), " got ", value.scalar_type(),
              " on ", value.device(), ")");
  TORCH_CHECK(value.sizes() == original.sizes(), "hook '", name_of(function),
              "' has changed the size of value");

  return value;
}

ObjectPtr wrap_list(const variable_list& tensors) {
  return ObjectPtr::steal(wrap(std::vector<at::Tensor>(tensors)));
}

/// The gradients that a hook returned, as many as there were; empty for None (unchanged).
variable_list checked_results(PyObject* function, PyObject* result,
                              const variable_list& originals) {
  if (result == Py_None) return {};

  const bool single = !PyTuple_Check(result) && !PyList_Check(result);
  const Py_ssize_t count = single ? 1 : sequence_length(result);
  if (count != static_cast<Py_ssize_t>(originals.size())) {
    throw_python(PyExc_RuntimeError,
                 "hook '%s' has returned an incorrect number of values (got %zd, but expected %zu)",
                 name_of(function).c_str(), count, originals.size());
  }

  variable_list values;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const ObjectPtr item = ObjectPtr::borrow(single ? result : sequence_item(result, i));
    values.push_back(checked_result(function, item.get(), originals[static_cast<size_t>(i)]));
  }
  return values;
}

struct PythonTensorHook final : torch::autograd::TensorHook {
  explicit PythonTensorHook(CallablePtr callable) : callable(std::move(callable)) {}

  at::Tensor call(const at::Tensor& grad) override {
    const GilAcquire gil;
    const ObjectPtr function = ObjectPtr::borrow(callable->function);
    if (!function) return at::Tensor();
    const ObjectPtr argument = ObjectPtr::steal(wrap(grad));
    const ObjectPtr result =
        ObjectPtr::steal(checked(PyObject_CallOneArg(function.get(), argument.get())));
    return checked_result(function.get(), result.get(), grad);
  }

  CallablePtr callable;
};

struct PythonPostAccumulateHook final : torch::autograd::PostAccumulateGradHook {
  explicit PythonPostAccumulateHook(CallablePtr callable) : callable(std::move(callable)) {}

  void call(const at::Tensor& variable) override {
    const GilAcquire gil;
    const ObjectPtr function = ObjectPtr::borrow(callable->function);
    if (!function) return;
    const ObjectPtr argument = ObjectPtr::steal(wrap(variable));
    const ObjectPtr result =
        ObjectPtr::steal(checked(PyObject_CallOneArg(function.get(), argument.get())));
    if (result.get() != Py_None)
      throw_python(PyExc_RuntimeError, "Tensor post accumulate grad hooks should return None.");
  }

  CallablePtr callable;
};

struct PythonPreHook final : torch::autograd::FunctionPreHook {
  explicit PythonPreHook(CallablePtr callable) : callable(std::move(callable)) {}

  variable_list call(const variable_list& grads) override {
    const GilAcquire gil;
    const ObjectPtr function = ObjectPtr::borrow(callable->function);
    if (!function) return {};
    const ObjectPtr argument = wrap_list(grads);
    const ObjectPtr result =
        ObjectPtr::steal(checked(PyObject_CallOneArg(function.get(), argument.get())));
    return checked_results(function.get(), result.get(), grads);
  }

  CallablePtr callable;
};

struct PythonPostHook final : torch::autograd::FunctionPostHook {
  explicit PythonPostHook(CallablePtr callable) : callable(std::move(callable)) {}

  variable_list call(const variable_list& outputs, const variable_list& inputs) override {
    const GilAcquire gil;
    const ObjectPtr function = ObjectPtr::borrow(callable->function);
    if (!function) return {};
    const ObjectPtr grad_inputs = wrap_list(outputs);
    const ObjectPtr grad_outputs = wrap_list(inputs);
    const ObjectPtr result = ObjectPtr::steal(checked(PyObject_CallFunctionObjArgs(
        function.get(), grad_inputs.get(), grad_outputs.get(), nullptr)));
    return checked_results(function.get(), result.get(), outputs);
  }

  CallablePtr callable;
};

// --- The handle that removes a hook ---

struct HandleObject {
  PyObject_HEAD
  std::weak_ptr<Callable> callable;
};
PyTypeObject HandleType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* make_handle(const CallablePtr& callable) {
  PyObject* self = checked(HandleType.tp_alloc(&HandleType, 0));
  new (&reinterpret_cast<HandleObject*>(self)->callable) std::weak_ptr<Callable>(callable);
  return self;
}

void handle_dealloc(PyObject* self) {
  reinterpret_cast<HandleObject*>(self)->callable.~weak_ptr();
  Py_TYPE(self)->tp_free(self);
}

PyObject* handle_remove(PyObject* self, PyObject*) {
  if (const CallablePtr callable = reinterpret_cast<HandleObject*>(self)->callable.lock())
    Py_CLEAR(callable->function);
  Py_RETURN_NONE;
}

PyObject* handle_enter(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* handle_exit(PyObject* self, PyObject*) { return handle_remove(self, nullptr); }

PyMethodDef handle_methods[] = {
    {"remove", handle_remove, METH_NOARGS, "remove(): the hook is not called any more."},
    {"__enter__", handle_enter, METH_NOARGS, nullptr},
    {"__exit__", handle_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

CallablePtr make_callable(PyObject* function) {
  if (!PyCallable_Check(function))
    throw_python(PyExc_TypeError, "expected a callable hook, got %s", type_name(function));
  return std::make_shared<Callable>(function);
}

template <class Use>
void for_each_leaf_hook(const at::Tensor& tensor, Use use) {
  const torch::autograd::AutogradMeta* meta = torch::autograd::autograd_meta(tensor);
  if (meta == nullptr || meta->leaf_hooks == nullptr) return;
  for (const auto& hook : meta->leaf_hooks->tensor_hooks) {
    if (auto* python = dynamic_cast<PythonTensorHook*>(hook.get())) use(*python->callable);
  }
  for (const auto& hook : meta->leaf_hooks->post_accumulate) {
    if (auto* python = dynamic_cast<PythonPostAccumulateHook*>(hook.get())) use(*python->callable);
  }
}

/// Drops hooks that were removed: programs that register and remove one in every step would
/// otherwise have ever longer lists.
template <class Hook, class Entries, class Member>
void forget_removed(Entries& entries, Member hook_of) {
  // Only before the list grows, so that the work per registration is constant.
  if (entries.size() < entries.capacity()) return;

  std::erase_if(entries, [&](const auto& entry) {
    auto* python = dynamic_cast<Hook*>(hook_of(entry).get());
    return python != nullptr && python->callable->function == nullptr;
  });
}

void forget_removed_hooks(const at::Tensor& tensor) {
  const auto itself = [](const auto& hook) -> const auto& { return hook; };
  const auto of_tensor = [](const auto& entry) -> const auto& { return entry.hook; };

  torch::autograd::AutogradMeta& meta = torch::autograd::materialize_autograd_meta(tensor);
  const torch::autograd::NodePtr node = meta.grad_fn ? meta.grad_fn : meta.grad_accumulator.lock();

  if (meta.leaf_hooks) {
    forget_removed<PythonTensorHook>(meta.leaf_hooks->tensor_hooks, itself);
    forget_removed<PythonPostAccumulateHook>(meta.leaf_hooks->post_accumulate, itself);
  }

  if (node && node->hooks() != nullptr)
    forget_removed<PythonTensorHook>(node->mutable_hooks().tensor_hooks, of_tensor);
}

}  // namespace

PyObject* add_tensor_hook(const at::Tensor& tensor, PyObject* function) {
  TORCH_CHECK(tensor.requires_grad(),
              "cannot register a hook on a tensor that doesn't require gradient");
  const CallablePtr callable = make_callable(function);
  forget_removed_hooks(tensor);
  torch::autograd::add_tensor_hook(tensor, std::make_shared<PythonTensorHook>(callable));
  return make_handle(callable);
}

PyObject* add_post_accumulate_hook(const at::Tensor& tensor, PyObject* function) {
  TORCH_CHECK(tensor.requires_grad(),
              "cannot register a hook on a tensor that doesn't require gradient");
  TORCH_CHECK(torch::autograd::is_leaf(tensor),
              "post accumulate grad hooks cannot be registered on non-leaf tensors");
  const CallablePtr callable = make_callable(function);
  forget_removed_hooks(tensor);
  torch::autograd::add_post_accumulate_grad_hook(
      tensor, std::make_shared<PythonPostAccumulateHook>(callable));
  return make_handle(callable);
}

PyObject* add_node_hook(torch::autograd::Node& node, PyObject* function) {
  const CallablePtr callable = make_callable(function);
  forget_removed<PythonPostHook>(node.mutable_hooks().post_hooks,
                                 [](const auto& hook) -> const auto& { return hook; });
  node.add_post_hook(std::make_shared<PythonPostHook>(callable));
  return make_handle(callable);
}

PyObject* add_node_prehook(torch::autograd::Node& node, PyObject* function) {
  const CallablePtr callable = make_callable(function);
  forget_removed<PythonPreHook>(node.mutable_hooks().pre_hooks,
                                [](const auto& hook) -> const auto& { return hook; });
  node.add_pre_hook(std::make_shared<PythonPreHook>(callable));
  return make_handle(callable);
}

int visit_tensor_hooks(const at::Tensor& tensor, visitproc visit, void* arg) {
  int result = 0;
  for_each_leaf_hook(tensor, [&](const Callable& callable) {
    if (result == 0 && callable.function != nullptr) result = visit(callable.function, arg);
  });
  return result;
}

void clear_tensor_hooks(const at::Tensor& tensor) {
  for_each_leaf_hook(tensor, [](Callable& callable) { Py_CLEAR(callable.function); });
}

void init_hooks(PyObject* module) {
  HandleType.tp_name = "torch_py._C.RemovableHandle";
  HandleType.tp_basicsize = sizeof(HandleObject);
  HandleType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  HandleType.tp_dealloc = handle_dealloc;
  HandleType.tp_methods = handle_methods;
  add_type(module, HandleType);
}

}  // namespace torch::python
