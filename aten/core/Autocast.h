// Automatic dtypes: torch.autocast converts the arguments of some operators.
#pragma once
#include <vector>

#include "aten/core/Tensor.h"
#include "c10/dispatch/LocalState.h"

namespace at::autocast {

// Note [Automatic dtypes]
// Inside torch.autocast, a call of an operator whose entry says `autocast:` first converts its
// floating-point arguments: to the narrow dtype chosen for their device (lower_precision), to
// float32, or to the widest among them (promote). Each type of device has its own policy. Only the
// outermost call converts; the operators that it calls find their arguments converted. Operators
// without `autocast:` pay nothing. float64 arguments are left alone. Leaves that require grad
// (weights) are converted once, until the outermost block ends or they change: an optimizer may
// step inside of a block.

enum class Policy : uint8_t { None, LowerPrecision, Float32, Promote, Refused };

constexpr unsigned bit_of(c10::DeviceType device) { return 1u << static_cast<unsigned>(device); }

/// What an operator does with its arguments on each type of device.
struct Policies {
  Policy cpu;
  Policy cuda;

  constexpr Policy on(c10::DeviceType device) const {
    if (device == c10::DeviceType::CPU) return cpu;
    return device == c10::DeviceType::CUDA ? cuda : Policy::None;
  }

  /// One bit for each type of device with a policy.
  constexpr unsigned devices() const {
    return (cpu == Policy::None ? 0 : bit_of(c10::DeviceType::CPU)) |
           (cuda == Policy::None ? 0 : bit_of(c10::DeviceType::CUDA));
  }
};

/// Whether automatic dtypes are on for a type of device that has a policy.
inline bool is_active(Policies policies) {
  return (c10::local_state().autocast & policies.devices()) != 0;
}

TORCH_PY_API bool is_enabled(c10::DeviceType device);
TORCH_PY_API void set_enabled(c10::DeviceType device, bool enabled);
TORCH_PY_API ScalarType dtype(c10::DeviceType device);
TORCH_PY_API void set_dtype(c10::DeviceType device, ScalarType dtype);
TORCH_PY_API bool is_cache_enabled();
TORCH_PY_API void set_cache_enabled(bool enabled);
TORCH_PY_API void clear_cache();
/// Enters or leaves a block; returns the number of blocks that the thread is in then.
TORCH_PY_API int enter();
TORCH_PY_API int leave();

/// Turns automatic dtypes off for a scope on devices with a policy: operators inside of a converted
/// call convert nothing.
class Suspended {
 public:
  explicit Suspended(Policies policies) : previous_(c10::local_state().autocast) {
    c10::local_state().autocast = static_cast<uint8_t>(previous_ & ~policies.devices());
  }
  ~Suspended() { c10::local_state().autocast = previous_; }
  Suspended(const Suspended&) = delete;
  Suspended& operator=(const Suspended&) = delete;
  /// The state before the scope, one bit per device type.
  uint8_t enabled() const { return previous_; }

 private:
  uint8_t previous_;
};

/// Converts the arguments of a call, by what was enabled before `suspended`.
class TORCH_PY_API Cast {
 public:
  /// `op` names the operator in errors.
  Cast(const char* op, Policies policies, const Suspended& suspended)
      : op_(op), policies_(policies), enabled_(suspended.enabled()) {}

  /// Policy::Promote looks at all arguments before it converts any.
  void see(const Tensor& argument);
  void see(TensorList arguments);

  Tensor operator()(const Tensor& argument) const;
  std::vector<Tensor> operator()(TensorList arguments) const;

 private:
  bool is_eligible(const Tensor& argument) const;

  const char* op_;
  Policies policies_;
  uint8_t enabled_;                            // one bit per device type
  ScalarType widest_ = ScalarType::Undefined;  // of the arguments seen
};

}  // namespace at::autocast
