// Owners of Python references, and scopes with and without the GIL.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <utility>

namespace torch::python {

/// Owns one reference to a Python object, or none. steal() takes over a new reference; borrow()
/// makes one.
class ObjectPtr {
 public:
  ObjectPtr() = default;
  ObjectPtr(ObjectPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ObjectPtr(const ObjectPtr& other) noexcept : object_(other.object_) { Py_XINCREF(object_); }
  ObjectPtr& operator=(ObjectPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ObjectPtr() { Py_XDECREF(object_); }

  static ObjectPtr steal(PyObject* object) noexcept {
    ObjectPtr result;
    result.object_ = object;
    return result;
  }
  static ObjectPtr borrow(PyObject* object) noexcept {
    Py_XINCREF(object);
    return steal(object);
  }

  PyObject* get() const noexcept { return object_; }
  [[nodiscard]] PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Releases the GIL for a scope: around kernels, which take long and touch no Python object.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { PyEval_RestoreThread(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the GIL for a scope, on any thread.
class GilAcquire {
 public:
  GilAcquire() : state_(PyGILState_Ensure()) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace torch::python
