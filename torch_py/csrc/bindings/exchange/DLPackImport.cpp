// torch.from_dlpack: tensors on the memory of other libraries' tensors.
#include <algorithm>

#include "aten/ops/to.h"
#include "c10/core/DeviceHooks.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/Texts.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/exchange/DLPack.h"
#include "torch_py/csrc/bindings/exchange/DLPackLayout.h"
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"

namespace torch::python {

namespace {

at::ScalarType dtype_of(const dlpack::DataType& type) {
  if (type.lanes != 1) {
    throw_python(PyExc_BufferError, "from_dlpack: vectors of %d lanes are not supported",
                 int{type.lanes});
  }

  for (int i = 0; i < at::kNumScalarTypes; ++i) {
    const auto dtype = static_cast<at::ScalarType>(i);
    if (dlpack_code(dtype) == type.code && at::element_size(dtype) * 8 == type.bits) return dtype;
  }
  throw_python(PyExc_BufferError, "from_dlpack: no dtype has type code %d with %d bits",
               int{type.code}, int{type.bits});
}

/// The sizes and strides of a foreign tensor. Throws if a malformed capsule has negative or
/// overflowing ones.
struct Geometry {
  explicit Geometry(const dlpack::Tensor& tensor) {
    if (tensor.ndim < 0 || tensor.ndim > 64) {
      throw_python(PyExc_BufferError, "from_dlpack: invalid number of dimensions %d",
                   int{tensor.ndim});
    }
    if (tensor.ndim > 0 && tensor.shape == nullptr)
      throw_python(PyExc_BufferError, "from_dlpack: the shape is missing");

    sizes.assign(tensor.shape, tensor.shape + tensor.ndim);
    for (const int64_t size : sizes) {
      if (size < 0) {
        throw_python(PyExc_BufferError, "from_dlpack: negative size %lld",
                     static_cast<long long>(size));
      }
    }

    strides = tensor.strides != nullptr
                  ? at::DimVector(tensor.strides, tensor.strides + tensor.ndim)
                  : at::contiguous_strides(sizes);

    // The offset of the last element must fit into the address space.
    int64_t last = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      int64_t step = 0;
      if (strides[i] < 0 && sizes[i] > 1) {
        throw_python(
            PyExc_BufferError,
            "from_dlpack: negative strides are not supported; make a copy of the array first");
      }

      if (sizes[i] <= 1) strides[i] = 1;
      if (sizes[i] > 1 &&
          (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
           __builtin_add_overflow(last, step, &last) || last > (int64_t{1} << 58))) {
        throw_python(PyExc_BufferError,
                     "from_dlpack: the tensor is too large for the address space");
      }
    }
  }

  bool is_empty() const { return std::find(sizes.begin(), sizes.end(), 0) != sizes.end(); }

  at::DimVector sizes;
  at::DimVector strides;
};

at::Device device_of(const dlpack::Device& device) {
  switch (device.type) {
    case dlpack::kCPU:
    case dlpack::kCUDAHost: return at::kCPU;
    case dlpack::kCUDA: break;
    default:
      throw_python(PyExc_BufferError,
                   "from_dlpack: memory of DLPack device type %d cannot be used in torch_py",
                   int{device.type});
  }

  c10::DeviceHooks* const hooks = c10::device_hooks_or_null(c10::DeviceType::CUDA);
  const int count = hooks == nullptr ? 0 : hooks->device_count();
  if (device.id < 0 || device.id >= count) {
    throw_python(PyExc_BufferError, "from_dlpack: CUDA device %d is not among the %d available",
                 int{device.id}, count);
  }
  return at::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device.id));
}

template <class Managed>
at::Tensor import_managed(Managed* managed) {
  const dlpack::Tensor& source = managed->tensor;
  const at::Device device = device_of(source.device);

  const at::ScalarType dtype = dtype_of(source.dtype);
  const Geometry geometry(source);
  if (source.data == nullptr && !geometry.is_empty())
    throw_python(PyExc_BufferError, "from_dlpack: the tensor has elements, but its data is null");

  void* data =
      source.data == nullptr ? nullptr : static_cast<char*>(source.data) + source.byte_offset;
  check_alignment(data, dtype);

  // From here on, the tensor owns the content of the capsule. Everything above may throw and leaves
  // the capsule as it is.
  at::DataPtr pointer(
      data, managed,
      [](void* context) {
        auto* owned = static_cast<Managed*>(context);
        if (owned->deleter != nullptr) owned->deleter(owned);
      },
      device);

  return tensor_on_foreign_memory(std::move(pointer), geometry.sizes, geometry.strides, dtype);
}

at::Tensor from_versioned(PyObject* capsule) {
  auto* managed = static_cast<dlpack::ManagedTensorVersioned*>(
      PyCapsule_GetPointer(capsule, "dltensor_versioned"));
  if (managed->version.major > dlpack::kMajorVersion) {
    throw_python(PyExc_BufferError,
                 "from_dlpack: DLPack version %u.%u is newer than the supported %u",
                 managed->version.major, managed->version.minor, dlpack::kMajorVersion);
  }

  const bool readonly = (managed->flags & dlpack::kReadOnly) != 0;
  const at::Tensor tensor = import_managed(managed);
  check_status(PyCapsule_SetName(capsule, "used_dltensor_versioned"));
  // Tensors cannot be read-only, so memory that must not be written is copied.
  return readonly ? tensor.clone() : tensor;
}

