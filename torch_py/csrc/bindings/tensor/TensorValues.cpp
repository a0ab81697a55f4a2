// Elements of tensors as Python numbers and back: item, tolist, complex().
#include "torch_py/csrc/bindings/tensor/TensorValues.h"

#include "aten/ops/to.h"
#include "c10/core/OpaqueTensorImpl.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/calls/Waiting.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"

namespace torch::python {

namespace {

template <class T>
at::Scalar load(const void* address) {
  const T value = *static_cast<const T*>(address);

  if constexpr (at::is_complex(at::scalar_type_of<T>)) {
    return at::Scalar(c10::complex<double>(value.real(), value.imag()));
  } else if constexpr (std::is_same_v<T, bool>) {
    return at::Scalar(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return at::Scalar::from_unsigned(value);
  } else if constexpr (at::is_integral(at::scalar_type_of<T>, false)) {
    return at::Scalar(static_cast<int64_t>(value));
  } else {
    return at::Scalar(static_cast<double>(static_cast<at::opmath_type<T>>(value)));
  }
}

at::Scalar load_element(const void* address, at::ScalarType dtype) {
  switch (dtype) {
#define LOAD(type, name, python) \
  case at::ScalarType::name: return load<type>(address);
    TORCH_PY_FORALL_SCALAR_TYPES(LOAD)
#undef LOAD
    case at::ScalarType::Undefined: break;
  }
  TORCH_THROW(Error, "a tensor of undefined dtype has no values");
}

/// The elements from dimension `dim` on, as nested lists.
PyObject* to_list(const at::Tensor& tensor, const char* data, int64_t dim) {
  if (dim == tensor.dim()) return element_to_python(data, tensor.scalar_type());

  const int64_t size = tensor.sizes()[static_cast<size_t>(dim)];
  // No step is taken to a second element that does not exist; the stride may then be any number.
  const int64_t stride =
      size > 1 && tensor.numel() > 0 ? tensor.strides()[static_cast<size_t>(dim)] : 0;
  const int64_t step = stride * static_cast<int64_t>(tensor.itemsize());

  ObjectPtr list = ObjectPtr::steal(checked(PyList_New(size)));
  for (int64_t i = 0; i < size; ++i)
    PyList_SET_ITEM(list.get(), i, to_list(tensor, data + i * step, dim + 1));

  return list.release();
}

/// Whether asking for an element is a call that somebody in Python, or a function transform,
/// handles.
bool is_handled_by_others(const at::Tensor& tensor) {
  constexpr auto kKeys =
      c10::DispatchKeySet(c10::DispatchKey::Python) | c10::DispatchKey::Transform;
  return c10::effective_keys(tensor.key_set()).has_any(kKeys);
}

/// The tensor, or a copy of it that the host can read.
at::Tensor on_cpu(const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(!tensor.is_meta(), "Cannot copy out of meta tensor; no data!");
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::Layout::Strided,
                              "Could not run 'item' with arguments from the 'MkldnnCPU' backend. "
                              "Use to_dense() first.");
  if (tensor.is_cpu()) return tensor;

  return unlocked_while_waiting(
      [&] {
        const at::NoGradGuard no_grad;
        return at::to(tensor, std::nullopt, std::nullopt, at::kCPU, std::nullopt, false, false,
                      std::nullopt);
      },
      tensor);
}

PyObject* tolist(PyObject* self, PyObject*) {
  if (is_intercepted(self)) return call_method_override("tolist", self, nullptr, 0);
  TORCH_PY_TRY
  c10::check_has_data(*unpack(self).unsafe_impl());
  const at::Tensor tensor = on_cpu(unpack(self));
  return to_list(tensor, static_cast<const char*>(tensor.data()), 0);
  TORCH_PY_CATCH(nullptr)
}

PyObject* item(PyObject* self, PyObject*) {
  if (is_intercepted(self)) return call_method_override("item", self, nullptr, 0);
  TORCH_PY_TRY
  const at::Tensor& tensor = unpack(self);
  TORCH_CHECK(!tensor.is_meta(), "Tensor.item() cannot be called on meta tensors");
  TORCH_CHECK(tensor.numel() == 1, "a Tensor with ", tensor.numel(),
              " elements cannot be converted to Scalar");

  if (C10_UNLIKELY(is_handled_by_others(tensor))) return from_scalar(tensor.item());

  const at::Tensor host = on_cpu(tensor);
  return element_to_python(host.data(), host.scalar_type());
  TORCH_PY_CATCH(nullptr)
}

PyObject* to_complex(PyObject* self, PyObject*) {
  if (is_intercepted(self)) return call_method_override("__complex__", self, nullptr, 0);
  TORCH_PY_TRY
  const c10::complex<double> value = single_value(unpack(self)).to_complex_double();
  return PyComplex_FromDoubles(value.real(), value.imag());
  TORCH_PY_CATCH(nullptr)
}

uint64_t to_uint64(PyObject* number) {
  const uint64_t value = PyLong_AsUnsignedLongLong(number);
  if (value == static_cast<uint64_t>(-1) && PyErr_Occurred()) throw PythonError();
  return value;
}

template <class T>
void store(void* address, PyObject* number) {
  if constexpr (at::is_complex(at::scalar_type_of<T>)) {
    const Py_complex value = PyComplex_AsCComplex(number);
    if (value.real == -1.0 && PyErr_Occurred()) throw PythonError();
    using part = typename T::value_type;
    *static_cast<T*>(address) = T(static_cast<part>(value.real), static_cast<part>(value.imag));

  } else if constexpr (at::is_floating(at::scalar_type_of<T>)) {
    const double value = PyLong_Check(number) ? PyFloat_AsDouble(number) : to_double(number);
    if (value == -1.0 && PyErr_Occurred()) throw PythonError();
    *static_cast<T*>(address) = at::convert<T>(value);

  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if (!PyIndex_Check(number)) throw_python(PyExc_TypeError, "an integer is required");
    const ObjectPtr integer = ObjectPtr::steal(checked(PyNumber_Index(number)));
    *static_cast<T*>(address) = to_uint64(integer.get());

  } else {
    const bool is_integer = PyLong_Check(number) && !PyBool_Check(number);
    *static_cast<T*>(address) =
        (is_integer ? at::Scalar(to_int64(number)) : to_scalar(number)).template to<T>();
  }
}

}  // namespace

PyObject* element_to_python(const void* address, at::ScalarType dtype) {
  return from_scalar(load_element(address, dtype));
}

void element_from_python(void* address, at::ScalarType dtype, PyObject* number) {
  if (!is_scalar(number))
    throw_python(PyExc_TypeError, "must be real number, not %s", type_name(number));
  if (PyComplex_Check(number) && !at::is_complex(dtype))
    throw_python(PyExc_TypeError, "must be real number, not complex");

  switch (dtype) {
#define STORE(type, name, python) \
  case at::ScalarType::name: return store<type>(address, number);
    TORCH_PY_FORALL_SCALAR_TYPES(STORE)
#undef STORE
    case at::ScalarType::Undefined: break;
  }
  TORCH_THROW(Error, "a tensor of undefined dtype has no values");
}

at::Scalar single_value(const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.numel() == 1,
                    "only one element tensors can be converted to Python scalars");
  if (C10_UNLIKELY(is_handled_by_others(tensor))) return tensor.item();

  const at::Tensor host = on_cpu(tensor);
  return load_element(host.data(), host.scalar_type());
}

PyMethodDef tensor_value_methods[] = {{"item", item, METH_NOARGS, texts::Tensor_item},
                                      {"tolist", tolist, METH_NOARGS, texts::Tensor_tolist},
                                      {"__complex__", to_complex, METH_NOARGS, nullptr},
                                      {nullptr, nullptr, 0, nullptr}};

}  // namespace torch::python
