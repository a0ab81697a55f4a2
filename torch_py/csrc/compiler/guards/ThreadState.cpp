// The word of a thread's state, and the differences between two.
#include "torch_py/csrc/compiler/guards/ThreadState.h"

#include <algorithm>

#include "aten/core/Autocast.h"
#include "aten/core/Determinism.h"
#include "aten/transforms/Levels.h"
#include "c10/dispatch/LocalState.h"
#include "torch_py/csrc/bindings/calls/TorchFunction.h"
#include "torch_py/csrc/bindings/state/DefaultDevice.h"

namespace torch::python::compiler {

namespace {

/// Some bits of the word, and what they are called in messages.
struct Field {
  int first;
  int width;
  enum Kind : uint8_t { Switch, Number, Dtype } kind;
  const char* name;

  constexpr uint64_t of(uint64_t word) const {
    return (word >> first) & ((uint64_t{1} << width) - 1);
  }
  constexpr uint64_t holding(uint64_t value) const { return value << first; }
};

constexpr Field kGrad{0, 1, Field::Switch, "grad mode"};
constexpr Field kInference{1, 1, Field::Switch, "inference mode"};
constexpr Field kFunctionMode{2, 1, Field::Switch, "a TorchFunctionMode"};
constexpr Field kDispatchMode{3, 1, Field::Switch, "a TorchDispatchMode"};
constexpr Field kDeterministic{4, 1, Field::Switch, "deterministic algorithms"};
constexpr Field kIncluded{5, 1, Field::Switch, "a guard that adds dispatch keys"};
constexpr Field kExcluded{6, 1, Field::Switch, "a guard that leaves dispatch keys out"};
constexpr Field kBelowAutograd{7, 1, Field::Switch, "a call below autograd"};
constexpr Field kLevels{8, 8, Field::Number, "the number of function transforms"};
constexpr Field kAutocastCpu{16, 1, Field::Switch, "autocast on cpu"};
constexpr Field kAutocastCuda{17, 1, Field::Switch, "autocast on cuda"};
constexpr Field kAutocastOther{18, 2, Field::Number, "autocast on other devices"};
constexpr Field kDtypeCpu{20, 6, Field::Dtype, "the autocast dtype on cpu"};
constexpr Field kDtypeCuda{26, 6, Field::Dtype, "the autocast dtype on cuda"};
constexpr Field kDefaultDtype{32, 6, Field::Dtype, "the default dtype"};
constexpr Field kDefaultDevice{38, 12, Field::Number, "the default device"};

constexpr Field kFields[] = {kGrad,          kInference,   kFunctionMode, kDispatchMode,
                             kDeterministic, kIncluded,    kExcluded,     kBelowAutograd,
                             kLevels,        kAutocastCpu, kAutocastCuda, kAutocastOther,
                             kDtypeCpu,      kDtypeCuda,   kDefaultDtype, kDefaultDevice};

static_assert(c10::kNumScalarTypes < 64 && c10::kNumDeviceTypes == 4);

uint64_t bits_of_dispatch(const c10::LocalState& state) {
  const bool python = state.included.has(c10::DispatchKey::Python);
  const c10::DispatchKeySet others = state.included - c10::DispatchKey::Python;

  return kGrad.holding(state.grad_mode) | kInference.holding(state.inference_mode) |
         kDispatchMode.holding(python) | kIncluded.holding(!others.empty()) |
         kExcluded.holding(!(state.user_excluded - c10::kAutocastKeys).empty()) |
         kBelowAutograd.holding(state.below_autograd != 0);
}

uint64_t bits_of_autocast(const c10::LocalState& state) {
  using c10::DeviceType;
  const auto bits = [&](DeviceType device, const Field& is_on, const Field& dtype) -> uint64_t {
    if (C10_LIKELY(state.user_excluded.has_any(c10::autocast_keys(device)))) return 0;
    return is_on.holding(1) | dtype.holding(static_cast<uint64_t>(at::autocast::dtype(device)));
  };
  const uint64_t with_keys = bits(DeviceType::CPU, kAutocastCpu, kDtypeCpu) |
                             bits(DeviceType::CUDA, kAutocastCuda, kDtypeCuda);
  if (C10_LIKELY(!at::autocast::was_enabled_without_key.load(std::memory_order_relaxed)))
    return with_keys;

  const uint64_t others = uint64_t{at::autocast::is_enabled(DeviceType::Meta)} |
                          uint64_t{at::autocast::is_enabled(DeviceType::PrivateUse1)} << 1;
  return with_keys | kAutocastOther.holding(others);
}

uint64_t bits_of_levels() {
  if (C10_LIKELY(at::transforms::running_level_count.load(std::memory_order_relaxed) == 0))
    return 0;
  return kLevels.holding(static_cast<uint64_t>(std::min(at::transforms::current_level(), 255)));
}

/// 0 without one, else its type and index, both plus one where 0 has a meaning.
uint64_t bits_of_default_device() {
  if (C10_LIKELY(default_device_choices == 0)) return 0;
  const std::optional<c10::Device> device = default_device();
  if (!device) return 0;
  return kDefaultDevice.holding(1 + static_cast<uint64_t>(device->type) +
                                (static_cast<uint64_t>(device->index + 1) << 3));
}

std::string text_of(const Field& field, uint64_t value) {
  if (field.kind == Field::Switch) return value != 0 ? "on" : "off";
  if (field.kind == Field::Dtype)
    return std::string("torch.") + c10::dtype_name(static_cast<c10::ScalarType>(value));
  if (field.first != kDefaultDevice.first) return std::to_string(value);
  if (value == 0) return "not set";
  return c10::Device(static_cast<c10::DeviceType>((value & 7) - 1),
                     static_cast<c10::DeviceIndex>((value >> 3) - 1))
      .str();
}

}  // namespace

uint64_t thread_state() {
  const c10::LocalState& state = c10::local_state();

  return bits_of_dispatch(state) | bits_of_autocast(state) | bits_of_default_device() |
         kFunctionMode.holding(has_function_modes() && in_function_mode()) |
         kDeterministic.holding(at::deterministic_algorithms()) | bits_of_levels() |
         kDefaultDtype.holding(static_cast<uint64_t>(at::default_dtype()));
}

std::string describe_change_of_state(uint64_t before, uint64_t now) {
  for (const Field& field : kFields) {
    if (field.of(before) == field.of(now)) continue;
    return std::string(field.name) + " was " + text_of(field, field.of(before)) + ", is " +
           text_of(field, field.of(now));
  }
  return "the state of the thread changed";
}

}  // namespace torch::python::compiler
