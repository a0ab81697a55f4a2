// Tensor(...), new_tensor, _make_subclass, as_subclass: constructors that are not operators.
#include "aten/ops/alias.h"
#include "c10/dispatch/LocalState.h"
#include "torch_py/csrc/autograd/AutogradMeta.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/calls/FastCall.h"
#include "torch_py/csrc/bindings/dispatch/PythonKernel.h"
#include "torch_py/csrc/bindings/exchange/NumPy.h"
#include "torch_py/csrc/bindings/tensor/TensorData.h"
#include "torch_py/csrc/bindings/tensor/TensorMembers.h"
#include "torch_py/csrc/bindings/types/SizeType.h"
#include "torch_py/csrc/bindings/types/StorageType.h"

namespace torch::python {

namespace {

constexpr Parameter empty_parameters[] = {
    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly}};
constexpr Parameter other_parameters[] = {{"other", Kind::Tensor}};
constexpr Parameter size_parameters[] = {
    {"size", Kind::IntList, kVarargs},
    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly}};
constexpr Parameter data_parameters[] = {
    {"data", Kind::Any}, {"device", Kind::Device, kOptional | kNullable | kKeywordOnly}};
constexpr Signature signatures[] = {
    {"new(*, torch.device device = None)", empty_parameters, 1},
    {"new(Tensor other)", other_parameters, 1},
    {"new(object data, *, torch.device device = None)", data_parameters, 2},
    {"new(tuple of ints size, *, torch.device device = None)", size_parameters, 2}};
constinit Function constructor = {"new", nullptr, signatures, 4};

void check_device(const Arguments& call, int slot) {
  if (!call.given(slot)) return;
  TORCH_CHECK(call.device(slot).is_cpu(),
              "legacy constructor expects device type: cpu but device type: ",
              at::device_type_name(call.device(slot).type), " was passed");
}

/// Tensor(data)
at::Tensor from_data(PyObject* data) {
  if (is_storage(data)) {
    throw_python(PyExc_TypeError,
                 "new(): a tensor cannot be made of a storage; use torch.empty(0).set_(storage)");
  }

  const bool is_data = is_numpy_array(data) ||
                       (PySequence_Check(data) && !PyUnicode_Check(data) && !PyBytes_Check(data));
  if (PyUnicode_Check(data) || PyBytes_Check(data))
    throw_python(PyExc_TypeError, "new(): invalid data type '%s'", type_name(data));
  if (!is_data)
    throw_python(PyExc_TypeError, "new(): data must be a sequence (got %s)", type_name(data));

  return tensor_from_data(data, {at::default_dtype(), std::nullopt, true});
}

/// Makes the tensor by the signature that accepted the call.
at::Tensor construct(Arguments& call, int overload) {
  switch (overload) {
    case 0: check_device(call, 0); return at::empty_tensor({0}, at::default_dtype(), at::kCPU);

    case 1: {
      const at::Tensor& other = call.tensor(0);
      TORCH_CHECK_TYPE(other.scalar_type() == at::default_dtype(), "expected ", at::default_dtype(),
                       " (got ", other.scalar_type(), ")");

      return at::alias(other.detach());
    }

    case 2: {
      check_device(call, 1);
      PyObject* data = call.object(0);

      if (is_int(data)) return at::empty_tensor({to_int64(data)}, at::default_dtype(), at::kCPU);
      if (PyObject_TypeCheck(data, &SizeType))
        return at::empty_tensor(call.int_list(0), at::default_dtype(), at::kCPU);
      return from_data(data);
    }

    default:
      check_device(call, 1);
      return at::empty_tensor(call.int_list(0), at::default_dtype(), at::kCPU);
  }
}

// --- As another class ---

PyTypeObject* checked_subclass(PyObject* cls) {
  if (!PyType_Check(cls))
    throw_python(PyExc_TypeError, "cls must be a type (got %s)", type_name(cls));

  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  if (!PyType_IsSubtype(type, &TensorBaseType)) {
    throw_python(PyExc_TypeError, "Creating a Tensor subclass from a class that does not inherit "
                                  "from Tensor is not possible. Make sure your class inherits from "
                                  "Tensor.");
  }

  return type;
}

