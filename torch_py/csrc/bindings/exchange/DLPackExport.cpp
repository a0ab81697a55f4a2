// Tensor.__dlpack__: capsules through which other libraries use a tensor's memory.
#include <memory>

#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/exchange/DLPack.h"
#include "torch_py/csrc/bindings/exchange/DLPackLayout.h"
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"

namespace torch::python {

namespace {

dlpack::DataType dlpack_type(at::ScalarType dtype) {
  return {dlpack_code(dtype), static_cast<uint8_t>(at::element_size(dtype) * 8), 1};
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
                      {dlpack::kCPU, 0},
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
  if (!tensor.is_cpu())
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
  const at::Device device = tensor.device();
  if (device.is_cpu()) return Py_BuildValue("(ii)", int{dlpack::kCPU}, 0);

  if (device.is_cuda())
    return Py_BuildValue("(ii)", int{dlpack::kCUDA}, device.has_index() ? int{device.index} : 0);

  throw_python(PyExc_ValueError, "Unknown device type %s for Dlpack",
               at::device_type_name(device.type).c_str());
}

}  // namespace torch::python
