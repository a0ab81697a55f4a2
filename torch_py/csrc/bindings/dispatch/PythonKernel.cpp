// Kernels in Python: of single operators, and the one that hands calls to __torch_dispatch__.
#include "torch_py/csrc/bindings/dispatch/PythonKernel.h"

#include <string>
#include <string_view>
#include <utility>

#include "aten/core/Value.h"
#include "aten/dispatch/DefaultValue.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/lift_fresh.h"
#include "c10/util/SmallVector.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/dispatch/DispatchModes.h"
#include "torch_py/csrc/bindings/dispatch/OperatorType.h"
#include "torch_py/csrc/bindings/dispatch/Values.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python {

namespace {

PyObject* attribute_name = nullptr;     // interned "__torch_dispatch__"
PyObject* disabled_dispatch = nullptr;  // torch_py._C._disabled_torch_dispatch_impl

// An attribute of TypeErrors that handlers raised.
constexpr const char* kErrorOfHandler = "_raised_by_a_handler_of_calls";

/// The answer of a handler; throws the exception that it raised.
ObjectPtr checked_answer(PyObject* answer) {
  if (answer != nullptr) return ObjectPtr::steal(answer);

  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyObject* type = nullptr;
    PyObject* error = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (PyObject_SetAttrString(error, kErrorOfHandler, Py_True) != 0) PyErr_Clear();
    PyErr_Restore(type, error, trace);
  }
  throw PythonError();
}

/// What becomes of arguments that have their default.
enum class Defaults : uint8_t { Passed, LeftOut };

/// What functions for an operator get: those for operators of torch_py may be written for calls
/// without the arguments that most calls leave out.
Defaults defaults_for(const c10::OperatorEntry& entry) {
  return entry.is_declared_at_run_time() ? Defaults::Passed : Defaults::LeftOut;
}

/// The arguments of a boxed call as Python passes them; `reserved` places in front stay free. Of
/// those with a default, trailing positional ones and keywords may be left out.
class PythonArguments {
 public:
  PythonArguments(const c10::OperatorEntry& entry, const at::Stack& stack, size_t reserved,
                  Defaults defaults) {
    const std::vector<c10::SchemaValue>& arguments = entry.schema().arguments;
    const auto is_left_out = [&](size_t i) {
      return defaults == Defaults::LeftOut && at::is_default(stack[i], arguments[i]);
    };
    size_t positional = 0;
    while (positional < arguments.size() && !arguments[positional].is_keyword_only) ++positional;

    size_t given = positional;
    while (given > 0 && is_left_out(given - 1)) --given;

    args_ = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(given + reserved))));
    for (size_t i = 0; i < given; ++i) {
      PyTuple_SET_ITEM(args_.get(), static_cast<Py_ssize_t>(i + reserved), wrap_value(stack[i]));
    }

    kwargs_ = ObjectPtr::steal(checked(PyDict_New()));
    for (size_t i = positional; i < arguments.size(); ++i) {
      if (is_left_out(i)) continue;
      const ObjectPtr value = ObjectPtr::steal(wrap_value(stack[i]));
      check_status(PyDict_SetItemString(kwargs_.get(), arguments[i].name.c_str(), value.get()));
    }
  }

  PyObject* args() const { return args_.get(); }
  PyObject* kwargs() const { return kwargs_.get(); }

 private:
  ObjectPtr args_;
  ObjectPtr kwargs_;
};

/// A Python function that serves one key of one operator.
class PythonKernel final : public c10::BoxedKernel {
 public:
  PythonKernel(PyObject* function, bool takes_keys)
      : function_(Py_NewRef(function)), takes_keys_(takes_keys) {}
  ~PythonKernel() override {
    if (python_has_ended()) return;
    const GilAcquire gil;
    Py_CLEAR(function_);
  }