PyObject* make_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* keywords[] = {"cls", "data", "require_grad", nullptr};
  PyObject* cls = nullptr;
  PyObject* data = nullptr;
  int require_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p:_make_subclass",
                                   const_cast<char**>(keywords), &cls, &data, &require_grad))
    return nullptr;

  PyTypeObject* type = checked_subclass(cls);
  if (!is_tensor(data)) {
    throw_python(PyExc_TypeError,
                 "_make_subclass(): argument 'data' (position 2) must be Tensor, not %s",
                 type_name(data));
  }

  // Nobody handles this: the result is of the class that the caller names.
  const c10::ExcludeDispatchKeyGuard unseen(c10::DispatchKey::Python);
  at::Tensor tensor = torch::autograd::detach(unpack(data));
  return wrap_as(type, with_requires_grad(std::move(tensor), require_grad != 0));
  TORCH_PY_CATCH(nullptr)
}

// --- Tensors that consist of others ---

constexpr Parameter wrapper_parameters[] = {
    {"cls", Kind::Any},
    {"size", Kind::IntList},
    {"strides", Kind::IntList, kOptional | kNullable | kKeywordOnly},
    {"storage_offset", Kind::Int, kOptional | kNullable | kKeywordOnly},
    {"memory_format", Kind::MemoryFormat, kOptional | kNullable | kKeywordOnly},
    {"dtype", Kind::ScalarType, kOptional | kNullable | kKeywordOnly},
    {"layout", Kind::Layout, kOptional | kNullable | kKeywordOnly},
    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly},
    {"pin_memory", Kind::Bool, kOptional | kKeywordOnly},
    {"requires_grad", Kind::Bool, kOptional | kKeywordOnly},
    {"dispatch_sizes_strides_policy", Kind::String, kOptional | kNullable | kKeywordOnly},
    {"dispatch_device", Kind::Bool, kOptional | kKeywordOnly},
    {"dispatch_layout", Kind::Bool, kOptional | kKeywordOnly},
    {"storage_size", Kind::Int, kOptional | kNullable | kKeywordOnly}};
constexpr Signature wrapper_signatures[] = {
    {"_make_wrapper_subclass(type cls, tuple of ints size, *, tuple of ints strides = None, int "
     "storage_offset = None, torch.memory_format memory_format = None, torch.dtype dtype = None, "
     "torch.layout layout = torch.strided, torch.device device = None, bool pin_memory = False, "
     "bool requires_grad = False, str dispatch_sizes_strides_policy = None, bool dispatch_device = "
     "False, bool dispatch_layout = False, int storage_size = None)",
     wrapper_parameters, 14}};
constinit Function wrapper_function = {"_make_wrapper_subclass", "Tensor", wrapper_signatures, 1};

at::DimVector wrapper_strides(const Arguments& call, at::IntArrayRef sizes) {
  if (call.given(2)) return call.int_list(2);
  switch (call.memory_format(4, at::MemoryFormat::Contiguous)) {
    case at::MemoryFormat::ChannelsLast:
    case at::MemoryFormat::ChannelsLast3d: return c10::channels_last_strides(sizes);
    default: return c10::contiguous_strides(sizes);
  }
}

/// An instance of a class that handles operator calls: with sizes, a dtype and a device, but
/// without memory.
PyObject* make_wrapper_subclass(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                                PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(wrapper_function, nullptr, args, nargs, kwnames) == kOverridden)
    return call.call_override(wrapper_function);

  PyTypeObject* type = checked_subclass(call.object(0));
  if (!has_torch_dispatch(type)) {
    throw_python(PyExc_RuntimeError,
                 "Tensor subclass '%s' without __torch_dispatch__ cannot be a wrapper of tensors",
                 type->tp_name);
  }

  const at::DimVector sizes = call.int_list(1);
  const at::DimVector strides = wrapper_strides(call, sizes);
  TORCH_CHECK(strides.size() == sizes.size(), "_make_wrapper_subclass: got ", sizes.size(),
              " sizes and ", strides.size(), " strides");
  for (const int64_t size : sizes)
    TORCH_CHECK(size >= 0, "_make_wrapper_subclass: negative size ", size);

  const at::Device device = call.device(7, at::kCPU);
  auto impl = c10::make_intrusive<at::TensorImpl>(
      at::Storage(), call.dtype(5, at::default_dtype()), device,
      c10::DispatchKeySet(c10::dense_backend_key(device.type)) | c10::DispatchKey::Python);
  impl->set_sizes_and_strides(sizes, strides, call.integer(3, 0));

  return wrap_as(type, with_requires_grad(at::Tensor(std::move(impl)), call.boolean(9, false)));
  TORCH_PY_CATCH(nullptr)
}

