// torch_py._C._compiler.Slot: stands for a tensor of a program among the arguments of an operator.
#include "torch_py/csrc/compiler/program/SlotType.h"

#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

struct SlotObject {
  PyObject_HEAD
  int64_t number;
};
PyTypeObject SlotType = {PyVarObject_HEAD_INIT(nullptr, 0)};

SlotObject* as_slot(PyObject* self) { return reinterpret_cast<SlotObject*>(self); }

PyObject* slot_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"number", nullptr};
  PyObject* number = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Slot", const_cast<char**>(names), &number))
    return nullptr;
  if (!PyLong_Check(number))
    throw_python(PyExc_TypeError, "Slot(): expected an int, got %s", type_name(number));

  const int64_t value = to_int64(number);
  TORCH_CHECK_VALUE(value >= 0 && value <= INT32_MAX, "Slot(): there is no slot ", value);
  PyObject* self = checked(type->tp_alloc(type, 0));
  as_slot(self)->number = value;
  return self;
  TORCH_PY_CATCH(nullptr)
}

void slot_dealloc(PyObject* self) { Py_TYPE(self)->tp_free(self); }

PyObject* slot_repr(PyObject* self) {
  return PyUnicode_FromFormat("Slot(%lld)", static_cast<long long>(as_slot(self)->number));
}

Py_hash_t slot_hash(PyObject* self) { return static_cast<Py_hash_t>(as_slot(self)->number); }

PyObject* slot_compare(PyObject* a, PyObject* b, int operation) {
  if (!is_slot(a) || !is_slot(b)) Py_RETURN_NOTIMPLEMENTED;
  Py_RETURN_RICHCOMPARE(as_slot(a)->number, as_slot(b)->number, operation);
}

PyObject* slot_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("(O(L))", Py_TYPE(self), static_cast<long long>(as_slot(self)->number));
}

PyObject* get_number(PyObject* self, void*) { return PyLong_FromLongLong(as_slot(self)->number); }

PyMethodDef methods[] = {{"__reduce__", slot_reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {{"number", get_number, nullptr, "The number of the slot.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

bool is_slot(PyObject* object) { return Py_TYPE(object) == &SlotType; }
int64_t slot_number(PyObject* object) { return as_slot(object)->number; }

void init_slot(PyObject* module) {
  SlotType.tp_name = "torch_py._C._compiler.Slot";
  SlotType.tp_doc =
      "Slot(number): stands for a tensor of a program among the arguments of an operator.";
  SlotType.tp_basicsize = sizeof(SlotObject);
  SlotType.tp_flags = Py_TPFLAGS_DEFAULT;
  SlotType.tp_new = slot_new;
  SlotType.tp_dealloc = slot_dealloc;
  SlotType.tp_repr = slot_repr;
  SlotType.tp_hash = slot_hash;
  SlotType.tp_richcompare = slot_compare;
  SlotType.tp_methods = methods;
  SlotType.tp_getset = properties;
  add_type(module, SlotType);
}

}  // namespace torch::python
