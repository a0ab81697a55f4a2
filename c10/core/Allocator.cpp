// The allocator of a device.
#include "c10/core/Allocator.h"

#include "c10/core/DeviceHooks.h"
#include "c10/cpu/CPUAllocator.h"

namespace c10 {

namespace {

/// Meta tensors have sizes but no memory.
struct MetaAllocator final : Allocator {
  DataPtr allocate(size_t, DeviceIndex) override {
    return DataPtr(nullptr, nullptr, nullptr, kMeta);
  }
};

}  // namespace

Allocator::~Allocator() = default;

Allocator& get_allocator(Device device) {
  if (device.is_cpu()) return cpu_allocator();

  static MetaAllocator meta;
  if (device.is_meta()) return meta;
  return device_hooks(device.type).allocator();
}

}  // namespace c10
