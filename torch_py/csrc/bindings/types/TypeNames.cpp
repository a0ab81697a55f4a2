// What Python adds to native types: methods written in Python, and another package's name, for
// programs that use this package in place of that one, and for their pickles.
#include <cstring>
#include <string>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/state/GlobalState.h"

namespace torch::python {

namespace {

// Python cannot assign a static type's name and `__module__`, which type(x) prints.
PyObject* rename_type(PyObject*, PyObject* arguments) {
  TORCH_PY_TRY
  PyObject* object = nullptr;
  const char* name = nullptr;
  check_status(PyArg_ParseTuple(arguments, "O!s:_rename_type", &PyType_Type, &object, &name) ? 0
                                                                                             : -1);

  auto* type = reinterpret_cast<PyTypeObject*>(object);
  const char* dot = std::strrchr(name, '.');
  if (dot == nullptr || (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 ||
      std::strncmp(type->tp_name, "torch", 5) != 0) {
    throw_python(
        PyExc_ValueError,
        "_rename_type(): expected a static type of this module and a dotted name, got %s, '%s'",
        type->tp_name, name);
  }

  type->tp_name = strdup(name);  // kept for the life of the process, as the type is

  const ObjectPtr package =
      ObjectPtr::steal(checked(PyUnicode_FromStringAndSize(name, dot - name)));
  check_status(PyDict_SetItemString(type->tp_dict, "__module__", package.get()));
  PyType_Modified(type);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

// setattr refuses static types, so this writes to the type's dict.
PyObject* add_to_type(PyObject*, PyObject* arguments) {
  TORCH_PY_TRY
  PyObject* object = nullptr;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  check_status(
      PyArg_ParseTuple(arguments, "O!UO:_add_to_type", &PyType_Type, &object, &name, &value) ? 0
                                                                                             : -1);

  auto* type = reinterpret_cast<PyTypeObject*>(object);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 || std::strncmp(type->tp_name, "torch", 5) != 0) {
    throw_python(PyExc_ValueError, "_add_to_type(): expected a static type of this module, got %s",
                 type->tp_name);
  }

  check_status(PyDict_SetItem(type->tp_dict, name, value));
  PyType_Modified(type);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_add_to_type", add_to_type, METH_VARARGS,
     "_add_to_type(type, name, value): gives a static type of this module a member."},
    {"_rename_type", rename_type, METH_VARARGS,
     "_rename_type(type, name): gives a static type of this module another dotted name."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_type_names(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
