// torch_py._C._compiler.TensorFacts.
#include <new>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/compiler/Module.h"
#include "torch_py/csrc/compiler/guards/TensorFacts.h"

namespace torch::python::compiler {

namespace {

struct FactsObject {
  PyObject_HEAD
  TensorFacts facts;
};

PyTypeObject FactsType = {PyVarObject_HEAD_INIT(nullptr, 0)};

FactsObject* as_facts(PyObject* object) { return reinterpret_cast<FactsObject*>(object); }

/// One number for each dimension; `none` stands for None.
c10::DimVector numbers_of(PyObject* given, const char* argument, size_t ndim, int64_t none) {
  if (!PyTuple_Check(given)) {
    throw_python(PyExc_TypeError,
                 "TensorFacts(): argument '%s' must be a tuple of int or None, not %s", argument,
                 type_name(given));
  }
  if (static_cast<size_t>(PyTuple_GET_SIZE(given)) != ndim) {
    throw_python(PyExc_ValueError,
                 "TensorFacts(): argument '%s' has %zd elements for a tensor of %zu dimensions",
                 argument, PyTuple_GET_SIZE(given), ndim);
  }

  c10::DimVector numbers;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); ++i) {
    PyObject* item = PyTuple_GET_ITEM(given, i);
    const int64_t number = item == Py_None ? none : to_int64(item);
    if (item != Py_None && number < 0)
      throw_python(PyExc_ValueError,
                   "TensorFacts(): argument '%s' has a negative number at position %zd", argument,
                   i);
    numbers.push_back(number);
  }
  return numbers;
}

PyObject* facts_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"tensor", "sizes", "strides", "offset", nullptr};
  PyObject* tensor = nullptr;
  PyObject* sizes = Py_None;
  PyObject* strides = Py_None;
  PyObject* offset = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOO:TensorFacts", const_cast<char**>(names),
                                   &tensor, &sizes, &strides, &offset))
    return nullptr;
  if (!is_tensor(tensor)) {
    throw_python(PyExc_TypeError, "TensorFacts(): argument 'tensor' must be a Tensor, not %s",
                 type_name(tensor));
  }

  TensorFacts facts(tensor);
  if (sizes != Py_None)
    facts.expect_sizes(numbers_of(sizes, "sizes", facts.ndim(), TensorFacts::kOpen));
  if (strides != Py_None)
    facts.expect_strides(numbers_of(strides, "strides", facts.ndim(), TensorFacts::kAnyStride));
  if (offset != Py_None) facts.expect_offset(to_int64(offset));

  PyObject* self = checked(type->tp_alloc(type, 0));
  // Nothing can look at it in between: no object is made.
  new (&as_facts(self)->facts) TensorFacts(std::move(facts));
  return self;
  TORCH_PY_CATCH(nullptr)
}

int facts_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_facts(self)->facts.type());
  return 0;
}

void facts_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  as_facts(self)->facts.~TensorFacts();
  Py_TYPE(self)->tp_free(self);
}

PyObject* facts_check(PyObject* self, PyObject* args) {
  TORCH_PY_TRY
  PyObject* object = nullptr;
  const char* name = "tensor";
  if (!PyArg_ParseTuple(args, "O|s:check", &object, &name)) return nullptr;
  const std::string difference = as_facts(self)->facts.first_difference(object, name);
  if (difference.empty()) Py_RETURN_NONE;
  return PyUnicode_FromString(difference.c_str());
  TORCH_PY_CATCH(nullptr)
}

PyObject* facts_repr(PyObject* self) {
  TORCH_PY_TRY
  return PyUnicode_FromFormat("TensorFacts(%s)", as_facts(self)->facts.str().c_str());
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef methods[] = {{"check", facts_check, METH_VARARGS,
                          "check(object, name='tensor') -> None, or the first difference: "
                          "\"tensor.size(0) was 8, is 9\"."},
                         {nullptr, nullptr, 0, nullptr}};

void add_tensor_facts(PyObject* module) {
  PyTypeObject& type = FactsType;
  type.tp_name = "torch_py._C._compiler.TensorFacts";
  type.tp_doc = "TensorFacts(tensor, sizes=None, strides=None, offset=None)\n--\n\n"
                "What compiled code assumes about a tensor: class, dtype, device, layout, dispatch "
                "keys, sizes, strides, and whether it is a tensor of inference mode.\n"
                "In `sizes`, None is any size of at least 2; in `strides`, any stride. An `offset` "
                "is where the tensor has to begin in its memory.";

  type.tp_basicsize = sizeof(FactsObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  type.tp_new = facts_new;
  type.tp_dealloc = facts_dealloc;
  type.tp_traverse = facts_traverse;
  type.tp_repr = facts_repr;
  type.tp_methods = methods;
  add_type(module, type);
}

const RegisterPart part(add_tensor_facts);

}  // namespace

bool is_tensor_facts(PyObject* object) { return Py_TYPE(object) == &FactsType; }

const TensorFacts& facts_of(PyObject* object) { return as_facts(object)->facts; }

}  // namespace torch::python::compiler
