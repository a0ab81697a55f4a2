// Tensors from nested Python sequences. The shape comes from the first elements, the dtype from
// all; then one pass writes the values.
#include "torch_py/csrc/bindings/tensor/TensorData.h"

#include <atomic>

#include "aten/core/Warning.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/to.h"
#include "torch_py/csrc/autograd/AutogradMeta.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/exchange/NumPy.h"
#include "torch_py/csrc/bindings/tensor/TensorValues.h"

namespace torch::python {

namespace {

constexpr size_t kMaxDims = 64;

/// Whether the object counts as a sequence, one dimension of the result.
bool is_nested(PyObject* object) {
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) return true;
  if (is_tensor(object)) return unpack(object).dim() > 0 && unpack(object).numel() != 1;
  return PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) &&
         !is_numpy_scalar(object);
}

/// The items of a sequence; the sequence itself if it is a list or tuple.
ObjectPtr items_of(PyObject* sequence) {
  return ObjectPtr::steal(checked(PySequence_Fast(sequence, "expected a sequence")));
}

/// Warns, once per process, that every element of the arrays becomes a Python number on the way.
void warn_of_arrays(PyObject* items) {
  static std::atomic<bool> warned{false};
  if (sequence_length(items) == 0 || !is_numpy_array(sequence_item(items, 0)) ||
      warned.exchange(true))
    return;
  at::warn("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
           "converting the list to a single ",
           "numpy.ndarray with numpy.array() before converting to a tensor.");
}

at::DimVector shape_of(PyObject* data) {
  at::DimVector sizes;
  ObjectPtr level = ObjectPtr::borrow(data);

  while (is_nested(level.get())) {
    if (is_tensor(level.get())) {
      sizes.append(unpack(level.get()).sizes());
      break;
    }

    TORCH_CHECK_VALUE(sizes.size() < kMaxDims, "too many dimensions '",
                      Py_TYPE(level.get())->tp_name, "'");

    const ObjectPtr items = items_of(level.get());
    const Py_ssize_t length = sequence_length(items.get());
    warn_of_arrays(items.get());
    sizes.push_back(length);
    if (length == 0) break;
    level = ObjectPtr::borrow(sequence_item(items.get(), 0));
  }

  return sizes;
}

at::ScalarType dtype_of_number(PyObject* object) {
  if (PyFloat_CheckExact(object)) return at::default_dtype();
  if (PyBool_Check(object)) return at::kBool;
  if (PyLong_Check(object)) return at::kLong;
  if (is_tensor(object)) return unpack(object).scalar_type();
  if (is_numpy_scalar(object)) return dtype_of_numpy_scalar(object);
  if (PyFloat_Check(object)) return at::default_dtype();
  if (PyComplex_Check(object)) return at::to_complex(at::default_dtype());
  if (PyUnicode_Check(object) || PyBytes_Check(object))
    throw_python(PyExc_TypeError, "new(): invalid data type '%s'", type_name(object));
  throw_python(PyExc_RuntimeError, "Could not infer dtype of %s", type_name(object));
}

/// The promoted dtype of all elements.
at::ScalarType infer_dtype(PyObject* data, size_t depth = 0) {
  if (is_tensor(data) || !is_nested(data)) return dtype_of_number(data);
  TORCH_CHECK_VALUE(depth < kMaxDims, "too many dimensions '", Py_TYPE(data)->tp_name, "'");

  const ObjectPtr items = items_of(data);

  at::ScalarType dtype = at::ScalarType::Undefined;
  for (Py_ssize_t i = 0; i < sequence_length(items.get()); ++i) {
    const ObjectPtr item = ObjectPtr::borrow(sequence_item(items.get(), i));
    dtype = at::promote_types(dtype, infer_dtype(item.get(), depth + 1));
    if (dtype == at::kComplexDouble) break;
  }

  return dtype == at::ScalarType::Undefined ? at::default_dtype() : dtype;
}

/// The tensor that is being filled.
struct Destination {
  at::IntArrayRef sizes;
  at::ScalarType dtype;
  int64_t itemsize;
};

