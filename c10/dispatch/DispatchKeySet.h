// Sets of dispatch keys as bit masks.
#pragma once
#include <bit>
#include <cstdint>

#include "c10/core/Device.h"
#include "c10/dispatch/DispatchKey.h"

namespace c10 {

/// A set of dispatch keys. Bit k of the word is key k; higher keys have priority.
class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(uint64_t bits) : bits_(bits) {}
  constexpr DispatchKeySet(DispatchKey key) : bits_(uint64_t{1} << static_cast<int>(key)) {}

  constexpr bool has(DispatchKey key) const { return (bits_ >> static_cast<int>(key)) & 1; }
  constexpr bool has_any(DispatchKeySet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t bits() const { return bits_; }

  /// The key with the highest priority; Undefined for the empty set.
  constexpr DispatchKey highest() const {
    return static_cast<DispatchKey>(bits_ == 0 ? 0 : 63 - std::countl_zero(bits_));
  }

  constexpr DispatchKeySet operator|(DispatchKeySet other) const {
    return DispatchKeySet(bits_ | other.bits_);
  }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const {
    return DispatchKeySet(bits_ & other.bits_);
  }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const {
    return DispatchKeySet(bits_ & ~other.bits_);
  }
  constexpr bool operator==(const DispatchKeySet&) const = default;

 private:
  uint64_t bits_ = 0;
};

/// All keys of strictly lower priority than `key`.
constexpr DispatchKeySet keys_below(DispatchKey key) {
  return DispatchKeySet((uint64_t{1} << static_cast<int>(key)) - 1);
}

constexpr DispatchKeySet kAutogradKeys =
    DispatchKeySet(DispatchKey::AutogradCPU) | DispatchKey::AutogradCUDA |
    DispatchKey::AutogradPrivateUse1 | DispatchKey::AutogradMeta | DispatchKey::AutogradOther;
/// The keys that a call leaves out once autograd has done its part, or where nothing is recorded.
/// A tensor has those of kAutogradKeys only while it requires grad.
constexpr DispatchKeySet kRecordingKeys = kAutogradKeys | DispatchKey::AutogradMkldnnCPU;
/// The keys that remain for a call once autograd has done its part.
constexpr DispatchKeySet kBelowAutograd = keys_below(DispatchKey::AutogradCPU);
/// The keys of automatic dtypes. Tensors always have that of their device; threads leave it out
/// unless they are in torch.autocast.
constexpr DispatchKeySet kAutocastKeys =
    DispatchKeySet(DispatchKey::AutocastCPU) | DispatchKey::AutocastCUDA;
/// The keys of devices for which kernels with loops are written.
constexpr DispatchKeySet kDenseBackends = DispatchKeySet(DispatchKey::CPU) | DispatchKey::CUDA |
                                          DispatchKey::PrivateUse1 | DispatchKey::Meta;

/// The keys of an operator that is made of other operators, for gradients too: whoever looks at
/// calls sees those of which it is made.
constexpr DispatchKeySet kDecomposedKeys =
    kDenseBackends | kAutogradKeys | DispatchKey::Python | DispatchKey::Transform;
/// The same, where a device has a kernel for the whole, which whoever looks at calls is to see.
constexpr DispatchKeySet kDecomposedAboveDevices = kDecomposedKeys - DispatchKey::Python;

constexpr DispatchKey dense_backend_key(DeviceType type) {
  switch (type) {
    case DeviceType::CPU: return DispatchKey::CPU;
    case DeviceType::CUDA: return DispatchKey::CUDA;
    case DeviceType::Meta: return DispatchKey::Meta;
    case DeviceType::PrivateUse1: return DispatchKey::PrivateUse1;
  }
  return DispatchKey::Undefined;
}

/// Undefined for devices without automatic dtypes.
constexpr DispatchKey autocast_key(DeviceType type) {
  if (type == DeviceType::CPU) return DispatchKey::AutocastCPU;
  return type == DeviceType::CUDA ? DispatchKey::AutocastCUDA : DispatchKey::Undefined;
}

/// The same as a set, which is empty for other devices.
constexpr DispatchKeySet autocast_keys(DeviceType type) {
  const DispatchKey key = autocast_key(type);
  return key == DispatchKey::Undefined ? DispatchKeySet() : DispatchKeySet(key);
}

constexpr DispatchKey autograd_key(DeviceType type) {
  switch (type) {
    case DeviceType::CPU: return DispatchKey::AutogradCPU;
    case DeviceType::CUDA: return DispatchKey::AutogradCUDA;
    case DeviceType::Meta: return DispatchKey::AutogradMeta;
    case DeviceType::PrivateUse1: return DispatchKey::AutogradPrivateUse1;
  }
  return DispatchKey::AutogradOther;
}

}  // namespace c10