  void call(const c10::OperatorEntry& entry, c10::DispatchKeySet keys,
            at::Stack& stack) const override {
    const GilAcquire gil;
    const PythonArguments arguments(entry, stack, takes_keys_ ? 1 : 0, defaults_for(entry));
    if (takes_keys_)
      PyTuple_SET_ITEM(arguments.args(), 0, checked(PyLong_FromUnsignedLongLong(keys.bits())));

    const ObjectPtr results =
        checked_answer(PyObject_Call(function_, arguments.args(), arguments.kwargs()));
    push_results(stack, entry, results.get());
  }

 private:
  PyObject* function_;
  bool takes_keys_;
};

/// A Python function that handles the calls of many operators.
class OperatorHandler final : public c10::BoxedKernel {
 public:
  explicit OperatorHandler(PyObject* function) : function_(Py_NewRef(function)) {}

  void call(const c10::OperatorEntry& entry, c10::DispatchKeySet, at::Stack& stack) const override {
    const GilAcquire gil;
    const PythonArguments arguments(entry, stack, 0, defaults_for(entry));
    const ObjectPtr op = ObjectPtr::steal(operator_object(const_cast<c10::OperatorEntry&>(entry)));
    const ObjectPtr results = checked_answer(PyObject_CallFunctionObjArgs(
        function_, op.get(), arguments.args(), arguments.kwargs(), nullptr));
    push_results(stack, entry, results.get());
  }

 private:
  PyObject* function_;  // kept for ever
};

using Handlers = c10::SmallVector<PyObject*, 4>;

/// The tensors of a call whose classes handle calls, once per class, subclasses before their bases.
class OverloadedTensors {
 public:
  explicit OverloadedTensors(const at::Stack& stack) {
    for (const at::Value& value : stack) {
      if (value.is<at::Tensor>()) add(value.get<at::Tensor>());
      if (!value.is<at::Value::Tensors>()) continue;
      for (const at::Tensor& tensor : value.get<at::Value::Tensors>()) add(tensor);
    }
  }

  const Handlers& tensors() const { return tensors_; }

  ObjectPtr types() const {
    ObjectPtr tuple =
        ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(tensors_.size()))));
    for (size_t i = 0; i < tensors_.size(); ++i) {
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(tensors_[i]))));
    }
    return tuple;
  }

 private:
  void add(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.key_set().has(c10::DispatchKey::Python)) return;
    // The stack holds the tensor, and so its object.
    PyObject* object = tensor.unsafe_impl()->pyobj.load(std::memory_order_relaxed);
    if (object == nullptr || !has_torch_dispatch(Py_TYPE(object))) return;

    size_t position = tensors_.size();
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (Py_TYPE(tensors_[i]) == Py_TYPE(object)) return;
      if (position == tensors_.size() && PyType_IsSubtype(Py_TYPE(object), Py_TYPE(tensors_[i])))
        position = i;
    }
    tensors_.insert(tensors_.begin() + position, object);
  }

  Handlers tensors_;  // borrowed
};

