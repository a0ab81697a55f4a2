// Python exceptions in C++ and C++ exceptions in Python.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <exception>
#include <string>

#include "c10/util/Exception.h"
#include "c10/util/Export.h"

namespace torch::python {

/// A Python exception on its way through C++. It is made while the error indicator is set and takes
/// the exception out of the interpreter, so that frames in between may release the GIL. Where C++
/// returns to Python, it puts the very same object back.
class TORCH_PY_API PythonError : public std::exception {
 public:
  PythonError();
  PythonError(const PythonError& other);
  PythonError& operator=(const PythonError&) = delete;
  ~PythonError() override;

  const char* what() const noexcept override { return message_.c_str(); }
  /// Sets Python's error indicator; the GIL must be held.
  void restore() const;

  PyObject* value() const { return value_; }

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
  std::string message_;
};

/// Turns the C++ exception being handled into Python's error indicator. Where memory ran out, the
/// message begins with `name`, the operator's.
TORCH_PY_API void set_error_from_cpp(const char* name = nullptr) noexcept;

/// Throws PythonError if a C API call returned null; otherwise passes its result on.
inline PyObject* checked(PyObject* object) {
  if (C10_UNLIKELY(object == nullptr)) throw PythonError();
  return object;
}

inline void check_status(int status) {
  if (C10_UNLIKELY(status < 0)) throw PythonError();
}

/// torch.OutOfMemoryError and torch.linalg.LinAlgError; borrowed.
PyObject* out_of_memory_error_class();
PyObject* linalg_error_class();

/// Warns through Python's warnings module; throws PythonError if the filter makes it an error.
TORCH_PY_API void warn_user(const std::string& message, PyObject* category = PyExc_UserWarning);

void init_errors(PyObject* module);

}  // namespace torch::python

// These go around the body of every function that Python calls. `failure` is what the function
// returns if an exception is set.
#define TORCH_PY_TRY try {
#define TORCH_PY_CATCH(failure)            \
  }                                        \
  catch (...) {                            \
    ::torch::python::set_error_from_cpp(); \
    return failure;                        \
  }

// Names that generated bindings use.
namespace torch::python {
using python_error = PythonError;
inline PyObject* raise_current_exception(const char* name = nullptr) noexcept {
  set_error_from_cpp(name);
  return nullptr;
}
}  // namespace torch::python
#define HANDLE_ERRORS try {
#define END_HANDLE_ERRORS                              \
  }                                                    \
  catch (...) {                                        \
    return ::torch::python::raise_current_exception(); \
  }
#define END_HANDLE_ERRORS_OF(name)                         \
  }                                                        \
  catch (...) {                                            \
    return ::torch::python::raise_current_exception(name); \
  }