at::Tensor from_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) return from_versioned(capsule);
  if (!PyCapsule_IsValid(capsule, "dltensor")) {
    throw_python(
        PyExc_RuntimeError,
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be "
        "consumed only once, so you might have already constructed a tensor from it once.");
  }

  const at::Tensor tensor = import_managed(
      static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
  check_status(PyCapsule_SetName(capsule, "used_dltensor"));
  return tensor;
}

/// Producers written before the keywords existed raise TypeError for them.
bool is_unknown_keyword() { return PyErr_ExceptionMatches(PyExc_TypeError); }

/// The stream in which the tensor of a producer will be used, in DLPack's numbers; None where its
/// memory needs no stream.
ObjectPtr stream_for(PyObject* producer) {
  const ObjectPtr none = ObjectPtr::borrow(Py_None);
  const ObjectPtr pair = ObjectPtr::steal(PyObject_CallMethod(producer, "__dlpack_device__", ""));
  if (!pair) {
    PyErr_Clear();  // a producer from before the method existed
    return none;
  }

  int type = 0;
  int id = 0;
  if (!PyTuple_Check(pair.get()) || !PyArg_ParseTuple(pair.get(), "ii", &type, &id)) {
    PyErr_Clear();  // numbers of another form than ours: the capsule has the device, too
    return none;
  }
  if (type != dlpack::kCUDA) return none;

  c10::DeviceHooks& hooks = c10::device_hooks(c10::DeviceType::CUDA);
  const at::Device device = device_of(dlpack::Device{type, id});
  const void* stream = hooks.native_stream(hooks.current_stream(device.index));
  constexpr unsigned long long legacy_default_stream = 1;
  const auto number = static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream));
  return ObjectPtr::steal(
      checked(PyLong_FromUnsignedLongLong(number == 0 ? legacy_default_stream : number)));
}

/// Calls producer.__dlpack__, with the newest version's keywords if it knows them.
ObjectPtr ask_for_capsule(PyObject* producer, PyObject* copy) {
  const ObjectPtr method =
      ObjectPtr::steal(checked(PyObject_GetAttrString(producer, "__dlpack__")));
  const ObjectPtr nothing = ObjectPtr::steal(checked(PyTuple_New(0)));
  const ObjectPtr keywords = ObjectPtr::steal(checked(
      Py_BuildValue("{s(II)}", "max_version", dlpack::kMajorVersion, dlpack::kMinorVersion)));

  if (copy != nullptr && copy != Py_None)
    check_status(PyDict_SetItemString(keywords.get(), "copy", copy));
  const ObjectPtr stream = stream_for(producer);
  if (stream.get() != Py_None)
    check_status(PyDict_SetItemString(keywords.get(), "stream", stream.get()));

  ObjectPtr capsule = ObjectPtr::steal(PyObject_Call(method.get(), nothing.get(), keywords.get()));
  if (capsule) return capsule;

  // An older producer does not know the keywords: call it without them.
  if (!is_unknown_keyword()) throw PythonError();
  PyErr_Clear();
  check_status(PyDict_DelItemString(keywords.get(), "max_version"));
  if (PyDict_GetItemString(keywords.get(), "copy") != nullptr)
    check_status(PyDict_DelItemString(keywords.get(), "copy"));
  return ObjectPtr::steal(checked(PyObject_Call(method.get(), nothing.get(), keywords.get())));
}

constexpr Parameter parameters[] = {{"ext_tensor", Kind::Any},
                                    {"device", Kind::Device, kOptional | kNullable | kKeywordOnly},
                                    {"copy", Kind::Bool, kOptional | kNullable | kKeywordOnly}};
constexpr Signature signatures[] = {
    {"from_dlpack(object ext_tensor, *, torch.device device = None, bool copy = None)", parameters,
     3}};
constinit Function function = {"from_dlpack", nullptr, signatures, 1};

PyObject* from_dlpack(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  Arguments call;
  call.bind(function, nullptr, args, nargs, kwnames);

  std::optional<at::Device> target = call.optional_device(1);
  if (target) target = c10::resolved(*target);
  TORCH_CHECK(!target || target->is_cpu() || target->is_cuda(),
              "from_dlpack: cannot import to device '", call.device(1), "'");

  PyObject* source = call.object(0);
  const bool is_capsule = PyCapsule_CheckExact(source);
  if (!is_capsule && !PyObject_HasAttrString(source, "__dlpack__")) {
    throw_python(PyExc_RuntimeError,
                 "from_dlpack: expected an object with __dlpack__ or a DLPack capsule (each can be "
                 "consumed only once), got %s",
                 type_name(source));
  }

  const ObjectPtr capsule =
      is_capsule ? ObjectPtr::borrow(source) : ask_for_capsule(source, call.object(2));

  const bool copies = is_capsule && call.boolean(2, false);
  const at::Tensor tensor = from_capsule(capsule.get());
  if (target && *target != tensor.device()) {
    TORCH_CHECK_VALUE(!call.given(2) || call.boolean(2, true), "from_dlpack: cannot move from ",
                      tensor.device(), " to ", *target, " without copying; set copy=None or True");
    return wrap(at::to(tensor, std::nullopt, std::nullopt, target, std::nullopt, false, false,
                       std::nullopt));
  }
  return wrap(copies ? tensor.clone() : tensor);
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {{"from_dlpack", as_method(from_dlpack), METH_FASTCALL | METH_KEYWORDS,
                            texts::torch_from_dlpack},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_dlpack(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

}  // namespace torch::python
