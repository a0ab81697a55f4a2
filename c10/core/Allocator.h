#pragma once

#include <cstddef>
#include <utility>

#include "c10/core/Device.h"
#include "c10/util/Export.h"

namespace c10 {

/// Frees what DataPtr owns. Called with the context, which need not be the data pointer; must not
/// throw.
using DeleterFn = void (*)(void* context);

/// Memory on a device together with the way to free it: move-only. The data may begin inside what
/// the context owns (an imported array, a mapped file), or be borrowed, with no deleter at all.
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

  void* get() const noexcept { return data_; }
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
  /// Hands the context to the caller, who calls the deleter in the end.
  [[nodiscard]] void* release_context() noexcept {
    data_ = nullptr;
    deleter_ = nullptr;
    return std::exchange(context_, nullptr);
  }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  DeleterFn deleter_ = nullptr;
  Device device_ = kCPU;
};

/// Gives memory of one device. Implementations are safe to call from any thread and live until the
/// process ends.
class TORCH_PY_API Allocator {
 public:
  virtual ~Allocator();
  /// At least `bytes` bytes, not initialised; a null DataPtr for 0. Throws OutOfMemoryError.
  virtual DataPtr allocate(size_t bytes) = 0;
};

/// The allocator of a device type; throws when no backend has set one.
TORCH_PY_API Allocator& get_allocator(DeviceType type);
TORCH_PY_API void set_allocator(DeviceType type, Allocator* allocator);

}  // namespace c10
