// Owners of Python references.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <utility>

#include "torch_py/csrc/bindings/Gil.h"

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
  ~ObjectPtr() {
    if (object_ == nullptr) return;
    // Unwound by Python, without the GIL: see Note [The end of the interpreter].
    if (C10_UNLIKELY(python_is_ending())) sleep_if_cut_off();
    Py_DECREF(object_);
  }

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

}  // namespace torch::python
