// Python functions among the steps of programs.
#include "torch_py/csrc/compiler/program/PythonFunction.h"

#include <string>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/dispatch/Values.h"
#include "torch_py/csrc/compiler/program/ReadDescription.h"
#include "torch_py/csrc/compiler/program/SlotType.h"

namespace torch::python {

using programs::CallExtern;
using programs::Description;
using programs::Slot;

namespace {

/// Refuses templates that contain themselves.
class Recursion {
 public:
  Recursion() {
    if (Py_EnterRecursiveCall(" while reading the arguments of a step") != 0) throw PythonError();
  }
  ~Recursion() { Py_LeaveRecursiveCall(); }
  Recursion(const Recursion&) = delete;
  Recursion& operator=(const Recursion&) = delete;
};

/// A Python function among the steps.
class PythonFunction final : public programs::Function {
 public:
  PythonFunction(PyObject* function, PyObject* args, PyObject* kwargs)
      : function_(keep_object(function)), args_(keep_object(args)), kwargs_(keep_object(kwargs)) {
    const ObjectPtr named = ObjectPtr::steal(PyObject_GetAttrString(function, "__name__"));
    PyErr_Clear();
    const bool has_name = named && PyUnicode_Check(named.get());
    name_ = has_name ? to_string_view(named.get()) : Py_TYPE(function)->tp_name;
  }

  const char* name() const override { return name_.c_str(); }

  void call(at::Stack& stack) const override {
    const GilAcquire gil;
    const OwnCalls own;

    size_t next = 0;
    const ObjectPtr args = filled(object_of(args_), stack, next);
    const ObjectPtr kwargs = filled(object_of(kwargs_), stack, next);
    stack.clear();
    const ObjectPtr results =
        ObjectPtr::steal(checked(PyObject_Call(object_of(function_), args.get(), kwargs.get())));
    push(stack, results.get());
  }

 private:
  static PyObject* object_of(const std::shared_ptr<void>& kept) {
    return static_cast<PyObject*>(kept.get());
  }

  /// For a scope: what the function calls is recorded by nobody, and otherwise as anywhere.
  class OwnCalls {
   public:
    OwnCalls() : previous_(c10::local_state()) {
      c10::LocalState& state = c10::local_state();
      state.user_excluded = {};
      state.below_autograd = 0;
      state.refresh();
    }
    ~OwnCalls() { c10::local_state() = previous_; }
    OwnCalls(const OwnCalls&) = delete;
    OwnCalls& operator=(const OwnCalls&) = delete;

   private:
    c10::LocalState previous_;
  };

  /// A copy of a template in which values of the stack are in the places of slots and formulas.
  static ObjectPtr filled(PyObject* object, const at::Stack& stack, size_t& next) {
    if (is_slot(object) || is_formula(object)) {
      TORCH_CHECK(next < stack.size(), "the arguments of a step were changed after it was made");
      return ObjectPtr::steal(wrap_value(stack[next++]));
    }
    const Recursion guard;

    if (is_sequence(object)) {
      ObjectPtr list = ObjectPtr::steal(checked(PyList_New(sequence_length(object))));
      for (Py_ssize_t i = 0; i < sequence_length(object); ++i)
        PyList_SET_ITEM(list.get(), i, filled(sequence_item(object, i), stack, next).release());
      return PyTuple_Check(object) ? ObjectPtr::steal(checked(PyList_AsTuple(list.get())))
                                   : std::move(list);
    }
    if (PyDict_Check(object)) {
      ObjectPtr dict = ObjectPtr::steal(checked(PyDict_New()));
      PyObject* key = nullptr;
      PyObject* value = nullptr;
      Py_ssize_t position = 0;
      while (PyDict_Next(object, &position, &key, &value))
        check_status(PyDict_SetItem(dict.get(), key, filled(value, stack, next).get()));
      return dict;
    }
    return ObjectPtr::borrow(object);
  }

  /// Tensors as the function returned them, one or several.
  void push(at::Stack& stack, PyObject* results) const {
    if (is_tensor(results)) {
      stack.emplace_back(unpack(results));
    } else if (is_sequence(results)) {
      for (Py_ssize_t i = 0; i < sequence_length(results); ++i) {
        PyObject* item = sequence_item(results, i);
        stack.push_back(is_tensor(item) ? at::Value(unpack(item)) : at::Value());
      }
    }
  }

  std::shared_ptr<void> function_;
  std::shared_ptr<void> args_;
  std::shared_ptr<void> kwargs_;
  std::string name_;
};

/// Finds the slots and formulas of a template, in the order in which filled() meets them.
void find_variables(CallExtern& call, PyObject* object, Description& description) {
  const CallExtern::Spot next{static_cast<uint32_t>(call.arguments.size()),
                              CallExtern::Spot::kWhole};
  const Recursion guard;

  if (is_slot(object)) {
    call.arguments.emplace_back();
    call.tensors.push_back({next, static_cast<Slot>(slot_number(object))});
  } else if (is_formula(object)) {
    call.arguments.emplace_back(int64_t{0});
    call.integers.push_back({next, read_integer(object, description)});
  } else if (is_sequence(object)) {
    for (Py_ssize_t i = 0; i < sequence_length(object); ++i)
      find_variables(call, sequence_item(object, i), description);
  } else if (PyDict_Check(object)) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &value)) find_variables(call, value, description);
  }
}

}  // namespace

std::shared_ptr<void> keep_object(PyObject* object) {
  return {Py_NewRef(object), [](void* kept) {
            if (python_has_ended()) return;
            const GilAcquire gil;
            Py_DECREF(static_cast<PyObject*>(kept));
          }};
}

CallExtern read_function(PyObject* function, PyObject* args, PyObject* kwargs, PyObject* results,
                         Description& description) {
  CallExtern call;
  call.function = std::make_shared<PythonFunction>(function, args, kwargs);
  find_variables(call, args, description);
  find_variables(call, kwargs, description);

  if (!is_sequence(results))
    throw_python(PyExc_TypeError, "the results of a function must be a tuple, got %R", results);

  for (Py_ssize_t i = 0; i < sequence_length(results); ++i) {
    PyObject* item = sequence_item(results, i);
    if (item == Py_None) continue;
    call.results.push_back({{static_cast<uint32_t>(i), CallExtern::Spot::kWhole}, read_slot(item)});
  }
  return call;
}

}  // namespace torch::python
