// Tensor.__dlpack__: capsules through which other libraries use a tensor's memory.
#include <memory>

#include "c10/core/DeviceHooks.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/exchange/DLPack.h"
#include "torch_py/csrc/bindings/exchange/DLPackLayout.h"
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"

namespace torch::python {

namespace {

dlpack::DataType dlpack_type(at::ScalarType dtype) {
  return {dlpack_code(dtype), static_cast<uint8_t>(at::element_size(dtype) * 8), 1};
}

bool is_pinned(const at::Tensor& tensor) {
  // Before a backend is loaded, nothing can be pinned.
  c10::DeviceHooks* const hooks = c10::loaded_hooks(c10::DeviceType::CUDA);
  if (hooks == nullptr || tensor.data() == nullptr) return false;
  return hooks->device_count() > 0 && hooks->is_pinned(tensor.data());
}

dlpack::Device device_of(const at::Tensor& tensor) {
  if (tensor.is_cuda()) return {dlpack::kCUDA, tensor.device().index};
  return {is_pinned(tensor) ? dlpack::kCUDAHost : dlpack::kCPU, 0};
}

/// What a capsule owns: the memory itself, because the tensor may be given other memory meanwhile.
/// Managed is ManagedTensor or ManagedTensorVersioned.
template <class Managed>
struct Export {
  explicit Export(const at::Tensor& source)
      : memory(source.storage()),
        sizes(source.sizes().begin(), source.sizes().end()),
        strides(source.strides().begin(), source.strides().end()) {
    // The strides of dimensions of size 1 are arbitrary, but some consumers compare them.
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] <= 1) strides[i] = 1;
    }

    managed = {};
    managed.manager_context = this;
    managed.deleter = [](Managed* self) { delete static_cast<Export*>(self->manager_context); };
    managed.tensor = {source.data(),
                      device_of(source),
                      static_cast<int32_t>(source.dim()),
                      dlpack_type(source.scalar_type()),
                      sizes.data(),
                      strides.data(),
                      0};
  }

  Managed managed;
  at::Storage memory;
  at::DimVector sizes;
  at::DimVector strides;
};

/// Frees a capsule that nobody consumed: a consumer changes its name.
template <class Managed>
void destroy_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class Managed>
PyObject* make_capsule(Managed& managed, const char* name, PyCapsule_Destructor destructor) {
  PyObject* capsule = PyCapsule_New(&managed, name, destructor);
  if (capsule == nullptr) managed.deleter(&managed);
  return checked(capsule);
}

}  // namespace

uint8_t dlpack_code(at::ScalarType dtype) {
  switch (dtype) {
    case at::kBool: return dlpack::kBool;
    case at::kBFloat16: return dlpack::kBfloat;
    case at::kFloat8_e4m3fn: return dlpack::kFloat8_e4m3fn;
    case at::kFloat8_e4m3fnuz: return dlpack::kFloat8_e4m3fnuz;
    case at::kFloat8_e5m2: return dlpack::kFloat8_e5m2;
    case at::kFloat8_e5m2fnuz: return dlpack::kFloat8_e5m2fnuz;
    case at::kFloat8_e8m0fnu: return dlpack::kFloat8_e8m0fnu;
    default: break;
  }

  if (at::is_complex(dtype)) return dlpack::kComplex;
  if (at::is_floating(dtype)) return dlpack::kFloat;
  return at::is_signed(dtype) ? dlpack::kInt : dlpack::kUInt;
}

PyObject* tensor_to_dlpack(const at::Tensor& tensor, bool versioned, bool is_copy) {
  if (tensor.requires_grad())
    throw_python(PyExc_BufferError,
                 "Can't export tensors that require gradient, use tensor.detach()");
  if (tensor.layout() != at::Layout::Strided)
    throw_python(PyExc_BufferError, "Can't export tensors with layout other than torch.strided");
  if (!tensor.is_cpu() && !tensor.is_cuda())
    throw_python(PyExc_BufferError, "Cannot pack tensors on %s", tensor.device().str().c_str());

  pin_memory_of(tensor);

  if (!versioned) {
    auto* exported = new Export<dlpack::ManagedTensor>(tensor);
    return make_capsule(exported->managed, "dltensor", [](PyObject* capsule) {
      destroy_capsule<dlpack::ManagedTensor>(capsule, "dltensor");
    });
  }

  // From DLPack 1.0 on.
  auto* exported = new Export<dlpack::ManagedTensorVersioned>(tensor);
  exported->managed.version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  if (is_copy) exported->managed.flags = dlpack::kIsCopied;
  return make_capsule(exported->managed, "dltensor_versioned", [](PyObject* capsule) {
    destroy_capsule<dlpack::ManagedTensorVersioned>(capsule, "dltensor_versioned");
  });
}

PyObject* dlpack_device(const at::Tensor& tensor) {
  if (!tensor.is_cpu() && !tensor.is_cuda()) {
    throw_python(PyExc_ValueError, "Unknown device type %s for Dlpack",
                 at::device_type_name(tensor.device().type).c_str());
  }
  const dlpack::Device device = device_of(tensor);
  return Py_BuildValue("(ii)", int{device.type}, int{device.id});
}

}  // namespace torch::python
