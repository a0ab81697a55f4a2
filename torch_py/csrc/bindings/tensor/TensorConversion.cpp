// Tensor.to, type and cpu: conversion to another dtype, device or memory format.
#include <string>

#include "aten/ops/to.h"
#include "c10/core/DeviceHooks.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/calls/Waiting.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"

namespace torch::python {

namespace {

// The signatures are PyTorch's Python ones, in which `device` may be None. Those in
// native_functions.yaml are the C++ side.
constexpr Parameter to_dtype_parameters[] = {
    {"self", Kind::Tensor},
    {"dtype", Kind::ScalarType},
    {"non_blocking", Kind::Bool, kOptional},
    {"copy", Kind::Bool, kOptional},
    {"memory_format", Kind::MemoryFormat, kOptional | kNullable | kKeywordOnly}};
constexpr Parameter to_device_parameters[] = {
    {"self", Kind::Tensor},
    {"device", Kind::Device, kOptional | kNullable},
    {"dtype", Kind::ScalarType, kOptional | kNullable},
    {"non_blocking", Kind::Bool, kOptional},
    {"copy", Kind::Bool, kOptional},
    {"memory_format", Kind::MemoryFormat, kOptional | kNullable | kKeywordOnly}};
constexpr Parameter to_other_parameters[] = {
    {"self", Kind::Tensor},
    {"other", Kind::Tensor},
    {"non_blocking", Kind::Bool, kOptional},
    {"copy", Kind::Bool, kOptional},
    {"memory_format", Kind::MemoryFormat, kOptional | kNullable | kKeywordOnly}};
constexpr Signature to_signatures[] = {
    {"to(torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format "
     "memory_format = None)",
     to_dtype_parameters, 5, 0},
    {"to(torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool "
     "copy = False, *, torch.memory_format memory_format = None)",
     to_device_parameters, 6, 0},
    {"to(Tensor other, bool non_blocking = False, bool copy = False, *, torch.memory_format "
     "memory_format = None)",
     to_other_parameters, 5, 0}};
constinit Function to_function = {"to", "Tensor", to_signatures, 3};

/// The properties that a conversion asks for.
struct Target {
  std::optional<at::ScalarType> dtype;
  std::optional<at::Device> device;
  bool non_blocking = false;
  bool copy = false;
  std::optional<at::MemoryFormat> format;
};

/// Whether the conversion makes a new tensor.
bool changes(const at::Tensor& tensor, const Target& target) {
  if (target.copy || target.dtype.value_or(tensor.scalar_type()) != tensor.scalar_type())
    return true;

  const at::Device device = target.device.value_or(tensor.device());
  if (device.type != tensor.device().type || (device.has_index() && device != tensor.device()))
    return true;
  if (c10::is_accelerator(device) && c10::resolved(device) != tensor.device()) return true;

  const at::MemoryFormat format = target.format.value_or(at::MemoryFormat::Preserve);
  return format != at::MemoryFormat::Preserve && !tensor.is_contiguous(format);
}

PyObject* convert(PyObject* self, const Target& target) {
  const at::Tensor& tensor = unpack(self);
  if (!changes(tensor, target)) return Py_NewRef(self);

  const auto converted = [&] {
    return at::to(tensor, target.dtype, std::nullopt, target.device, std::nullopt,
                  target.non_blocking, target.copy, target.format);
  };
  // A copy from a device to the host waits, however small it is.
  const bool waits = c10::is_accelerator(tensor.device()) && target.device.has_value() &&
                     !c10::is_accelerator(*target.device);
  return wrap(waits ? unlocked_while_waiting(converted, tensor) : unlocked(converted, tensor));
}

PyObject* to(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  Target target;
  const int overload = call.bind(to_function, self, args, nargs, kwnames);
  if (overload == kOverridden) return call.call_override(to_function);

  if (overload == 0) target.dtype = call.dtype(1);
  if (overload == 1) {
    target.device = call.optional_device(1);
    target.dtype = call.optional_dtype(2);
  }
  if (overload == 2) {
    target.device = call.tensor(1).device();
    target.dtype = call.tensor(1).scalar_type();
  }

  const int rest = overload == 1 ? 3 : 2;
  target.non_blocking = call.boolean(rest, false);
  target.copy = call.boolean(rest + 1, false);
  target.format = call.optional_memory_format(rest + 2);

  return convert(self, target);
  TORCH_PY_CATCH(nullptr)
}

constexpr Parameter cuda_parameters[] = {
    {"self", Kind::Tensor},
    {"device", Kind::Device, kOptional | kNullable},
    {"non_blocking", Kind::Bool, kOptional},
    {"memory_format", Kind::MemoryFormat, kOptional | kNullable | kKeywordOnly}};
constexpr Signature cuda_signatures[] = {
    {"cuda(torch.device device = None, bool non_blocking = False, *, torch.memory_format "
     "memory_format = None)",
     cuda_parameters, 4, 0}};
constinit Function cuda_function = {"cuda", "Tensor", cuda_signatures, 1};

PyObject* cuda(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(cuda_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(cuda_function);

  // A number needs no accelerator to be understood: without one, the copy says what is missing.
  Target target;
  target.device = at::Device(at::DeviceType::CUDA);
  if (call.given(1)) {
    PyObject* where = call.object(1);
    target.device =
        is_int(where) ? at::Device("cuda:" + std::to_string(to_int64(where))) : to_device(where);
  }
  TORCH_CHECK(target.device->is_cuda(), "Invalid device, must be cuda device");
  target.non_blocking = call.boolean(2, false);
  target.format = call.optional_memory_format(3);
  return convert(self, target);
  TORCH_PY_CATCH(nullptr)
}

constexpr Parameter cpu_parameters[] = {
    {"self", Kind::Tensor},
    {"memory_format", Kind::MemoryFormat, kOptional | kNullable | kKeywordOnly}};
constexpr Signature cpu_signatures[] = {
    {"cpu(*, torch.memory_format memory_format = None)", cpu_parameters, 2, 0}};
constinit Function cpu_function = {"cpu", "Tensor", cpu_signatures, 1};

PyObject* cpu(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(cpu_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(cpu_function);

  Target target;
  target.device = at::kCPU;
  target.format = call.optional_memory_format(1);
  return convert(self, target);
  TORCH_PY_CATCH(nullptr)
}

// --- type(): names from the time when each dtype was a class ---

std::string legacy_type_name(at::ScalarType dtype, at::Device device) {
  const std::string prefix =
      device.is_cpu() ? "torch." : "torch." + at::device_type_name(device.type) + ".";
  return prefix + at::scalar_type_name(dtype) + "Tensor";
}

constexpr Parameter type_parameters[] = {{"self", Kind::Tensor},
                                         {"dtype", Kind::Any, kOptional},
                                         {"non_blocking", Kind::Bool, kOptional}};
constexpr Signature type_signatures[] = {
    {"type(torch.dtype dtype = None, bool non_blocking = False)", type_parameters, 3, 0}};
constinit Function type_function = {"type", "Tensor", type_signatures, 1};

/// The target of type(dtype), type("torch.FloatTensor") or type(torch.FloatTensor).
Target target_of_type(PyObject* type, const at::Tensor& tensor) {
  Target target;
  if (is_dtype(type)) {
    target.dtype = to_dtype(type);
    return target;
  }

  if (PyUnicode_Check(type)) {
    const std::string name(to_string_view(type));
    for (const at::Device device : {at::kCPU, at::Device(at::DeviceType::CUDA)}) {
      for (int i = 0; i < at::kNumScalarTypes; ++i) {
        if (legacy_type_name(static_cast<at::ScalarType>(i), device) != name) continue;
        target.dtype = static_cast<at::ScalarType>(i);
        target.device = device;
      }
    }
    TORCH_CHECK_VALUE(target.dtype.has_value(), "invalid type: '", name, "'");
    return target;
  }

  // torch.FloatTensor and the like.
  const ObjectPtr dtype = ObjectPtr::steal(PyObject_GetAttrString(type, "dtype"));
  if (!dtype || !is_dtype(dtype.get()))
    throw_python(PyExc_TypeError, "dtype must be a type, str, or dtype object");
  target.dtype = to_dtype(dtype.get());
  return target;
}

PyObject* type(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(type_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(type_function);

  const at::Tensor& tensor = unpack(self);
  if (!call.given(1))
    return PyUnicode_FromString(legacy_type_name(tensor.scalar_type(), tensor.device()).c_str());
  return convert(self, target_of_type(call.object(1), tensor));
  TORCH_PY_CATCH(nullptr)
}

}  // namespace

PyMethodDef tensor_conversion_methods[] = {
    {"to", as_method(to), METH_FASTCALL | METH_KEYWORDS, texts::Tensor_to},
    {"cpu", as_method(cpu), METH_FASTCALL | METH_KEYWORDS, texts::Tensor_cpu},
    {"cuda", as_method(cuda), METH_FASTCALL | METH_KEYWORDS, texts::Tensor_cuda},
    {"type", as_method(type), METH_FASTCALL | METH_KEYWORDS, texts::Tensor_type},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace torch::python
