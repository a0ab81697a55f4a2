// Dispatch keys and sets of them in Python, and the thread's part in the keys of calls.
#include "torch_py/csrc/bindings/dispatch/Keys.h"

#include <string>

#include "c10/dispatch/LocalState.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python {

namespace {

PyObject* from_key_set(c10::DispatchKeySet keys) {
  return checked(PyLong_FromUnsignedLongLong(keys.bits()));
}

PyObject* key_names(PyObject*, PyObject*) {
  TORCH_PY_TRY
  ObjectPtr names = ObjectPtr::steal(checked(PyTuple_New(c10::kNumDispatchKeys)));
  for (int i = 0; i < c10::kNumDispatchKeys; ++i) {
    const char* name = c10::dispatch_key_name(static_cast<c10::DispatchKey>(i));
    PyTuple_SET_ITEM(names.get(), i, checked(PyUnicode_FromString(name)));
  }
  return names.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* keys_of_tensor(PyObject*, PyObject* tensor) {
  TORCH_PY_TRY
  if (!is_tensor(tensor))
    throw_python(PyExc_TypeError, "_key_set(): expected a Tensor, got %s", type_name(tensor));
  return from_key_set(unpack(tensor).key_set());
  TORCH_PY_CATCH(nullptr)
}

PyObject* included_keys(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return from_key_set(c10::local_state().included);
  TORCH_PY_CATCH(nullptr)
}

PyObject* excluded_keys(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return from_key_set(c10::local_state().user_excluded);
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_excluded_keys(PyObject*, PyObject* bits) {
  TORCH_PY_TRY
  c10::LocalState& state = c10::local_state();
  const c10::DispatchKeySet before = state.user_excluded;
  state.user_excluded = to_key_set(bits);
  state.refresh();
  return from_key_set(before);
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_below_autograd(PyObject*, PyObject* depth) {
  TORCH_PY_TRY
  c10::LocalState& state = c10::local_state();
  const int before = state.below_autograd;
  state.below_autograd = static_cast<int>(to_int64(depth));
  state.refresh();
  return PyLong_FromLong(before);
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_dispatch_key_names", key_names, METH_NOARGS, "The names of all keys, by position."},
    {"_key_set", keys_of_tensor, METH_O, "_key_set(tensor) -> int: the tensor's keys, as bits."},
    {"_included_keys", included_keys, METH_NOARGS, "The keys that this thread adds to every call."},
    {"_excluded_keys", excluded_keys, METH_NOARGS, "The keys that this thread leaves out."},
    {"_set_excluded_keys", set_excluded_keys, METH_O,
     "Sets the keys that this thread leaves out; returns what they were."},
    {"_set_below_autograd", set_below_autograd, METH_O,
     "Sets how many kernels of autograd this thread is inside of; returns what it was."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

c10::DispatchKey to_key(PyObject* object) {
  if (PyUnicode_Check(object)) {
    const std::string_view wanted = to_string_view(object);
    for (int i = 0; i < c10::kNumDispatchKeys; ++i) {
      const auto key = static_cast<c10::DispatchKey>(i);
      if (wanted == c10::dispatch_key_name(key)) return key;
    }
    TORCH_CHECK(false, "could not parse dispatch key: ", wanted);
  }

  const int64_t position = to_int64(object);
  TORCH_CHECK(position >= 0 && position < c10::kNumDispatchKeys, "no dispatch key has position ",
              position);
  return static_cast<c10::DispatchKey>(position);
}

c10::DispatchKeySet to_key_set(PyObject* object) {
  const unsigned long long bits = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) throw PythonError();
  TORCH_CHECK(bits >> c10::kNumDispatchKeys == 0, "no set of dispatch keys has the bits ", bits);
  return c10::DispatchKeySet(bits);
}

void init_dispatch_keys(PyObject* module) {
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