/// Arguments that an operator writes to, or whose memory its results share. A handler answers with
/// tensors that stand for others, and cannot say so itself: they become views, and count changes,
/// as tensors with memory do.
class AliasedArguments {
 public:
  AliasedArguments(const c10::OperatorEntry& entry, const at::Stack& stack) : entry_(entry) {
    const std::vector<c10::SchemaValue>& arguments = entry.schema().arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].alias.empty()) continue;
      if (stack[i].is<at::Tensor>()) add(stack[i].get<at::Tensor>(), arguments[i].is_written);
      if (!stack[i].is<at::Value::Tensors>()) continue;
      for (const at::Tensor& tensor : stack[i].get<at::Value::Tensors>())
        add(tensor, arguments[i].is_written);
    }
  }

  void note(const at::Stack& results) const {
    for (const at::Tensor& tensor : written_) tensor.unsafe_impl()->bump_version();
    if (!viewed_.defined()) return;

    for (const at::Value& result : results) {
      if (result.is<at::Tensor>()) note_view(result.get<at::Tensor>());
      if (!result.is<at::Value::Tensors>()) continue;
      for (const at::Tensor& tensor : result.get<at::Value::Tensors>()) {
        note_view(tensor, /*is_one_of_several=*/true);
      }
    }
  }

 private:
  void add(const at::Tensor& tensor, bool is_written) {
    if (!tensor.defined() || tensor.storage()) return;
    if (is_written) {
      written_.push_back(tensor);
    } else if (!viewed_.defined()) {
      viewed_ = tensor;
    }
  }

  void note_view(const at::Tensor& result, bool is_one_of_several = false) const {
    const bool stands_for_others = result.defined() && !result.storage();
    if (!stands_for_others || result.is_same(viewed_) || result.is_view()) return;
    if (std::string_view(entry_.facts().structure) == "view") {
      set_view(result.impl());
      if (is_one_of_several && result.unsafe_impl()->view_origin() == c10::ViewOrigin::Ordinary)
        result.unsafe_impl()->set_view_origin(c10::ViewOrigin::MultiOutput);
    } else {
      result.unsafe_impl()->share_version_with(*viewed_.unsafe_impl());
    }
  }

  /// As kernels of views do it, which are called with the state of the caller.
  void set_view(const c10::intrusive_ptr<c10::TensorImpl>& view) const {
    c10::LocalState& state = c10::local_state();
    const int depth = std::exchange(state.below_autograd, depth_);
    at::native::as_view_of(viewed_, view);
    state.below_autograd = depth;
  }

  const int depth_ = c10::local_state().below_autograd;
  const c10::OperatorEntry& entry_;
  c10::SmallVector<at::Tensor, 2> written_;
  at::Tensor viewed_;  // undefined if results do not share memory with an argument
};

/// "aten.add.Tensor"
std::string dotted_name(const c10::OperatorEntry& entry) {
  std::string name = entry.qualified_name();
  return name.replace(name.find("::"), 2, ".");
}

/// The fallback of the Python key: hands a call to the mode entered last, or to the classes of the
/// tensors; whatever none of them handles goes on to the backend.
class DispatchToPython final : public c10::BoxedKernel {
 public:
  void call(const c10::OperatorEntry& entry, c10::DispatchKeySet keys,
            at::Stack& stack) const override {
    const c10::DispatchKeySet rest = keys - c10::DispatchKey::Python;
    if (is_of_numbers(stack)) {
      compute_numbers(entry, rest, stack);
    } else if (!handled(entry, stack)) {
      entry.redispatch_boxed(rest, stack);
    }
  }

 private:
  /// Whether all tensors of a call are numbers of the program, which nobody sees as tensors.
  static bool is_of_numbers(const at::Stack& stack) {
    bool has_numbers = false;
    for (const at::Value& value : stack) {
      if (value.is<at::Value::Tensors>()) return false;
      if (!value.is<at::Tensor>()) continue;
      if (!value.get<at::Tensor>().is_wrapped_number()) return false;
      has_numbers = true;
    }
    return has_numbers;
  }

  /// Their results are tensors that modes have to know, if they know all.
  static void compute_numbers(const c10::OperatorEntry& entry, c10::DispatchKeySet keys,
                              at::Stack& stack) {
    {
      const c10::ExcludeDispatchKeyGuard unseen(c10::DispatchKey::Python);
      entry.redispatch_boxed(keys, stack);
    }
    if (!mode_sees_allocations()) return;

    for (at::Value& value : stack) {
      if (value.is<at::Tensor>()) value = at::lift_fresh(value.get<at::Tensor>());
    }
  }

