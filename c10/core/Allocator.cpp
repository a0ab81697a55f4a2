#include "c10/core/Allocator.h"

#include <atomic>

#include "c10/cpu/CPUAllocator.h"
#include "c10/util/Exception.h"

namespace c10 {

namespace {
constinit std::atomic<Allocator*> allocators[kNumDeviceTypes] = {};
}

Allocator::~Allocator() = default;

Allocator& get_allocator(DeviceType type) {
  Allocator* allocator = allocators[static_cast<int>(type)].load(std::memory_order_acquire);
  if (allocator == nullptr && type == DeviceType::CPU) return cpu_allocator();
  TORCH_CHECK(allocator != nullptr, "no allocator for device type '", device_type_name(type), "': its backend is not loaded");
  return *allocator;
}

void set_allocator(DeviceType type, Allocator* allocator) {
  allocators[static_cast<int>(type)].store(allocator, std::memory_order_release);
}

}  // namespace c10
