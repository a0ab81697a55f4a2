// torch.tensor, as_tensor, asarray, from_numpy and frombuffer.
#include "torch_py/csrc/bindings/tensor/TensorFactory.h"

#include <cstring>
#include <memory>

#include "aten/core/Allocation.h"
#include "aten/ops/to.h"
#include "torch_py/csrc/autograd/AutogradMeta.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"
#include "torch_py/csrc/bindings/exchange/NumPy.h"
#include "torch_py/csrc/bindings/state/DefaultDevice.h"
#include "torch_py/csrc/bindings/tensor/TensorData.h"

namespace torch::python {

namespace {

// --- tensor, as_tensor ---

constexpr Parameter tensor_parameters[] = {
    {"data", Kind::Any},
    {"dtype", Kind::ScalarType, kOptional | kNullable | kKeywordOnly},
    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly},
    {"pin_memory", Kind::Bool, kOptional | kKeywordOnly},
    {"requires_grad", Kind::Bool, kOptional | kKeywordOnly}};
constexpr Signature tensor_signatures[] = {
    {"tensor(object data, *, torch.dtype dtype = None, torch.device device = None, bool pin_memory "
     "= False, bool requires_grad = False)",
     tensor_parameters, 5}};
constinit Function tensor_function = {"tensor", "_C", tensor_signatures, 1};

PyObject* tensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(tensor_function, nullptr, args, nargs, kwnames) == kOverridden)
    return call.call_override(tensor_function);

  if (is_tensor(call.object(0))) {
    warn_user("To copy construct from a tensor, it is recommended to use "
              "sourceTensor.detach().clone() or "
              "sourceTensor.detach().clone().requires_grad_(True), rather than "
              "torch.tensor(sourceTensor).");
  }

  at::Tensor result =
      tensor_from_data(call.object(0), {call.optional_dtype(1), device_of_new(call, 2), true});
  if (call.boolean(3, false)) result = at::pinned(result);
  return wrap(with_requires_grad(std::move(result), call.boolean(4, false)));
  TORCH_PY_CATCH(nullptr)
}

constexpr Parameter as_tensor_parameters[] = {{"data", Kind::Any},
                                              {"dtype", Kind::ScalarType, kOptional | kNullable},
                                              {"device", Kind::Device, kOptional | kNullable}};
constexpr Signature as_tensor_signatures[] = {
    {"as_tensor(object data, torch.dtype dtype = None, torch.device device = None)",
     as_tensor_parameters, 3}};
constinit Function as_tensor_function = {"as_tensor", "_C", as_tensor_signatures, 1};

PyObject* as_tensor(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(as_tensor_function, nullptr, args, nargs, kwnames) == kOverridden)
    return call.call_override(as_tensor_function);

  PyObject* data = call.object(0);
  const auto dtype = call.optional_dtype(1);
  const auto device = device_of_new(call, 2);
  if (is_tensor(data)) {
    return wrap(at::to(unpack(data), dtype, std::nullopt, device, std::nullopt, false, false,
                       std::nullopt));
  }
  return wrap(tensor_from_data(data, {dtype, device, false}));
  TORCH_PY_CATCH(nullptr)
}

// --- asarray ---

constexpr Parameter asarray_parameters[] = {
    {"obj", Kind::Any},
    {"dtype", Kind::ScalarType, kOptional | kNullable | kKeywordOnly},
    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly},
    {"copy", Kind::Bool, kOptional | kNullable | kKeywordOnly},
    {"requires_grad", Kind::Bool, kOptional | kKeywordOnly}};
constexpr Signature asarray_signatures[] = {
    {"asarray(object obj, *, torch.dtype dtype = None, torch.device device = None, bool copy = "
     "None, bool requires_grad = False)",
     asarray_parameters, 5}};
constinit Function asarray_function = {"asarray", "_C", asarray_signatures, 1};

