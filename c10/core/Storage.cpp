// Growing and shrinking the memory of a storage.
#include "c10/core/Storage.h"

#include <cstring>
#include <utility>

#include "c10/core/DeviceHooks.h"
#include "c10/core/TensorBlock.h"
#include "c10/util/Exception.h"

namespace c10 {

namespace {

void copy_within(Device device, void* to, const void* from, size_t bytes) {
  if (device.is_cpu()) {
    std::memcpy(to, from, bytes);
  } else {
    device_hooks(device.type).copy_bytes(to, device, from, device, bytes, /*non_blocking=*/true);
  }
}

}  // namespace

void* StorageImpl::operator new(size_t bytes) { return tensor_block::new_object(bytes); }
void StorageImpl::operator delete(void* object, size_t bytes) {
  tensor_block::delete_object(object, bytes, tensor_block::kStorageAt);
}

DataPtr StorageImpl::resize(size_t bytes) {
  TORCH_CHECK(resizable() || bytes == nbytes,
              "Trying to resize storage that is not resizable: it has ", nbytes,
              " bytes of foreign memory, ", bytes, " are needed");

  // Growing copies the old bytes, so that elements keep their values.
  DataPtr replaced;
  if (bytes > capacity) {
    DataPtr grown = allocator->allocate(bytes, device().index);
    if (data.get() != nullptr && grown.get() != nullptr)
      copy_within(device(), grown.get(), data.get(), capacity);
    replaced = std::exchange(data, std::move(grown));
    capacity = bytes;
  }

  nbytes = bytes;
  return replaced;
}

Storage make_storage(size_t nbytes, Device device) {
  Allocator& allocator = get_allocator(device);
  return make_intrusive<StorageImpl>(allocator.allocate(nbytes, device.index), nbytes, &allocator);
}

}  // namespace c10
