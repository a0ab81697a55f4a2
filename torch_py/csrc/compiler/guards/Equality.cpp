// Compares constants by type and value.
#include "torch_py/csrc/compiler/guards/Equality.h"

#include <cstring>

namespace torch::python::compiler {

namespace {

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof(double)) == 0; }

int same_tuples(PyObject* a, PyObject* b) {
  const Py_ssize_t size = PyTuple_GET_SIZE(a);
  if (size != PyTuple_GET_SIZE(b)) return 0;
  if (Py_EnterRecursiveCall(" while comparing a constant")) return -1;

  int same = 1;
  for (Py_ssize_t i = 0; i < size && same == 1; ++i)
    same = same_value(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i));

  Py_LeaveRecursiveCall();
  return same;
}

}  // namespace

int same_value(PyObject* a, PyObject* b) {
  if (a == b) return 1;
  if (Py_TYPE(a) != Py_TYPE(b)) return 0;

  // Subclasses, too: a numpy.float64 is one.
  if (PyFloat_Check(a)) {
    const double value = PyFloat_AS_DOUBLE(a);
    if (!same_bits(value, PyFloat_AS_DOUBLE(b))) return 0;
    if (PyFloat_CheckExact(a) || value != value) return 1;
  }
  if (PyComplex_CheckExact(a)) {
    return same_bits(PyComplex_RealAsDouble(a), PyComplex_RealAsDouble(b)) &&
           same_bits(PyComplex_ImagAsDouble(a), PyComplex_ImagAsDouble(b));
  }
  if (PyTuple_Check(a)) return same_tuples(a, b);
  return PyObject_RichCompareBool(a, b, Py_EQ);
}

}  // namespace torch::python::compiler
