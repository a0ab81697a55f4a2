// Tensors on memory that someone else owns.
#include "torch_py/csrc/bindings/exchange/ForeignMemory.h"

#include "c10/core/OpaqueTensorImpl.h"

#include "torch_py/csrc/bindings/Errors.h"

namespace torch::python {

namespace {

void release_owner(void* owner) {
  if (python_has_ended()) return;
  const GilAcquire gil;
  Py_DECREF(static_cast<PyObject*>(owner));
}

/// The number of bytes from the first element to the end of the last.
size_t extent_bytes(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType dtype) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return static_cast<size_t>(last + 1) * at::element_size(dtype);
}

}  // namespace

void check_alignment(const void* data, at::ScalarType dtype) {
  const size_t itemsize = at::element_size(dtype);
  const size_t alignment = at::is_complex(dtype) ? itemsize / 2 : itemsize;
  TORCH_CHECK_VALUE(reinterpret_cast<uintptr_t>(data) % alignment == 0,
                    "the memory of the array is not aligned to its elements of ", itemsize,
                    " bytes; make a copy of it first");
}

at::Tensor tensor_on_foreign_memory(at::DataPtr data, at::IntArrayRef sizes,
                                    at::IntArrayRef strides, at::ScalarType dtype) {
  check_alignment(data.get(), dtype);
  const size_t bytes = extent_bytes(sizes, strides, dtype);
  TORCH_CHECK_VALUE(data.get() != nullptr || bytes == 0,
                    "the array has elements, but the address of its memory is null");

  auto storage = c10::make_intrusive<at::StorageImpl>(std::move(data), bytes, nullptr);
  const at::Device device = storage->device();
  const at::DispatchKeySet keys(c10::dense_backend_key(device.type));
  auto impl = c10::make_intrusive<at::TensorImpl>(std::move(storage), dtype, device, keys);
  impl->set_sizes_and_strides(sizes, strides);
  return at::Tensor(std::move(impl));
}

at::Tensor tensor_on_foreign_memory(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                                    at::ScalarType dtype, ObjectPtr owner, at::Device device) {
  at::DataPtr pointer(data, owner.release(), release_owner, device);
  return tensor_on_foreign_memory(std::move(pointer), sizes, strides, dtype);
}

void pin_memory_of(const at::Tensor& tensor) {
  c10::check_has_data(*tensor.unsafe_impl());
  tensor.storage()->allocator = nullptr;
}

}  // namespace torch::python
