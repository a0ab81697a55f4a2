// Copies arguments of a CPU kernel to the host and what it wrote back to the device.
#include "aten/dispatch/HostFallback.h"

#include <map>
#include <mutex>

#include "c10/core/DeviceHooks.h"
#include "c10/core/PhiloxGenerator.h"
#include "c10/util/CheckedMath.h"

namespace at {

namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, int64_t> by_name;
};

Counts& counts() {
  static Counts* const counts = new Counts;  // used by threads that outlive main
  return *counts;
}

/// The bytes of a tensor's storage from its first to the end of its last element.
struct Extent {
  size_t begin = 0;
  size_t size = 0;
};

Extent extent_of(const Tensor& tensor) {
  if (tensor.numel() == 0) return {};

  int64_t last = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  const size_t begin = static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize();
  return {begin, static_cast<size_t>(last + 1) * tensor.itemsize()};
}

char* bytes_of(const Storage& storage) { return static_cast<char*>(storage->data.get()); }

/// A tensor with the geometry of `tensor` on another storage.
Tensor on_storage(const Tensor& tensor, Storage storage) {
  const Device device = storage->device();
  auto impl = make_intrusive<TensorImpl>(std::move(storage), tensor.scalar_type(), device,
                                         DispatchKeySet(dense_backend_key(device.type)));
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  impl->set_wrapped_number(tensor.is_wrapped_number());
  return Tensor(std::move(impl));
}

}  // namespace

HostFallback::HostFallback(const char* name, Device device) : device_(device) {
  Counts& all = counts();
  const std::lock_guard lock(all.mutex);
  ++all.by_name[name];
}

HostFallback::~HostFallback() = default;

const HostFallback::Mirror& HostFallback::mirror_of(const Storage& storage) {
  for (const Mirror& mirror : mirrors_) {
    if (mirror.original == storage) return mirror;
  }
  mirrors_.push_back({storage, make_storage(storage->nbytes, kCPU)});
  return mirrors_.back();
}

Tensor HostFallback::to_host(const Tensor& tensor, bool written) {
  if (!tensor.defined() || tensor.is_cpu()) return tensor;

  const Storage copy = mirror_of(tensor.storage()).copy;
  if (const Extent extent = extent_of(tensor); extent.size != 0) {
    device_hooks(tensor.device().type)
        .copy_bytes(bytes_of(copy) + extent.begin, kCPU, bytes_of(tensor.storage()) + extent.begin,
                    tensor.device(), extent.size, /*non_blocking=*/false);
  }
  if (written) written_.push_back(tensor);

  // Kernels of gradients compute those that are asked for.
  const Tensor on_host = on_storage(tensor, copy);
  on_host.unsafe_impl()->set_autograd_key(tensor.requires_grad());
  return on_host;
}

std::vector<Tensor> HostFallback::to_host(TensorList tensors, bool written) {
  std::vector<Tensor> copies;
  copies.reserve(tensors.size());
  for (const Tensor& tensor : tensors) copies.push_back(to_host(tensor, written));
  return copies;
}

TensorIterator HostFallback::to_host(TensorIterator& iter, bool) {
  return iter.with_operands(
      [this](const Tensor& operand, bool written) { return to_host(operand, written); });
}

c10::Generator* HostFallback::to_host(c10::Generator* given, bool) {
  c10::Generator& generator = given != nullptr ? *given : c10::default_generator(device_);
  TORCH_CHECK(generator.device.type == device_.type, "Expected a '",
              c10::device_type_name(device_.type), "' device type for generator but found '",
              c10::device_type_name(generator.device.type), "'");

  if (auto* philox = dynamic_cast<c10::PhiloxGenerator*>(&generator)) {
    const std::lock_guard lock(philox->mutex);
    philox->seed_host_engine();
  }
  return &generator;
}

void HostFallback::write_back() {
  for (const Tensor& tensor : written_) {
    const Extent extent = extent_of(tensor);
    if (extent.size == 0) continue;
    device_hooks(tensor.device().type)
        .copy_bytes(bytes_of(tensor.storage()) + extent.begin, tensor.device(),
                    bytes_of(mirror_of(tensor.storage()).copy) + extent.begin, kCPU, extent.size,
                    /*non_blocking=*/false);
  }
}

Tensor HostFallback::to_device(const Tensor& result) const {
  if (!result.defined() || !result.is_cpu()) return result;

  const Storage storage = make_storage(result.storage()->nbytes, device_);
  if (const Extent extent = extent_of(result); extent.size != 0) {
    device_hooks(device_.type)
        .copy_bytes(bytes_of(storage) + extent.begin, device_,
                    bytes_of(result.storage()) + extent.begin, kCPU, extent.size,
                    /*non_blocking=*/false);
  }
  return on_storage(result, storage);
}

std::vector<Tensor> HostFallback::to_device(const std::vector<Tensor>& results) const {
  std::vector<Tensor> moved;
  moved.reserve(results.size());
  for (const Tensor& result : results) moved.push_back(to_device(result));
  return moved;
}

std::vector<std::pair<std::string, int64_t>> host_fallbacks() {
  Counts& all = counts();
  const std::lock_guard lock(all.mutex);
  return {all.by_name.begin(), all.by_name.end()};
}

void reset_host_fallbacks() {
  Counts& all = counts();
  const std::lock_guard lock(all.mutex);
  all.by_name.clear();
}

}  // namespace at
