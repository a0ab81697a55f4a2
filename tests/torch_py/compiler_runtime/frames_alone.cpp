// The little of the bindings that the frames need, for an extension module without tensors.
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <cstdarg>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/compiler/Module.h"

namespace torch::python {

PythonError::PythonError() { PyErr_Fetch(&type_, &value_, &traceback_); }
PythonError::PythonError(const PythonError& other)
    : std::exception(other),
      type_(Py_XNewRef(other.type_)),
      value_(Py_XNewRef(other.value_)),
      traceback_(Py_XNewRef(other.traceback_)) {}
PythonError::~PythonError() {
  Py_XDECREF(type_);
  Py_XDECREF(value_);
  Py_XDECREF(traceback_);
}
void PythonError::restore() const {
  PyErr_Restore(Py_XNewRef(type_), Py_XNewRef(value_), Py_XNewRef(traceback_));
}

void set_error_from_cpp(const char*) noexcept {
  try {
    throw;
  } catch (const PythonError& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void throw_python(PyObject* type, const char* format, ...) {
  va_list values;
  va_start(values, format);
  PyErr_FormatV(type, format, values);
  va_end(values);
  throw PythonError();
}

const char* type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }
void sleep_if_cut_off() noexcept {}

int64_t to_int64_slow(PyObject* object) {
  const long long value = PyLong_AsLongLong(object);
  if (PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

}  // namespace torch::python

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "torch_py._C", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__C() {
  PyObject* module = PyModule_Create(&definition);
  if (module != nullptr) torch::python::compiler::init_compiler(module);
  return module;
}
