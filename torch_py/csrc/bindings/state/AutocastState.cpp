// Functions of torch_py._C about automatic dtypes, which torch.autocast calls.
#include "aten/core/Autocast.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/state/GlobalState.h"

namespace torch::python {

namespace {

namespace autocast = at::autocast;

/// The device type of a name such as "cpu".
c10::DeviceType device_type(const char* function, PyObject* name) {
  if (!PyUnicode_Check(name)) {
    throw_python(PyExc_TypeError, "%s(): expected device_type to be str, got %s", function,
                 type_name(name));
  }
  return c10::Device(std::string_view(PyUnicode_AsUTF8(name))).type;
}

PyObject* is_autocast_enabled(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  TORCH_PY_TRY
  // Without an argument: CUDA, as before it took a device.
  if (nargs == 0) return PyBool_FromLong(autocast::is_enabled(c10::DeviceType::CUDA));
  return PyBool_FromLong(autocast::is_enabled(device_type("is_autocast_enabled", args[0])));
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_autocast_enabled(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  TORCH_PY_TRY
  if (nargs < 1 || nargs > 2 || !PyBool_Check(args[nargs - 1]))
    throw_python(PyExc_TypeError, "set_autocast_enabled(): expected a device type and a bool");

  const c10::DeviceType type =
      nargs == 1 ? c10::DeviceType::CUDA : device_type("set_autocast_enabled", args[0]);
  autocast::set_enabled(type, args[nargs - 1] == Py_True);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_autocast_dtype(PyObject*, PyObject* name) {
  TORCH_PY_TRY
  return wrap(autocast::dtype(device_type("get_autocast_dtype", name)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_autocast_dtype(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  TORCH_PY_TRY
  if (nargs != 2 || !is_dtype(args[1]))
    throw_python(PyExc_TypeError, "set_autocast_dtype(): expected a device type and a torch.dtype");

  autocast::set_dtype(device_type("set_autocast_dtype", args[0]), to_dtype(args[1]));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_autocast_cache_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(autocast::is_cache_enabled());
}

PyObject* set_autocast_cache_enabled(PyObject*, PyObject* enabled) {
  TORCH_PY_TRY
  if (!PyBool_Check(enabled)) {
    throw_python(PyExc_TypeError, "set_autocast_cache_enabled(): expected a bool, got %s",
                 type_name(enabled));
  }
  autocast::set_cache_enabled(enabled == Py_True);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* clear_autocast_cache(PyObject*, PyObject*) {
  autocast::clear_cache();
  Py_RETURN_NONE;
}

PyObject* increment_nesting(PyObject*, PyObject*) { return PyLong_FromLong(autocast::enter()); }
PyObject* decrement_nesting(PyObject*, PyObject*) { return PyLong_FromLong(autocast::leave()); }

PyObject* nesting(PyObject*, PyObject*) {
  autocast::enter();
  return PyLong_FromLong(autocast::leave());
}

PyMethodDef functions[] = {
    {"is_autocast_enabled",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(is_autocast_enabled)),
     METH_FASTCALL, "is_autocast_enabled(device_type) -> bool"},
    {"set_autocast_enabled",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_autocast_enabled)),
     METH_FASTCALL, texts::torch_set_autocast_enabled},
    {"get_autocast_dtype", get_autocast_dtype, METH_O, texts::torch_get_autocast_dtype},
    {"set_autocast_dtype",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_autocast_dtype)), METH_FASTCALL,
     texts::torch_set_autocast_dtype},
    {"is_autocast_cache_enabled", is_autocast_cache_enabled, METH_NOARGS,
     texts::torch_is_autocast_cache_enabled},
    {"set_autocast_cache_enabled", set_autocast_cache_enabled, METH_O,
     texts::torch_set_autocast_cache_enabled},
    {"clear_autocast_cache", clear_autocast_cache, METH_NOARGS, texts::torch_clear_autocast_cache},
    {"autocast_increment_nesting", increment_nesting, METH_NOARGS,
     texts::torch_autocast_increment_nesting},
    {"autocast_decrement_nesting", decrement_nesting, METH_NOARGS,
     texts::torch_autocast_decrement_nesting},
    {"_autocast_nesting", nesting, METH_NOARGS, "The number of blocks that the thread is in."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_autocast(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