/// A tensor on the object's memory; null if the object cannot share its memory.
ObjectPtr tensor_on_memory_of(PyObject* object) {
  if (is_tensor(object)) return ObjectPtr::borrow(object);
  if (is_numpy_array(object)) return ObjectPtr::steal(wrap(tensor_from_numpy(object)));
  if (!PyObject_HasAttrString(object, "__dlpack__")) return {};
  const ObjectPtr core = ObjectPtr::steal(checked(PyImport_ImportModule("torch_py._C")));
  return ObjectPtr::steal(checked(PyObject_CallMethod(core.get(), "from_dlpack", "O", object)));
}

at::Tensor bytes_as_tensor(PyObject* object, at::ScalarType dtype);

PyObject* asarray(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(asarray_function, nullptr, args, nargs, kwnames) == kOverridden)
    return call.call_override(asarray_function);

  PyObject* object = call.object(0);
  const auto dtype = call.optional_dtype(1);
  const auto device = device_of_new(call, 2);
  const bool must_copy = call.boolean(3, false);
  const bool may_copy = call.boolean(3, true);

  // Objects without memory to share are always copied.
  const ObjectPtr shared = tensor_on_memory_of(object);
  if (!shared) {
    TORCH_CHECK_VALUE(may_copy, "can't alias arbitrary sequence into a tensor.");
    const bool is_bytes = PyBytes_Check(object) || PyByteArray_Check(object);
    at::Tensor result = is_bytes
                            ? bytes_as_tensor(object, dtype.value_or(at::default_dtype())).clone()
                            : tensor_from_data(object, {dtype, device, true});

    return wrap(with_requires_grad(std::move(result), call.boolean(4, false)));
  }

  const at::Tensor& source = unpack(shared.get());
  TORCH_CHECK_VALUE(may_copy || dtype.value_or(source.scalar_type()) == source.scalar_type(),
                    "can't alias tensor with dtype '", source.scalar_type(), "' into dtype '",
                    dtype.value_or(source.scalar_type()), "'.");

  at::Tensor result =
      at::to(source, dtype, std::nullopt, device, std::nullopt, false, must_copy, std::nullopt);

  if (result.requires_grad() && !call.boolean(4, false)) result = torch::autograd::detach(result);
  return wrap(result.requires_grad() ? result : with_requires_grad(result, call.boolean(4, false)));
  TORCH_PY_CATCH(nullptr)
}

PyObject* from_numpy(PyObject*, PyObject* array) {
  TORCH_PY_TRY
  return wrap(tensor_from_numpy(array));
  TORCH_PY_CATCH(nullptr)
}

// --- frombuffer ---

constexpr Parameter buffer_parameters[] = {{"buffer", Kind::Any},
                                           {"dtype", Kind::ScalarType, kKeywordOnly},
                                           {"count", Kind::Int, kOptional | kKeywordOnly},
                                           {"offset", Kind::Int, kOptional | kKeywordOnly},
                                           {"requires_grad", Kind::Bool, kOptional | kKeywordOnly}};
constexpr Signature buffer_signatures[] = {
    {"frombuffer(object buffer, *, torch.dtype dtype, int count = -1, int offset = 0, bool "
     "requires_grad = False)",
     buffer_parameters, 5}};
constinit Function buffer_function = {"frombuffer", "_C", buffer_signatures, 1};

/// Keeps a buffer exported while a tensor uses its memory, so that a bytearray cannot be resized.
struct BufferOwner {
  explicit BufferOwner(PyObject* object) {
    if (!PyObject_CheckBuffer(object))
      throw_python(PyExc_ValueError, "object does not implement Python buffer protocol.");
    if (PyObject_GetBuffer(object, &view, PyBUF_WRITABLE) == 0) return;

    PyErr_Clear();
    check_status(PyObject_GetBuffer(object, &view, PyBUF_SIMPLE));
    readonly = true;
  }
  ~BufferOwner() { PyBuffer_Release(&view); }
  BufferOwner(const BufferOwner&) = delete;
  BufferOwner& operator=(const BufferOwner&) = delete;

