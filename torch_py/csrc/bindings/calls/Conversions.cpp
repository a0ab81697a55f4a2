// Converts single Python objects to C++ values and numbers back to Python.
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "c10/core/Generator.h"

#include <cstdarg>
#include <cstring>

#include "c10/core/DeviceHooks.h"
#include "c10/dispatch/LocalState.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"
#include "torch_py/csrc/bindings/types/Dtype.h"
#include "torch_py/csrc/bindings/types/GeneratorType.h"

namespace torch::python {

namespace {

/// A 0-dim tensor counts as a number unless it requires grad.
bool is_zero_dim_value(PyObject* object) {
  if (!is_tensor(object)) return false;
  const at::Tensor& tensor = unpack(object);
  // A tensor inside of a function transform says itself whether it has a value.
  return tensor.dim() == 0 &&
         (!tensor.requires_grad() || tensor.key_set().has(c10::DispatchKey::Transform));
}

at::Scalar item_of(PyObject* tensor) {
  const at::NoGradGuard no_grad;
  return unpack(tensor).item();
}

}  // namespace

void throw_python(PyObject* type, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(type, format, arguments);
  va_end(arguments);
  throw PythonError();
}

const char* type_name(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensor_class) return "Tensor";
  const char* name = type->tp_name;
  if (std::strncmp(name, "torch_py.", 9) != 0) return name;

  // "torch_py._C.device" reads as it would in the user's program: torch.device.
  static thread_local std::string text;
  const char* last = std::strrchr(name, '.');
  text = std::string("torch") + last;
  return text.c_str();
}

bool is_numpy_scalar(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  return std::strncmp(type->tp_name, "numpy.", 6) == 0 && type->tp_as_number != nullptr &&
         type->tp_as_number->nb_float != nullptr &&
         std::strcmp(type->tp_name, "numpy.ndarray") != 0;
}

bool is_int(PyObject* object) {
  if (PyLong_CheckExact(object)) return true;
  if (PyBool_Check(object)) return false;
  if (PyLong_Check(object)) return true;
  if (is_tensor(object))
    return is_zero_dim_value(object) && at::is_integral(unpack(object).scalar_type(), false);
  return PyIndex_Check(object) &&
         (is_numpy_scalar(object) || std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) != 0);
}

bool is_float(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) || is_numpy_scalar(object) ||
         is_zero_dim_value(object) || (PyIndex_Check(object) && is_int(object));
}

bool is_bool(PyObject* object) {
  if (PyBool_Check(object)) return true;
  const char* name = Py_TYPE(object)->tp_name;
  if (std::strcmp(name, "numpy.bool") == 0 || std::strcmp(name, "numpy.bool_") == 0) return true;
  return is_zero_dim_value(object) && unpack(object).scalar_type() == at::kBool;
}

bool is_scalar(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object) ||
         is_bool(object) || is_float(object);
}

bool is_dtype(PyObject* object) {
  if (Py_TYPE(object) == &DtypeType) return true;
  return object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

bool is_device(PyObject* object) {
  return Py_TYPE(object) == &DeviceObjectType || PyUnicode_Check(object) ||
         (PyLong_Check(object) && !PyBool_Check(object));
}

bool is_layout(PyObject* object) { return Py_TYPE(object) == &LayoutType; }
bool is_memory_format(PyObject* object) { return Py_TYPE(object) == &MemoryFormatType; }
bool is_generator(PyObject* object) { return PyObject_TypeCheck(object, &GeneratorType); }

int64_t to_int64_slow(PyObject* object) {
  if (is_tensor(object)) {
    if (!is_int(object))
      throw_python(PyExc_TypeError,
                   "only integer tensors of a single element can be converted to an index");
    return item_of(object).to_long();
  }

  const ObjectPtr index = ObjectPtr::steal(checked(PyNumber_Index(object)));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) throw_python(PyExc_ValueError, "Overflow when unpacking long long");
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

double to_double(PyObject* object) {
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
  if (is_tensor(object)) return item_of(object).to_double();

  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
      throw_python(PyExc_ValueError, "Overflow when unpacking double");
    throw PythonError();
  }
  return value;
}

bool to_bool(PyObject* object) {
  if (object == Py_True) return true;
  if (object == Py_False) return false;
  if (is_tensor(object)) return item_of(object).to_bool();

  const int truth = PyObject_IsTrue(object);
  check_status(truth);
  return truth != 0;
}

