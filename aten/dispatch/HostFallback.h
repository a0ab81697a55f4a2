#pragma once
// Runs a CPU kernel for tensors of another device, on copies in the memory of the host.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "aten/iteration/TensorIterator.h"
#include "c10/core/Generator.h"

namespace at {

/// The copies of one call. A storage is copied to one block of the host, however many tensors share
/// it, so that tensors that overlap on the device overlap on the host. Only bytes between the first
/// and the last element of a tensor are copied, in either direction.
class TORCH_PY_API HostFallback {
 public:
  /// Counts the call for host_fallbacks().
  HostFallback(const char* name, Device device);
  HostFallback(const HostFallback&) = delete;
  HostFallback& operator=(const HostFallback&) = delete;
  ~HostFallback();

  // Arguments for the CPU kernel. Those on the CPU, and those that are not tensors, stay.
  Tensor to_host(const Tensor& tensor, bool written);
  std::vector<Tensor> to_host(TensorList tensors, bool written);
  TensorIterator to_host(TensorIterator& iter, bool written);
  std::optional<Device> to_host(std::optional<Device>, bool) { return kCPU; }
  /// The generator of the device, with its engine ready for a kernel of the CPU. Not const: the
  /// template below would be the better match.
  c10::Generator* to_host(c10::Generator* generator, bool);
  template <class T>
  const T& to_host(const T& other, bool) {
    return other;
  }

  /// Copies what the kernel wrote back to the device.
  void write_back();

  // Results of the CPU kernel, on the device.
  Tensor to_device(const Tensor& result) const;
  std::vector<Tensor> to_device(const std::vector<Tensor>& results) const;
  template <class... Results>
  std::tuple<Results...> to_device(const std::tuple<Results...>& results) const {
    return std::apply([&](const auto&... result) { return std::tuple(to_device(result)...); },
                      results);
  }
  template <class T>
  T to_device(const T& other) const {
    return other;
  }

 private:
  struct Mirror {
    Storage original;
    Storage copy;
  };

  const Mirror& mirror_of(const Storage& storage);

  Device device_;
  std::vector<Mirror> mirrors_;
  std::vector<Tensor> written_;  // tensors of the device that the kernel writes to
};

/// Calls `kernel` with copies of its arguments. Bit k of `written` says that it writes to argument
/// k.
template <class Result, class... Args, size_t... I>
Result run_on_host(const char* name, Device device, Result (*kernel)(Args...), uint32_t written,
                   std::index_sequence<I...>, Args... arguments) {
  HostFallback fallback(name, device);
  // Braces evaluate the copies from left to right.
  std::tuple<decltype(fallback.to_host(arguments, false))...> copies{
      fallback.to_host(arguments, (written >> I & 1) != 0)...};

  if constexpr (std::is_void_v<Result>) {
    kernel(std::get<I>(copies)...);
    fallback.write_back();
  } else {
    const Result result = kernel(std::get<I>(copies)...);
    fallback.write_back();
    return fallback.to_device(result);
  }
}

/// How often each operator ran through the fallback since the last reset, by name.
TORCH_PY_API std::vector<std::pair<std::string, int64_t>> host_fallbacks();
TORCH_PY_API void reset_host_fallbacks();

}  // namespace at
