// Converts single Python objects to C++ values and numbers back to Python.
#pragma once
#include "c10/core/Generator.h"
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <optional>
#include <string>
#include <string_view>

#include "aten/core/Tensor.h"
#include "c10/util/Export.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

// `is_*` looks at the type only; `to_*` converts, and throws PythonError with PyTorch's exception
// for an object that it cannot convert.

namespace torch::python {

using TensorVector = c10::SmallVector<at::Tensor, 8>;
using ScalarVector = c10::SmallVector<at::Scalar, 4>;
using DoubleVector = c10::SmallVector<double, 4>;

/// numpy.float32(1) and the like, but not arrays. Works before NumPy is imported.
TORCH_PY_API bool is_numpy_scalar(PyObject* object);

/// int, a 0-dim integer tensor, or anything with __index__; not bool.
TORCH_PY_API bool is_int(PyObject* object);
TORCH_PY_API bool is_float(PyObject* object);
TORCH_PY_API bool is_bool(PyObject* object);
/// A number of any kind, or a 0-dim tensor that does not require grad.
TORCH_PY_API bool is_scalar(PyObject* object);

bool is_dtype(PyObject* object);   // dtype objects and the types bool, int, float, complex
bool is_device(PyObject* object);  // device objects, strings, indices
bool is_layout(PyObject* object);
bool is_memory_format(PyObject* object);
bool is_generator(PyObject* object);

inline bool is_sequence(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }

TORCH_PY_API int64_t to_int64_slow(PyObject* object);
inline int64_t to_int64(PyObject* object) {
  if (C10_LIKELY(PyLong_CheckExact(object))) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (C10_LIKELY(overflow == 0)) return value;
  }
  return to_int64_slow(object);
}

TORCH_PY_API double to_double(PyObject* object);
TORCH_PY_API bool to_bool(PyObject* object);
TORCH_PY_API at::Scalar to_scalar(PyObject* object);
TORCH_PY_API std::string_view to_string_view(PyObject* object);
TORCH_PY_API at::ScalarType to_dtype(PyObject* object);
TORCH_PY_API at::Layout to_layout(PyObject* object);
TORCH_PY_API at::Device to_device(PyObject* object);
TORCH_PY_API at::MemoryFormat to_memory_format(PyObject* object);
TORCH_PY_API at::Generator* to_generator(PyObject* object);
TORCH_PY_API void to_bool_array(PyObject* object, bool* values, size_t count);

/// The bool, int, float or complex object of a number.
TORCH_PY_API PyObject* from_scalar(const at::Scalar& value);

/// Element i of a tuple or list; borrowed.
inline PyObject* sequence_item(PyObject* sequence, Py_ssize_t i) {
  return PyTuple_Check(sequence) ? PyTuple_GET_ITEM(sequence, i) : PyList_GET_ITEM(sequence, i);
}
inline Py_ssize_t sequence_length(PyObject* sequence) {
  return PyTuple_Check(sequence) ? PyTuple_GET_SIZE(sequence) : PyList_GET_SIZE(sequence);
}

/// "Tensor" for tensor_class, otherwise the type's name as messages show it.
TORCH_PY_API const char* type_name(PyObject* object);

/// Sets a Python exception with a formatted text (as PyErr_Format) and throws PythonError.
[[noreturn]] TORCH_PY_API void throw_python(PyObject* type, const char* format, ...);

}  // namespace torch::python
