// torch.Size: a tuple whose slices and sums are torch.Size again.
#include "torch_py/csrc/bindings/types/SizeType.h"

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/TypeTexts.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

/// Turns a tuple that a method of tuple returned into a torch.Size, if all elements are still ints.
PyObject* as_size(PyObject* tuple) {
  if (tuple == nullptr || !PyTuple_CheckExact(tuple)) return tuple;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    if (!PyLong_Check(PyTuple_GET_ITEM(tuple, i))) return tuple;
  }

  const ObjectPtr owner = ObjectPtr::steal(tuple);
  const ObjectPtr args = ObjectPtr::steal(PyTuple_Pack(1, tuple));
  return args ? PyTuple_Type.tp_new(&SizeType, args.get(), nullptr) : nullptr;
}

/// Replaces tensors and other integers by plain ints.
PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  ObjectPtr self = ObjectPtr::steal(checked(PyTuple_Type.tp_new(type, args, kwargs)));

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(self.get(), i);
    if (PyLong_CheckExact(item)) continue;
    if (!is_int(item) && !PyBool_Check(item)) {
      throw_python(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                   type_name(item));
    }

    PyTuple_SET_ITEM(self.get(), i,
                     wrap(PyBool_Check(item) ? int64_t{item == Py_True} : to_int64(item)));
    Py_DECREF(item);
  }

  return self.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* size_repr(PyObject* self) {
  const ObjectPtr list = ObjectPtr::steal(PySequence_List(self));
  return list ? PyUnicode_FromFormat("torch.Size(%R)", list.get()) : nullptr;
}

PyObject* size_numel(PyObject* self, PyObject*) {
  ObjectPtr product = ObjectPtr::steal(PyLong_FromLong(1));

  for (Py_ssize_t i = 0; product && i < PyTuple_GET_SIZE(self); ++i) {
    product = ObjectPtr::steal(PyNumber_Multiply(product.get(), PyTuple_GET_ITEM(self, i)));
  }
  return product.release();
}

PyObject* size_reduce(PyObject* self, PyObject*) {
  const ObjectPtr tuple = ObjectPtr::steal(PySequence_List(self));
  if (!tuple) return nullptr;
  const ObjectPtr items = ObjectPtr::steal(PyList_AsTuple(tuple.get()));
  return items ? Py_BuildValue("O(O)", &SizeType, items.get()) : nullptr;
}

PyObject* size_concat(PyObject* a, PyObject* b) {
  if (PyTuple_Check(a) && PyTuple_Check(b))
    return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
  PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not %s) to torch.Size",
               Py_TYPE(PyTuple_Check(a) ? b : a)->tp_name);
  return nullptr;
}

PyObject* size_add(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  return size_concat(a, b);
}

PyObject* size_repeat(PyObject* self, Py_ssize_t count) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, count));
}

PyObject* size_subscript(PyObject* self, PyObject* index) {
  return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(self, index));
}

PyMethodDef methods[] = {
    {"numel", size_numel, METH_NOARGS, "numel() -> int: the product of the sizes."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PySequenceMethods as_sequence = {};
PyMappingMethods as_mapping = {};
PyNumberMethods as_number = {};

}  // namespace

PyTypeObject SizeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* make_size(c10::IntArrayRef sizes) {
  PyObject* self = checked(SizeType.tp_alloc(&SizeType, static_cast<Py_ssize_t>(sizes.size())));
  for (size_t i = 0; i < sizes.size(); ++i) {
    PyObject* item = PyLong_FromLongLong(sizes[i]);
    if (item == nullptr) {
      Py_DECREF(self);
      throw PythonError();
    }
    PyTuple_SET_ITEM(self, static_cast<Py_ssize_t>(i), item);
  }
  return self;
}

void init_size(PyObject* module) {
  as_sequence.sq_length = PyTuple_Type.tp_as_sequence->sq_length;
  as_sequence.sq_item = PyTuple_Type.tp_as_sequence->sq_item;
  as_sequence.sq_contains = PyTuple_Type.tp_as_sequence->sq_contains;
  as_sequence.sq_concat = size_concat;
  as_sequence.sq_repeat = size_repeat;
  as_mapping.mp_length = PyTuple_Type.tp_as_mapping->mp_length;
  as_mapping.mp_subscript = size_subscript;
  as_number.nb_add = size_add;

  SizeType.tp_name = "torch_py.Size";
  SizeType.tp_doc = texts::torch_Size;
  SizeType.tp_base = &PyTuple_Type;
  SizeType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_TUPLE_SUBCLASS;
  SizeType.tp_new = size_new;
  SizeType.tp_repr = size_repr;
  SizeType.tp_methods = methods;
  SizeType.tp_as_sequence = &as_sequence;
  SizeType.tp_as_mapping = &as_mapping;
  SizeType.tp_as_number = &as_number;

  add_type(module, SizeType);
}

}  // namespace torch::python
