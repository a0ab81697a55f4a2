// Exchange with NumPy through __array_interface__ and numpy.ndarray's constructor.
#include "torch_py/csrc/bindings/exchange/NumPy.h"

#include <string>
#include <string_view>

#include "c10/dispatch/LocalState.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"
#include "torch_py/csrc/bindings/types/StorageType.h"

namespace torch::python {

namespace {

/// numpy.ndarray if NumPy has been imported, otherwise null; borrowed.
PyObject* ndarray_class() {
  static PyObject* type = nullptr;
  if (type != nullptr) return type;

  PyObject* modules = PyImport_GetModuleDict();
  PyObject* numpy = modules != nullptr ? PyDict_GetItemString(modules, "numpy") : nullptr;
  if (numpy == nullptr) return nullptr;
  type = PyObject_GetAttrString(numpy, "ndarray");
  if (type == nullptr) PyErr_Clear();  // NumPy is being imported right now

  return type;
}

struct NumPyType {
  std::string_view code;  // of __array_interface__, without byte order
  at::ScalarType dtype;
};

constexpr NumPyType numpy_types[] = {{"f4", at::kFloat},
                                     {"f8", at::kDouble},
                                     {"f2", at::kHalf},
                                     {"i8", at::kLong},
                                     {"i4", at::kInt},
                                     {"i2", at::kShort},
                                     {"i1", at::kChar},
                                     {"u1", at::kByte},
                                     {"b1", at::kBool},
                                     {"c8", at::kComplexFloat},
                                     {"c16", at::kComplexDouble},
                                     {"u2", at::kUInt16},
                                     {"u4", at::kUInt32},
                                     {"u8", at::kUInt64}};

[[noreturn]] void throw_unsupported(PyObject* array) {
  const ObjectPtr dtype = ObjectPtr::steal(checked(PyObject_GetAttrString(array, "dtype")));
  const ObjectPtr type = ObjectPtr::steal(checked(PyObject_GetAttrString(dtype.get(), "type")));
  throw_python(PyExc_TypeError,
               "can't convert np.ndarray of type %s. The only supported types are: float64, "
               "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, "
               "uint32, uint16, uint8, and bool.",
               reinterpret_cast<PyTypeObject*>(type.get())->tp_name);
}

/// The dtype of a type code with byte order ("<f4").
at::ScalarType dtype_of_code(PyObject* array, std::string_view code) {
  if (code.size() < 2) throw_unsupported(array);
  for (const NumPyType& type : numpy_types) {
    if (type.code != code.substr(1)) continue;
    TORCH_CHECK_VALUE(code[0] != '>', "given numpy array has byte order different from the native "
                                      "byte order. Conversion between byte orders is currently not "
                                      "supported.");
    return type.dtype;
  }
  throw_unsupported(array);
}

/// The content of __array_interface__, with strides counted in elements.
struct Layout {
  void* data = nullptr;
  bool readonly = false;
  at::ScalarType dtype = at::ScalarType::Undefined;
  at::DimVector sizes;
  at::DimVector strides;
};

at::DimVector read_tuple(PyObject* tuple) {
  at::DimVector values;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
    values.push_back(to_int64(PyTuple_GET_ITEM(tuple, i)));
  return values;
}

PyObject* entry(PyObject* dict, const char* key, bool (*check)(PyObject*)) {
  PyObject* value = PyDict_GetItemString(dict, key);
  if (value == nullptr || !check(value))
    throw_python(PyExc_TypeError, "__array_interface__ has no valid '%s'", key);
  return value;
}

Layout read_interface(PyObject* array) {
  const ObjectPtr interface =
      ObjectPtr::steal(checked(PyObject_GetAttrString(array, "__array_interface__")));
  if (!PyDict_Check(interface.get()))
    throw_python(PyExc_TypeError, "__array_interface__ must be a dict");

  const auto is_tuple = [](PyObject* object) { return static_cast<bool>(PyTuple_Check(object)); };
  const auto is_text = [](PyObject* object) { return static_cast<bool>(PyUnicode_Check(object)); };

  Layout layout;
  layout.dtype = dtype_of_code(array, to_string_view(entry(interface.get(), "typestr", is_text)));
  layout.sizes = read_tuple(entry(interface.get(), "shape", is_tuple));

  PyObject* data = entry(interface.get(), "data", is_tuple);
  if (PyTuple_GET_SIZE(data) != 2)
    throw_python(PyExc_TypeError, "__array_interface__ has no valid 'data'");
  layout.data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
  if (layout.data == nullptr && PyErr_Occurred()) throw PythonError();
  layout.readonly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) == 1;

  PyObject* strides = PyDict_GetItemString(interface.get(), "strides");
  if (strides == nullptr || strides == Py_None) {
    layout.strides = at::contiguous_strides(layout.sizes);
    return layout;
  }
  if (!PyTuple_Check(strides) ||
      PyTuple_GET_SIZE(strides) != static_cast<Py_ssize_t>(layout.sizes.size())) {
    throw_python(PyExc_TypeError, "__array_interface__ has no valid 'strides'");
  }