  static bool handled(const c10::OperatorEntry& entry, at::Stack& stack) {
    const GilAcquire gil;
    const OverloadedTensors overloaded(stack);
    if (!in_dispatch_mode() && overloaded.tensors().empty()) return false;

    const AliasedArguments aliased(entry, stack);
    // Autograd has done its part, or there is nothing to record.
    const c10::AutoDispatchBelowAutograd below;
    const PythonArguments arguments(entry, stack, 0, Defaults::LeftOut);
    const ObjectPtr types = overloaded.types();
    const ObjectPtr function =
        ObjectPtr::steal(operator_object(const_cast<c10::OperatorEntry&>(entry)));

    const auto is_answer = [&](PyObject* handler) {
      const ObjectPtr method = ObjectPtr::steal(checked(PyObject_GetAttr(handler, attribute_name)));
      const ObjectPtr result = checked_answer(
          PyObject_CallFunctionObjArgs(method.get(), function.get(), types.get(), arguments.args(),
                                       arguments.kwargs(), nullptr));
      if (result.get() == Py_NotImplemented) return false;
      push_results(stack, entry, result.get());
      aliased.note(stack);
      return true;
    };

    if (in_dispatch_mode()) {
      const StashedMode mode;
      if (is_answer(mode.get())) return true;
    }
    for (PyObject* tensor : overloaded.tensors()) {
      if (is_answer(reinterpret_cast<PyObject*>(Py_TYPE(tensor)))) return true;
    }
    throw_declined(entry, overloaded.tensors());
  }

  [[noreturn]] static void throw_declined(const c10::OperatorEntry& entry,
                                          const Handlers& tensors) {
    std::string types;
    for (PyObject* tensor : tensors)
      types += std::string("\n  - tensor subclass ") + Py_TYPE(tensor)->tp_name;
    throw_python(PyExc_TypeError,
                 "Multiple dispatch failed for '%s'; all __torch_dispatch__ handlers returned "
                 "NotImplemented:%s",
                 dotted_name(entry).c_str(), types.c_str());
  }
};

/// Set as a class's __torch_dispatch__: its tensors are treated as plain ones.
PyObject* disabled_torch_dispatch(PyObject*, PyObject* args, PyObject*) {
  PyObject* function = nullptr;
  PyObject* types = nullptr;
  PyObject* arguments = nullptr;
  PyObject* keywords = nullptr;
  if (!PyArg_ParseTuple(args, "OO|OO:_disabled_torch_dispatch_impl", &function, &types, &arguments,
                        &keywords))
    return nullptr;

  const ObjectPtr positional =
      ObjectPtr::steal(arguments == nullptr ? PyTuple_New(0) : PySequence_Tuple(arguments));
  if (!positional) return nullptr;
  if (keywords != nullptr && !PyDict_Check(keywords)) keywords = nullptr;

  const c10::ExcludeDispatchKeyGuard without(c10::DispatchKey::Python);
  return PyObject_Call(function, positional.get(), keywords);
}

PyMethodDef functions[] = {
    {"_disabled_torch_dispatch_impl",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(disabled_torch_dispatch)),
     METH_VARARGS | METH_KEYWORDS,
     "Set as a Tensor subclass's __torch_dispatch__: calls run as for a plain Tensor."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::shared_ptr<const c10::BoxedKernel> make_python_kernel(PyObject* function, bool takes_keys) {
  return std::make_shared<PythonKernel>(function, takes_keys);
}

std::shared_ptr<const c10::BoxedKernel> make_operator_handler(PyObject* function) {
  return std::make_shared<OperatorHandler>(function);
}

bool is_error_of_handler() {
  PyObject* type = nullptr;
  PyObject* error = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);
  const bool is_marked = error != nullptr && PyObject_HasAttrString(error, kErrorOfHandler) != 0;
  PyErr_Restore(type, error, trace);
  return is_marked;
}

bool has_torch_dispatch(PyTypeObject* type) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
  PyObject* found = attribute_name != nullptr ? _PyType_Lookup(type, attribute_name) : nullptr;
  return found != nullptr && found != disabled_dispatch;
}

void init_python_kernels(PyObject* module) {
  attribute_name = checked(PyUnicode_InternFromString("__torch_dispatch__"));
  check_status(PyModule_AddFunctions(module, functions));
  disabled_dispatch = checked(PyObject_GetAttrString(module, "_disabled_torch_dispatch_impl"));

  static const DispatchToPython kernel;
  c10::Dispatcher::singleton().set_fallback(c10::DispatchKey::Python, &kernel);
}

}  // namespace torch::python
