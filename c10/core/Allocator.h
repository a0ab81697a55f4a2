// Memory on a device (DataPtr) and the interface that provides it (Allocator).
#pragma once

#include <cstddef>
#include <utility>

#include "c10/core/Device.h"
#include "c10/util/Export.h"

namespace c10 {

/// Frees the memory of a DataPtr. Receives the context, which may differ from the data pointer;
/// must not throw.
using DeleterFn = void (*)(void* context);

/// Memory on a device together with the way to free it; move-only. The data may begin inside the
/// object that the context owns (an imported array, a mapped file). Borrowed memory has no deleter.
class DataPtr {
 public:
  DataPtr() noexcept = default;
  /// Borrowed memory: never freed by this object.
  DataPtr(void* data, Device device) noexcept : data_(data), device_(device) {}
  DataPtr(void* data, void* context, DeleterFn deleter, Device device) noexcept
      : data_(data), context_(context), deleter_(deleter), device_(device) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        context_(std::exchange(other.context_, nullptr)),
        deleter_(std::exchange(other.deleter_, nullptr)),
        device_(other.device_) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    DataPtr moved(std::move(other));
    std::swap(data_, moved.data_);
    std::swap(context_, moved.context_);
    std::swap(deleter_, moved.deleter_);
    std::swap(device_, moved.device_);
    return *this;
  }
  ~DataPtr() { clear(); }

  /// The first byte, which need not be the start of the context's memory.
  void* get() const noexcept { return data_; }
  /// The argument of the deleter.
  void* context() const noexcept { return context_; }
  DeleterFn deleter() const noexcept { return deleter_; }
  Device device() const noexcept { return device_; }
  explicit operator bool() const noexcept { return data_ != nullptr || context_ != nullptr; }

  /// Frees the memory now.
  void clear() noexcept {
    data_ = nullptr;
    const DeleterFn deleter = std::exchange(deleter_, nullptr);
    void* const context = std::exchange(context_, nullptr);
    if (deleter) deleter(context);
  }

  /// Hands the context to the caller, who must call the deleter eventually.
  [[nodiscard]] void* release_context() noexcept {
    data_ = nullptr;
    deleter_ = nullptr;
    return std::exchange(context_, nullptr);
  }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  DeleterFn deleter_ = nullptr;  // null: nothing to free
  Device device_ = kCPU;
};

/// Provides memory on one device. Implementations can be called from any thread and live until the
/// process ends.
class TORCH_PY_API Allocator {
 public:
  virtual ~Allocator();
  /// Returns at least `bytes` uninitialised bytes of device `index`, -1 being the current one, or a
  /// null DataPtr for 0. Throws OutOfMemoryError.
  virtual DataPtr allocate(size_t bytes, DeviceIndex index = -1) = 0;
};

/// The allocator of a device; throws AbsentDeviceError if no backend for its type is loaded.
TORCH_PY_API Allocator& get_allocator(Device device);

}  // namespace c10
