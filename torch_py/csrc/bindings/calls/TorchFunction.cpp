// Calls __torch_function__ of modes and arguments, and turns it off for a while.
#include "torch_py/csrc/bindings/calls/TorchFunction.h"

#include <string>

#include "c10/util/SmallVector.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

thread_local bool torch_function_enabled = true;
PyObject* attribute_name = nullptr;     // interned "__torch_function__"
PyObject* disabled_function = nullptr;  // torch_py._C._disabled_torch_function_impl

using OverloadedArguments = c10::SmallVector<PyObject*, 8>;

/// Adds an argument that takes calls over, once per type, subclasses before their bases.
void add_overloaded(OverloadedArguments& list, PyObject* object) {
  if (!overrides(object)) return;

  size_t position = list.size();
  for (size_t i = 0; i < list.size(); ++i) {
    if (Py_TYPE(list[i]) == Py_TYPE(object)) return;
    if (position == list.size() && PyType_IsSubtype(Py_TYPE(object), Py_TYPE(list[i])))
      position = i;
  }

  list.insert(list.begin() + position, object);
}

void add_argument(OverloadedArguments& list, PyObject* object) {
  if (!is_sequence(object)) return add_overloaded(list, object);
  for (Py_ssize_t i = 0; i < sequence_length(object); ++i)
    add_overloaded(list, sequence_item(object, i));
}

OverloadedArguments overloaded_arguments(PyObject* args, PyObject* kwargs) {
  OverloadedArguments list;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
    add_argument(list, PyTuple_GET_ITEM(args, i));

  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (kwargs != nullptr && PyDict_Next(kwargs, &position, &key, &value))
    add_argument(list, value);

  return list;
}

[[noreturn]] void throw_all_declined(const char* name, const OverloadedArguments& list) {
  std::string text = std::string("Multiple dispatch failed for 'torch.") + name +
                     "'; all __torch_function__ handlers returned NotImplemented:";
  text += name_of_function_mode();
  for (PyObject* object : list)
    text += std::string("\n\n  - tensor subclass ") + Py_TYPE(object)->tp_name;
  throw_python(PyExc_TypeError, "%s", text.c_str());
}

/// Runs a call with __torch_function__ turned off: the implementation of subclasses that opt out.
PyObject* disabled_torch_function(PyObject*, PyObject* args, PyObject*) {
  PyObject* function = nullptr;
  PyObject* types = nullptr;
  PyObject* arguments = nullptr;
  PyObject* keywords = nullptr;
  if (!PyArg_ParseTuple(args, "OO|OO:_disabled_torch_function_impl", &function, &types, &arguments,
                        &keywords))
    return nullptr;

  const ObjectPtr positional =
      ObjectPtr::steal(arguments == nullptr ? PyTuple_New(0) : PySequence_Tuple(arguments));
  if (!positional) return nullptr;
  if (keywords != nullptr && !PyDict_Check(keywords)) keywords = nullptr;

  const bool previous = std::exchange(torch_function_enabled, false);
  PyObject* result = PyObject_Call(function, positional.get(), keywords);
  torch_function_enabled = previous;
  return result;
}

PyObject* set_enabled(PyObject*, PyObject* value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  return PyBool_FromLong(std::exchange(torch_function_enabled, enabled != 0));
}

PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(torch_function_enabled); }

PyObject* overrides_py(PyObject*, PyObject* object) { return PyBool_FromLong(overrides(object)); }

PyObject* has_torch_function_py(PyObject*, PyObject* arguments) {
  if (!is_sequence(arguments)) return PyBool_FromLong(overrides(arguments) || in_function_mode());
  for (Py_ssize_t i = 0; i < sequence_length(arguments); ++i) {
    if (overrides(sequence_item(arguments, i))) Py_RETURN_TRUE;
  }
  return PyBool_FromLong(in_function_mode());
}

// DisableTorchFunctionSubclass: inside the block, subclasses of Tensor are treated as tensors.
struct DisableGuard {
  PyObject_HEAD
  bool previous;
};

PyObject* guard_enter(PyObject* self, PyObject*) {
  reinterpret_cast<DisableGuard*>(self)->previous = std::exchange(torch_function_enabled, false);
  Py_RETURN_NONE;
}

PyObject* guard_exit(PyObject* self, PyObject*) {
  torch_function_enabled = reinterpret_cast<DisableGuard*>(self)->previous;
  Py_RETURN_NONE;
}