at::Scalar to_scalar(PyObject* object) {
  if (PyFloat_CheckExact(object)) return at::Scalar(PyFloat_AS_DOUBLE(object));
  if (PyBool_Check(object)) return at::Scalar(object == Py_True);
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow > 0) {
      // It may still fit an unsigned one.
      const unsigned long long large = PyLong_AsUnsignedLongLong(object);
      if (!PyErr_Occurred()) return at::Scalar::from_unsigned(large);
      PyErr_Clear();
    }
    if (overflow != 0) throw_python(PyExc_OverflowError, "int too big to convert");
    if (value == -1 && PyErr_Occurred()) throw PythonError();
    return at::Scalar(value);
  }

  if (PyComplex_Check(object)) {
    return at::Scalar(
        c10::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
  }

  // Subclasses of the built-in numbers, 0-dim tensors and NumPy's scalars.
  if (is_tensor(object)) return item_of(object);
  if (PyFloat_Check(object)) return at::Scalar(PyFloat_AS_DOUBLE(object));
  if (is_bool(object)) return at::Scalar(to_bool(object));
  if (PyIndex_Check(object)) return at::Scalar(to_int64_slow(object));
  if (is_numpy_scalar(object) && PyObject_HasAttrString(object, "imag") &&
      std::strstr(Py_TYPE(object)->tp_name, "complex")) {
    const Py_complex value = PyComplex_AsCComplex(object);
    if (value.real == -1.0 && PyErr_Occurred()) throw PythonError();
    return at::Scalar(c10::complex<double>(value.real, value.imag));
  }
  return at::Scalar(to_double(object));
}

std::string_view to_string_view(PyObject* object) {
  if (!PyUnicode_Check(object))
    throw_python(PyExc_TypeError, "expected a string, got %s", type_name(object));

  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (text == nullptr) throw PythonError();
  return {text, static_cast<size_t>(length)};
}

at::ScalarType to_dtype(PyObject* object) {
  if (Py_TYPE(object) == &DtypeType) return reinterpret_cast<DtypeObject*>(object)->dtype;
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return at::kDouble;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return at::kLong;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return at::kBool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return at::kComplexDouble;
  throw_python(PyExc_TypeError, "expected a torch.dtype, got %s", type_name(object));
}

at::Layout to_layout(PyObject* object) {
  if (!is_layout(object))
    throw_python(PyExc_TypeError, "expected a torch.layout, got %s", type_name(object));
  return reinterpret_cast<LayoutObject*>(object)->layout;
}

at::MemoryFormat to_memory_format(PyObject* object) {
  if (!is_memory_format(object))
    throw_python(PyExc_TypeError, "expected a torch.memory_format, got %s", type_name(object));
  return reinterpret_cast<MemoryFormatObject*>(object)->format;
}

at::Device to_device(PyObject* object) {
  if (Py_TYPE(object) == &DeviceObjectType) return reinterpret_cast<DeviceObject*>(object)->device;
  if (PyUnicode_Check(object)) return at::Device(to_string_view(object));
  if (!PyLong_Check(object) || PyBool_Check(object))
    throw_python(PyExc_TypeError, "expected a torch.device, got %s", type_name(object));

  const int64_t index = to_int64(object);
  TORCH_CHECK(index >= 0, "Device index must not be negative, got ", index);
  TORCH_CHECK(index < 128, "Device index must be less than 128, got ", index);

  for (const c10::DeviceType type : {c10::DeviceType::CUDA, c10::DeviceType::PrivateUse1}) {
    c10::DeviceHooks* const hooks = c10::device_hooks_or_null(type);
    if (hooks != nullptr && hooks->device_count() > 0)
      return at::Device(type, static_cast<c10::DeviceIndex>(index));
  }
  TORCH_CHECK(false,
              "Cannot access accelerator device when none is available: a number as a device (",
              index, ") means an accelerator");
}

at::Generator* to_generator(PyObject* object) {
  if (!is_generator(object))
    throw_python(PyExc_TypeError, "expected a torch.Generator, got %s", type_name(object));
  return reinterpret_cast<GeneratorObject*>(object)->generator;
}

void to_bool_array(PyObject* object, bool* values, size_t count) {
  if (!is_sequence(object) || static_cast<size_t>(sequence_length(object)) != count) {
    throw_python(PyExc_TypeError, "expected a tuple of %zu bools, got %s", count,
                 type_name(object));
  }

  for (size_t i = 0; i < count; ++i)
    values[i] = to_bool(sequence_item(object, static_cast<Py_ssize_t>(i)));
}

PyObject* from_scalar(const at::Scalar& value) {
  switch (value.kind()) {
    case at::Scalar::Kind::Bool: return PyBool_FromLong(value.to_bool());
    case at::Scalar::Kind::Int: return checked(PyLong_FromLongLong(value.to_long()));
    case at::Scalar::Kind::Double: return checked(PyFloat_FromDouble(value.to_double()));
    case at::Scalar::Kind::Unsigned:
      return checked(PyLong_FromUnsignedLongLong(value.to<uint64_t>()));
    case at::Scalar::Kind::Complex: break;
  }

  const c10::complex<double> number = value.to_complex_double();
  return checked(PyComplex_FromDoubles(number.real(), number.imag()));
}

}  // namespace torch::python