void write_value(char* address, const Destination& to, PyObject* object) {
  if (is_tensor(object)) {
    // Subclasses are asked themselves: members of a batch (vmap) have no single value.
    const bool plain = is_plain_tensor(object);
    const ObjectPtr number =
        ObjectPtr::steal(plain ? from_scalar(single_value(unpack(object)))
                               : checked(PyObject_CallMethod(object, "item", nullptr)));
    return element_from_python(address, to.dtype, number.get());
  }

  if (PyUnicode_Check(object) || PyBytes_Check(object))
    throw_python(PyExc_TypeError, "new(): invalid data type '%s'", type_name(object));
  element_from_python(address, to.dtype, object);
}

/// Writes `data` at `address` and returns the address after it.
char* write(char* address, const Destination& to, size_t dim, PyObject* data) {
  if (dim == to.sizes.size()) {
    TORCH_CHECK_VALUE(is_tensor(data) || !is_nested(data), "expected a number at dim ", dim,
                      " (got ", type_name(data), ")");
    write_value(address, to, data);
    return address + to.itemsize;
  }

  if (!is_nested(data)) {
    throw_python(PyExc_TypeError, "expected a sequence of length %lld at dim %zu (got %s)",
                 static_cast<long long>(to.sizes[dim]), dim, type_name(data));
  }
  const ObjectPtr items = items_of(data);
  const Py_ssize_t length = sequence_length(items.get());
  TORCH_CHECK_VALUE(length == to.sizes[dim], "expected sequence of length ", to.sizes[dim],
                    " at dim ", dim, " (got ", length, ")");

  for (Py_ssize_t i = 0; i < length; ++i) {
    // Reading a number may run Python code that shortens the list.
    TORCH_CHECK_VALUE(i < sequence_length(items.get()), "the sequence changed while it was read");
    const ObjectPtr item = ObjectPtr::borrow(sequence_item(items.get(), i));
    address = write(address, to, dim + 1, item.get());
  }

  return address;
}

/// Converts to the dtype and device that the options name.
at::Tensor adapt(const at::Tensor& source, const DataOptions& options) {
  const at::NoGradGuard no_grad;
  return at::to(source, options.dtype, std::nullopt, options.device, std::nullopt, false,
                options.copy, std::nullopt);
}

}  // namespace

at::Tensor tensor_from_sequence(PyObject* data, std::optional<at::ScalarType> dtype) {
  const at::DimVector sizes = shape_of(data);
  const at::ScalarType type = dtype.has_value() ? *dtype : infer_dtype(data);

  const at::Tensor tensor = at::empty_real_tensor(sizes, type, at::kCPU);
  const Destination to{tensor.sizes(), type, static_cast<int64_t>(tensor.itemsize())};
  write(static_cast<char*>(tensor.data()), to, 0, data);

  return at::native::lifted(tensor);
}

at::Tensor tensor_from_data(PyObject* data, const DataOptions& options) {
  if (is_tensor(data)) return adapt(torch::autograd::detach(unpack(data)), options);

  DataOptions fresh = options;
  if (is_numpy_array(data)) {
    // Only as_tensor, which shares the memory, warns of a read-only array.
    const at::Tensor tensor = tensor_from_numpy(data, /*warn_if_readonly=*/!options.copy);
    return adapt(at::native::lifted(tensor), options);
  }

  if (!PyList_Check(data) && !PyTuple_Check(data) && PyObject_HasAttrString(data, "iloc")) {
    // Iterating over a pandas column would give Python numbers and lose the dtype.
    const ObjectPtr array =
        ObjectPtr::steal(checked(PyObject_CallMethod(data, "__array__", nullptr)));
    if (is_numpy_array(array.get())) return adapt(tensor_from_numpy(array.get(), false), options);
  }

  if (!PyList_Check(data) && !PyTuple_Check(data) && !PyLong_Check(data) && !PyFloat_Check(data) &&
      PyObject_HasAttrString(data, "__cuda_array_interface__")) {
    const ObjectPtr module =
        ObjectPtr::steal(checked(PyImport_ImportModule("torch_py._cuda_arrays")));
    const ObjectPtr tensor =
        ObjectPtr::steal(checked(PyObject_CallMethod(module.get(), "tensor_on", "O", data)));
    return adapt(unpack(tensor.get()), options);
  }

  fresh.copy = false;
  return adapt(tensor_from_sequence(data, options.dtype), fresh);
}

}  // namespace torch::python