/// What stands for another tensor follows a change of that one's geometry.
PyObject* take_geometry(PyObject* self, PyObject* source) {
  TORCH_PY_TRY
  if (!is_tensor(source)) throw_python(PyExc_TypeError, "_take_geometry: expected a Tensor");
  const at::Tensor& tensor = unpack(self);
  const at::Tensor& other = unpack(source);
  TORCH_CHECK(!tensor.storage(), "_take_geometry: the tensor has memory of its own");

  tensor.unsafe_impl()->set_dtype(other.scalar_type());
  tensor.unsafe_impl()->set_sizes_and_strides(other.sizes(), other.strides(),
                                              other.storage_offset());
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* as_subclass(PyObject* self, PyObject* cls) {
  TORCH_PY_TRY
  PyTypeObject* type = checked_subclass(cls);
  return wrap_as(type, at::alias(unpack(self)));
  TORCH_PY_CATCH(nullptr)
}

constexpr Parameter new_tensor_parameters[] = {
    {"self", Kind::Tensor},
    {"data", Kind::Any},
    {"dtype", Kind::ScalarType, kOptional | kNullable | kKeywordOnly},
    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly},
    {"requires_grad", Kind::Bool, kOptional | kKeywordOnly}};
constexpr Signature new_tensor_signatures[] = {
    {"new_tensor(object data, *, torch.dtype dtype = None, torch.device device = None, bool "
     "requires_grad = False)",
     new_tensor_parameters, 5, 0}};
constinit Function new_tensor_function = {"new_tensor", "Tensor", new_tensor_signatures, 1};

PyObject* new_tensor(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  if (call.bind(new_tensor_function, self, args, nargs, kwnames) == kOverridden)
    return call.call_override(new_tensor_function);

  const at::Tensor& like = unpack(self);
  at::Tensor tensor = tensor_from_data(
      call.object(1), {call.dtype(2, like.scalar_type()), call.device(3, like.device()), true});
  return wrap(with_requires_grad(std::move(tensor), call.boolean(4, false)));
  TORCH_PY_CATCH(nullptr)
}

}  // namespace

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  if (type == &TensorBaseType) {
    throw_python(PyExc_TypeError,
                 "cannot create instances of TensorBase; use torch.Tensor or torch.tensor(data)");
  }

  const FastCall fast(args, kwargs);
  Arguments call;
  int overload = call.bind(constructor, nullptr, fast.args(), fast.nargs(), fast.kwnames());
  if (overload == kOverridden) {
    // A tensor of a subclass is data like any other.
    overload = in_function_mode() ? call.accepted() : 1;
  }

  const at::Tensor tensor = construct(call, overload);
  const bool is_known = tensor.unsafe_impl()->pyobj.load(std::memory_order_relaxed) != nullptr;
  if (is_known && type != tensor_class && tensor.storage()) {
    // A mode has seen the tensor on its way.
    return wrap_as(type, at::Tensor(tensor.unsafe_impl()->shallow_copy()));
  }
  return wrap_as(type, tensor);
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef tensor_creation_methods[] = {
    {"_make_subclass", as_method(make_subclass), METH_STATIC | METH_VARARGS | METH_KEYWORDS,
     "_make_subclass(cls, data, require_grad=False): an instance of cls on data's memory, without "
     "history."},
    {"_make_wrapper_subclass", as_method(make_wrapper_subclass),
     METH_STATIC | METH_FASTCALL | METH_KEYWORDS,
     "_make_wrapper_subclass(cls, size, *, dtype, device, ...): an instance of cls without memory; "
     "its __torch_dispatch__ handles all calls."},
    {"_take_geometry", take_geometry, METH_O,
     "_take_geometry(other): takes over sizes, strides, offset and dtype; for tensors without "
     "memory."},
    {"as_subclass", as_subclass, METH_O, texts::Tensor_as_subclass},
    {"new_tensor", as_method(new_tensor), METH_FASTCALL | METH_KEYWORDS, texts::Tensor_new_tensor},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace torch::python
