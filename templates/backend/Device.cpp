// {{ banner }}
// The devices of the backend, as the library sees them.
#include "aten/core/Tensor.h"
#include "c10/core/SynchronousDevice.h"

namespace at::native::{{ backend }} {

{% for declaration in declarations %}
{{ declaration }};
{% endfor %}

namespace {
{% if not has_hooks %}

/// A block, and the device that it is on.
struct Block {
  void* data;
  int device;
};

void release_block(void* context) {
  auto* block = static_cast<Block*>(context);
  {{ backend }}::{{ device.release }}(block->data, block->device);
  delete block;
}

c10::DeviceHooks& hooks();

class Memory final : public Allocator {
 public:
  c10::DataPtr allocate(size_t bytes, c10::DeviceIndex index) override {
    const c10::DeviceIndex chosen = index < 0 ? hooks().current_device() : index;
    const Device device(DeviceType::PrivateUse1, chosen);
    if (bytes == 0) return c10::DataPtr(nullptr, nullptr, nullptr, device);

    void* const data = {{ backend }}::{{ device.allocate }}(bytes, chosen);
    return c10::DataPtr(data, new Block{data, chosen}, &release_block, device);
  }
};

class Hooks final : public c10::SynchronousDeviceHooks {
 public:
  int device_count() noexcept override { return {{ backend }}::{{ device.count }}(); }
  Allocator& allocator() override { return memory_; }
  void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes,
                  bool) override {
    if (bytes != 0) {{ backend }}::{{ device.copy }}(to, to_device, from, from_device, bytes);
  }

 private:
  Memory memory_;
};

c10::DeviceHooks& hooks() {
  static auto* const made = new Hooks;  // as long-lived as the tensors of the process
  return *made;
}
{% endif %}

const bool registered = [] {
  c10::set_device_hooks(DeviceType::PrivateUse1, &{{ backend ~ "::" ~ device.hooks if has_hooks else "hooks" }}());
  return true;
}();

}  // namespace
}  // namespace at::native::{{ backend }}
