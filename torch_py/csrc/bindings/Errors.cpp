// Python exceptions in C++, C++ exceptions in Python, and warnings.
#include "torch_py/csrc/bindings/Errors.h"

#include <cxxabi.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "aten/core/Warning.h"
#include "c10/core/AbsentDevice.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/TypeTexts.h"

namespace torch::python {

namespace {

PyObject* out_of_memory_error = nullptr;
PyObject* linalg_error = nullptr;

/// "TypeError: text", without raising anything itself.
std::string text_of_exception(PyObject* value) {
  if (value == nullptr) return "unknown Python error";

  const ObjectPtr text = ObjectPtr::steal(PyObject_Str(value));
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (utf8 == nullptr) PyErr_Clear();
  return std::string(Py_TYPE(value)->tp_name) + ": " + (utf8 ? utf8 : "");
}

void set_error(PyObject* type, const char* message) {
  // The message may quote bytes that are not UTF-8; PyErr_SetString would raise UnicodeDecodeError.
  const ObjectPtr text = ObjectPtr::steal(
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(strlen(message)), "replace"));
  if (text) PyErr_SetObject(type, text.get());
}

constexpr const char* kListTooLong =
    "not enough memory for a list of as many elements as the arguments ask for";

/// `name` is the operator's; null if it is not known. Some messages begin with it already.
void set_memory_error(PyObject* type, const char* name, const char* message) {
  if (name == nullptr || std::string_view(message).starts_with(name)) {
    PyErr_SetString(type, message);
  } else {
    PyErr_Format(type, "%s: %s", name, message);
  }
}

// PyTorch initialises some kinds of devices in Python, in modules that report that they were built
// without support, or are missing.
PyObject* type_for_absent(c10::Device device) {
  const std::string name = c10::device_type_name(device.type);
  if (name == "cuda" || name == "xpu" || name == "mtia") return PyExc_AssertionError;
  if (name == "hpu" || device.type == c10::DeviceType::PrivateUse1)
    return PyExc_ModuleNotFoundError;
  return PyExc_NotImplementedError;
}

// Kernels warn without the GIL. If a filter turns the warning into an error, the PythonError
// travels like any other.
void warn_from_kernel(const std::string& message) {
  const GilAcquire gil;
  warn_user(message);
}

PyObject* add_exception(PyObject* module, const char* qualified_name, const char* name,
                        const char* doc) {
  PyObject* type = PyErr_NewExceptionWithDoc(qualified_name, doc, PyExc_RuntimeError, nullptr);
  checked(type);
  check_status(PyModule_AddObjectRef(module, name, type));
  return type;
}

}  // namespace

PythonError::PythonError() {
  PyErr_Fetch(&type_, &value_, &traceback_);
  if (type_ == nullptr) {  // a C API call failed without saying why
    type_ = Py_NewRef(PyExc_SystemError);
    value_ = PyUnicode_FromString("error return without exception set");
  }

  PyErr_NormalizeException(&type_, &value_, &traceback_);
  if (traceback_ != nullptr) PyException_SetTraceback(value_, traceback_);
  message_ = text_of_exception(value_);
}

PythonError::PythonError(const PythonError& other)
    : std::exception(other),
      type_(other.type_),
      value_(other.value_),
      traceback_(other.traceback_),
      message_(other.message_) {
  const GilAcquire gil;
  Py_XINCREF(type_);
  Py_XINCREF(value_);
  Py_XINCREF(traceback_);
}

PythonError::~PythonError() {
  if (type_ == nullptr || python_has_ended()) return;
  const GilAcquire gil;
  Py_XDECREF(type_);
  Py_XDECREF(value_);
  Py_XDECREF(traceback_);
}

void PythonError::restore() const {
  PyErr_Restore(Py_XNewRef(type_), Py_XNewRef(value_), Py_XNewRef(traceback_));
}

void set_error_from_cpp(const char* name) noexcept {
  // Each C++ class has its Python class; the most derived ones come first.
  try {
    throw;
  } catch (const PythonError& error) {
    error.restore();
  } catch (const c10::IndexError& error) {
    set_error(PyExc_IndexError, error.what());
  } catch (const c10::ValueError& error) {
    set_error(PyExc_ValueError, error.what());
  } catch (const c10::TypeError& error) {
    set_error(PyExc_TypeError, error.what());
  } catch (const c10::NotImplementedError& error) {
    set_error(PyExc_NotImplementedError, error.what());
  } catch (const c10::AbsentDeviceError& error) {
    set_error(type_for_absent(error.device()), error.what());
  } catch (const c10::LinAlgError& error) {
    set_error(linalg_error, error.what());
  } catch (const c10::OutOfMemoryError& error) {
    set_memory_error(out_of_memory_error, name, error.what());
  } catch (const std::bad_alloc&) {
    set_memory_error(PyExc_MemoryError, name, kListTooLong);
  } catch (const std::length_error&) {  // of a std::vector: longer than the address space
    set_memory_error(PyExc_MemoryError, name, kListTooLong);
  } catch (const std::exception& error) {
    set_error(PyExc_RuntimeError, error.what());
  } catch (const abi::__forced_unwind&) {
    // Not an exception: Python ends this thread. See Note [The end of the interpreter].
    if (python_is_ending()) sleep_until_exit();
    std::terminate();
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}

PyObject* out_of_memory_error_class() { return out_of_memory_error; }
PyObject* linalg_error_class() { return linalg_error; }

void warn_user(const std::string& message, PyObject* category) {
  // Level 1 is the innermost Python frame: the line of the user's program that called the operator.
  check_status(PyErr_WarnEx(category, message.c_str(), 1));
}

void init_errors(PyObject* module) {
  out_of_memory_error = add_exception(module, "torch_py.OutOfMemoryError", "OutOfMemoryError",
                                      texts::torch_OutOfMemoryError);
  linalg_error = add_exception(module, "torch_py.linalg.LinAlgError", "_LinAlgError",
                               texts::linalg_LinAlgError);
  at::set_warning_handler(warn_from_kernel);
}

}  // namespace torch::python