  static void release(void* owner) {
    if (python_has_ended()) return;
    const GilAcquire gil;
    delete static_cast<BufferOwner*>(owner);
  }

  Py_buffer view = {};
  bool readonly = false;
};

/// The number of elements to read, checked against the length of the buffer.
int64_t element_count(int64_t length, int64_t itemsize, int64_t count, int64_t offset) {
  TORCH_CHECK_VALUE(length > 0 && count != 0, "both buffer length (", length, ") and count (",
                    count, ") must not be 0");
  TORCH_CHECK_VALUE(offset >= 0 && offset < length, "offset (", offset,
                    " bytes) must be non-negative and no greater than buffer length (", length,
                    " bytes) minus 1");

  const int64_t rest = length - offset;
  TORCH_CHECK_VALUE(count > 0 || rest % itemsize == 0, "buffer length (", rest,
                    " bytes) after offset (", offset,
                    " bytes) must be a multiple of element size (", itemsize, ")");
  TORCH_CHECK_VALUE(count <= rest / itemsize, "requested buffer length (", count, " * ", itemsize,
                    " bytes) after offset (", offset,
                    " bytes) must not be greater than actual buffer length (", length, " bytes)");

  return count < 0 ? rest / itemsize : count;
}

at::Tensor tensor_on_buffer(std::unique_ptr<BufferOwner> owner, at::ScalarType dtype, int64_t count,
                            int64_t offset) {
  const int64_t elements =
      element_count(owner->view.len, static_cast<int64_t>(at::element_size(dtype)), count, offset);

  char* data = static_cast<char*>(owner->view.buf) + offset;
  if (reinterpret_cast<uintptr_t>(data) % at::element_size(dtype) != 0) {
    // Loops may use instructions that fault on unaligned addresses.
    warn_user("frombuffer(): the memory is not aligned to elements of the dtype, so the tensor is "
              "a copy of it");
    const at::Tensor copy = at::empty_real_tensor({elements}, dtype, at::kCPU);
    std::memcpy(copy.data(), data, static_cast<size_t>(elements) * at::element_size(dtype));
    return copy;
  }

  at::DataPtr pointer(data, owner.release(), BufferOwner::release, at::kCPU);
  return tensor_on_foreign_memory(std::move(pointer), {elements}, {int64_t{1}}, dtype);
}

at::Tensor bytes_as_tensor(PyObject* object, at::ScalarType dtype) {
  return tensor_on_buffer(std::make_unique<BufferOwner>(object), dtype, -1, 0);
}

PyObject* frombuffer(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(buffer_function, nullptr, args, nargs, kwnames) == kOverridden)
    return call.call_override(buffer_function);

  // The tensor takes over the owner, unless the tensor is a copy.
  auto owner = std::make_unique<BufferOwner>(call.object(0));
  if (owner->readonly) {
    warn_user("The given buffer is not writable, and PyTorch does not support non-writable "
              "tensors. This means you can write to the underlying (supposedly non-writable) "
              "buffer using the tensor. You may want to copy the buffer to protect its data or "
              "make it writable before converting it to a tensor.");
  }

  at::Tensor result =
      tensor_on_buffer(std::move(owner), call.dtype(1), call.integer(2, -1), call.integer(3, 0));
  return wrap(with_requires_grad(std::move(result), call.boolean(4, false)));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"tensor", as_method(tensor), METH_FASTCALL | METH_KEYWORDS, texts::torch_tensor},
    {"as_tensor", as_method(as_tensor), METH_FASTCALL | METH_KEYWORDS, texts::torch_as_tensor},
    {"asarray", as_method(asarray), METH_FASTCALL | METH_KEYWORDS, texts::torch_asarray},
    {"from_numpy", from_numpy, METH_O, texts::torch_from_numpy},
    {"frombuffer", as_method(frombuffer), METH_FASTCALL | METH_KEYWORDS, texts::torch_frombuffer},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_tensor_factory(PyObject* module) {
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