  // NumPy counts strides in bytes. Those of tensors are whole elements and not negative.
  const int64_t itemsize = static_cast<int64_t>(at::element_size(layout.dtype));
  for (const int64_t bytes : read_tuple(strides)) {
    TORCH_CHECK_VALUE(bytes % itemsize == 0,
                      "given numpy array strides not a multiple of the element byte size. Copy the "
                      "numpy array to reallocate the memory.");
    TORCH_CHECK_VALUE(bytes >= 0, "At least one stride in the given numpy array is negative, and "
                                  "tensors with negative strides are not currently supported. (You "
                                  "can probably work around this by making a copy of your array  "
                                  "with array.copy().) ");
    layout.strides.push_back(bytes / itemsize);
  }

  return layout;
}

/// numpy.ndarray; imports NumPy if necessary. Borrowed.
PyObject* import_ndarray_class() {
  if (PyObject* type = ndarray_class()) return type;

  const ObjectPtr numpy = ObjectPtr::steal(checked(PyImport_ImportModule("numpy")));
  PyObject* type = ndarray_class();
  if (type == nullptr) throw_python(PyExc_ImportError, "numpy has no ndarray");
  return type;
}

/// The numpy.dtype of a tensor's elements; borrowed, made once.
PyObject* numpy_dtype(at::ScalarType dtype) {
  TORCH_CHECK_TYPE(dtype != at::kBFloat16 && dtype != at::kComplexHalf && !at::is_float8(dtype),
                   "Got unsupported ScalarType ", at::scalar_type_name(dtype));

  static PyObject* dtypes[at::kNumScalarTypes] = {};
  PyObject*& known = dtypes[static_cast<int>(dtype)];
  if (known == nullptr) {
    const ObjectPtr numpy = ObjectPtr::steal(checked(PyImport_ImportModule("numpy")));
    known = checked(PyObject_CallMethod(numpy.get(), "dtype", "s", at::dtype_name(dtype)));
  }

  return known;
}

ObjectPtr int_tuple(at::IntArrayRef values, int64_t factor) {
  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(values[i] * factor));
  return tuple;
}

}  // namespace

bool is_numpy_array(PyObject* object) {
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyLong_CheckExact(object) ||
      PyFloat_CheckExact(object))
    return false;

  PyObject* type = ndarray_class();
  return type != nullptr && PyType_Check(type) &&
         PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type));
}

at::Tensor tensor_from_numpy(PyObject* array, bool warn_if_readonly) {
  if (!is_numpy_array(array))
    throw_python(PyExc_TypeError, "expected np.ndarray (got %s)", type_name(array));

  const Layout layout = read_interface(array);
  if (layout.readonly && warn_if_readonly) {
    warn_user("The given NumPy array is not writable, and PyTorch does not support non-writable "
              "tensors. This means writing to this tensor will result in undefined behavior. You "
              "may want to copy the array to protect its data or make it writable before "
              "converting it to a tensor.");
  }
  return tensor_on_foreign_memory(layout.data, layout.sizes, layout.strides, layout.dtype,
                                  ObjectPtr::borrow(array));
}

at::ScalarType dtype_of_numpy_scalar(PyObject* scalar) {
  const ObjectPtr dtype = ObjectPtr::steal(checked(PyObject_GetAttrString(scalar, "dtype")));
  const ObjectPtr code = ObjectPtr::steal(checked(PyObject_GetAttrString(dtype.get(), "str")));
  return dtype_of_code(scalar, to_string_view(code.get()));
}

PyObject* tensor_to_numpy(const at::Tensor& tensor) {
  TORCH_CHECK_TYPE(
      tensor.is_cpu(), "can't convert ", tensor.device(),
      " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
  TORCH_CHECK_TYPE(tensor.layout() == at::Layout::Strided, "can't convert ", tensor.layout(),
                   " layout tensor to numpy. Use Tensor.to_dense() first.");
  TORCH_CHECK(
      !tensor.requires_grad() || !c10::GradMode::is_enabled(),
      "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");

  PyObject* dtype = numpy_dtype(tensor.scalar_type());
  PyObject* type = import_ndarray_class();
  pin_memory_of(tensor);

  // An empty tensor may have an offset outside of its memory, which NumPy would refuse.
  const int64_t offset =
      tensor.numel() == 0 ? 0 : tensor.storage_offset() * static_cast<int64_t>(tensor.itemsize());
  const ObjectPtr shape = int_tuple(tensor.sizes(), 1);
  const ObjectPtr strides = int_tuple(
      tensor.strides(), tensor.numel() == 0 ? 0 : static_cast<int64_t>(tensor.itemsize()));

  const ObjectPtr storage = ObjectPtr::steal(wrap_storage(tensor.storage()));
  const ObjectPtr start = ObjectPtr::steal(wrap(offset));
  return checked(PyObject_CallFunctionObjArgs(type, shape.get(), dtype, storage.get(), start.get(),
                                              strides.get(), nullptr));
}

}  // namespace torch::python
