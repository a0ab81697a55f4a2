// Tensors in memory of the host that devices read and write by themselves.
#include "aten/core/PinnedMemory.h"

#include <utility>

#include "aten/ops/copy.h"
#include "c10/core/DeviceHooks.h"
#include "c10/core/OpaqueTensorImpl.h"

namespace at {

namespace {

DeviceHooks* usable_hooks(DeviceHooks* hooks) {
  return hooks != nullptr && hooks->device_count() > 0 ? hooks : nullptr;
}

/// The number of elements from the first to the last, inclusive.
int64_t extent(IntArrayRef sizes, IntArrayRef strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

}  // namespace

bool is_pinned(const Tensor& tensor) {
  c10::check_has_storage(*tensor.unsafe_impl());
  if (!tensor.is_cpu() || !tensor.storage() || tensor.storage()->data.get() == nullptr)
    return false;
  DeviceHooks* const hooks = usable_hooks(c10::loaded_hooks(DeviceType::CUDA));
  return hooks != nullptr && hooks->is_pinned(tensor.storage()->data.get());
}

Tensor empty_pinned(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  DeviceHooks* const hooks = usable_hooks(c10::device_hooks_or_null(DeviceType::CUDA));
  TORCH_CHECK(hooks != nullptr, "Cannot access accelerator device when none is available: pinned "
                                "memory needs one");

  const size_t bytes = static_cast<size_t>(extent(sizes, strides)) * element_size(dtype);
  Allocator& allocator = hooks->pinned_allocator();
  auto storage = c10::make_intrusive<StorageImpl>(allocator.allocate(bytes), bytes, &allocator);

  auto impl = c10::make_intrusive<TensorImpl>(std::move(storage), dtype, kCPU,
                                              DispatchKeySet(DispatchKey::CPU));
  impl->set_sizes_and_strides(sizes, strides);
  return Tensor(std::move(impl));
}

Tensor pinned(const Tensor& tensor) {
  TORCH_CHECK(tensor.is_cpu(), "cannot pin a tensor on ", tensor.device(),
              ": only dense CPU tensors can be pinned");
  if (is_pinned(tensor)) return tensor;

  const bool keeps_strides = tensor.is_non_overlapping_and_dense();
  const Tensor result =
      empty_pinned(tensor.sizes(),
                   keeps_strides ? DimVector(tensor.strides().begin(), tensor.strides().end())
                                 : contiguous_strides(tensor.sizes()),
                   tensor.scalar_type());
  return copy_(result, tensor);
}

}  // namespace at
