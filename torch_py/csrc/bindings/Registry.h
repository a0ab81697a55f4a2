// Registration of generated functions, and the modules in which they appear.
#pragma once
#include <cstdint>

#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/util/Export.h"

namespace torch::python {

/// The places of generated functions: torch_py._C._torch, _nn, _linalg, _special, _fft, _ops; for
/// Method torch_py._C.TensorBase.
enum class Module : uint8_t { Torch, Nn, Linalg, Special, Fft, Private, Method };

struct MethodTable {
  Module module;
  const PyMethodDef* methods;  // `count` entries; needs no sentinel
  int count;
};

/// `static const RegisterMethods table({Module::Torch, functions, 12});` in a generated file:
/// tables are collected while the library is loaded and installed when torch_py._C is initialised.
struct TORCH_PY_API RegisterMethods {
  explicit RegisterMethods(MethodTable table);
};

/// Adds functions to a module (or namespace object), or methods to the Tensor type; for operator
/// libraries outside of the tree.
TORCH_PY_API void install_methods(PyObject* target, const PyMethodDef* methods, int count);

/// The namespace object of an owner: "torch", "nn", "linalg", "special", "fft", "ops", "Tensor",
/// "return_types", "_C". A new reference, or null with an exception set.
TORCH_PY_API PyObject* namespace_of(const char* owner);

/// The C function of a generated method of Tensor; null if no operator has that name.
using FastMethod = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames);
FastMethod find_tensor_method(const char* name);

/// The function as PyMethodDef stores it, for METH_FASTCALL | METH_KEYWORDS.
inline PyCFunction as_method(FastMethod function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
inline PyCFunction as_method(PyObject* (*function)(PyObject*, PyObject*, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

void install_registered_methods(PyObject* module);

}  // namespace torch::python
