// The table of allocators, one per device type.
#include "c10/core/Allocator.h"

#include <atomic>

#include "c10/cpu/CPUAllocator.h"
#include "c10/util/Exception.h"

namespace c10 {

namespace {

constinit std::atomic<Allocator*> allocators[kNumDeviceTypes] = {};

}  // namespace

Allocator::~Allocator() = default;

Allocator& get_allocator(DeviceType type) {
  const int index = static_cast<int>(type);
  Allocator* allocator =
      index < kNumDeviceTypes ? allocators[index].load(std::memory_order_acquire) : nullptr;

  if (allocator == nullptr && type == DeviceType::CPU) return cpu_allocator();
  TORCH_CHECK(allocator != nullptr, "no allocator for device type '", device_type_name(type),
              "': its backend is not loaded");
  return *allocator;
}

void set_allocator(DeviceType type, Allocator* allocator) {
  TORCH_CHECK(static_cast<int>(type) < kNumDeviceTypes, "set_allocator: device type '",
              device_type_name(type), "' has no backend");
  allocators[static_cast<int>(type)].store(allocator, std::memory_order_release);
}

}  // namespace c10