PyMethodDef guard_methods[] = {{"__enter__", guard_enter, METH_NOARGS, nullptr},
                               {"__exit__", guard_exit, METH_VARARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyTypeObject GuardType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyMethodDef functions[] = {
    {"_disabled_torch_function_impl",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(disabled_torch_function)),
     METH_VARARGS | METH_KEYWORDS,
     "Set as a Tensor subclass's __torch_function__: calls run as for a plain Tensor."},
    {"_set_torch_function_enabled", set_enabled, METH_O,
     "Whether subclasses take calls over on this thread; returns what it was."},
    {"_is_torch_function_enabled", is_enabled, METH_NOARGS, nullptr},
    {"_has_torch_function", has_torch_function_py, METH_O,
     "Whether any of the arguments, or a mode, takes calls over."},
    {"_overrides_torch_function", overrides_py, METH_O,
     "Whether the type of an argument takes calls over."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool has_torch_function(PyObject* object) {
  if (!torch_function_enabled) return false;

  PyTypeObject* type = Py_TYPE(object);
  if (type == &TensorBaseType || type == &PyLong_Type || type == &PyFloat_Type ||
      type == &PyUnicode_Type || type == &PyBool_Type)
    return false;
  // Built-in types do not define it.
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;

  PyObject* found = _PyType_Lookup(type, attribute_name);
  if (found == nullptr) return false;
  return found != disabled_function;
}

void opt_out_of_inherited_torch_function(PyTypeObject* type, PyTypeObject* base) {
  if (_PyType_Lookup(type, attribute_name) != _PyType_Lookup(base, attribute_name)) return;
  check_status(
      PyObject_SetAttr(reinterpret_cast<PyObject*>(type), attribute_name, disabled_function));
}

PyObject* call_torch_function(PyObject* function, const char* name, PyObject* args,
                              PyObject* kwargs) {
  TORCH_PY_TRY
  // Each overriding type may handle the call or return NotImplemented.
  const OverloadedArguments list = overloaded_arguments(args, kwargs);
  const ObjectPtr types =
      ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(list.size()))));
  for (size_t i = 0; i < list.size(); ++i) {
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(list[i]))));
  }

  const ObjectPtr keywords =
      kwargs != nullptr ? ObjectPtr::borrow(kwargs) : ObjectPtr::steal(checked(PyDict_New()));

  if (in_function_mode()) {
    PyObject* result = call_function_mode(function, types.get(), args, keywords.get());
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }

  for (PyObject* object : list) {
    const ObjectPtr handler = ObjectPtr::steal(checked(PyObject_GetAttr(object, attribute_name)));
    PyObject* result = checked(PyObject_CallFunctionObjArgs(handler.get(), function, types.get(),
                                                            args, keywords.get(), nullptr));
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }

  throw_all_declined(name, list);
  TORCH_PY_CATCH(nullptr)
}

PyObject* call_method_override(const char* method, PyObject* self, PyObject* const* args,
                               Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  const ObjectPtr function = ObjectPtr::steal(
      checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&TensorBaseType), method)));

  const ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(nargs + 1)));
  PyTuple_SET_ITEM(tuple.get(), 0, Py_NewRef(self));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(tuple.get(), i + 1, Py_NewRef(args[i]));

  ObjectPtr keywords;
  if (kwnames != nullptr) {
    keywords = ObjectPtr::steal(checked(PyDict_New()));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); ++i) {
      check_status(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(kwnames, i), args[nargs + i]));
    }
  }

  return call_torch_function(function.get(), method, tuple.get(), keywords.get());
  TORCH_PY_CATCH(nullptr)
}

PyObject* call_property_override(const char* property, PyObject* self, PyObject* value) {
  TORCH_PY_TRY
  const ObjectPtr descriptor = ObjectPtr::steal(
      checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&TensorBaseType), property)));

  const ObjectPtr function = ObjectPtr::steal(
      checked(PyObject_GetAttrString(descriptor.get(), value == nullptr ? "__get__" : "__set__")));

  const ObjectPtr args = ObjectPtr::steal(
      checked(value == nullptr ? PyTuple_Pack(1, self) : PyTuple_Pack(2, self, value)));
  return call_torch_function(function.get(), property, args.get(), nullptr);
  TORCH_PY_CATCH(nullptr)
}

void init_torch_function(PyObject* module) {
  attribute_name = checked(PyUnicode_InternFromString("__torch_function__"));
  check_status(PyModule_AddFunctions(module, functions));
  disabled_function = checked(PyObject_GetAttrString(module, "_disabled_torch_function_impl"));

  GuardType.tp_name = "torch_py._C.DisableTorchFunctionSubclass";
  GuardType.tp_basicsize = sizeof(DisableGuard);
  GuardType.tp_flags = Py_TPFLAGS_DEFAULT;
  GuardType.tp_methods = guard_methods;
  GuardType.tp_new = PyType_GenericNew;
  add_type(module, GuardType);
}

}  // namespace torch::python
