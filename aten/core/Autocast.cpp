// The state of torch.autocast on each thread, and the conversion of arguments.
#include "aten/core/Autocast.h"

#include <array>
#include <unordered_map>

#include "c10/dispatch/LocalState.h"
#include "c10/dispatch/RunningOperator.h"

namespace at::autocast {

namespace {

constexpr size_t kDeviceTypes = 8;

/// A weight at the time when it was converted. It and its memory are held, so that no other tensor
/// takes their addresses.
struct ConvertedWeight {
  Tensor weight;
  Tensor converted;
  c10::Storage storage;
  uint32_t version;

  bool fits(const Tensor& now, ScalarType dtype) const {
    return converted.scalar_type() == dtype && storage == now.storage() && version == now.version();
  }
};

/// The state of a thread.
struct State {
  std::array<ScalarType, kDeviceTypes> dtypes;  // the narrow dtype of each device type
  std::array<bool, kDeviceTypes> enabled = {};  // only of device types without an Autocast key
  bool cache_enabled = true;
  int depth = 0;  // blocks that the thread is in
  std::unordered_map<const c10::TensorImpl*, ConvertedWeight>
      weights;  // cleared after the outermost block

  State() {
    dtypes.fill(kBFloat16);
    dtypes[static_cast<size_t>(c10::DeviceType::PrivateUse1)] = kHalf;  // under whatever name
    for (const char* name : {"cuda", "xpu", "mps", "mtia"}) {
      const auto index = static_cast<size_t>(c10::Device(name).type);
      if (index < kDeviceTypes) dtypes[index] = kHalf;
    }
  }
};

State& state() {
  thread_local State value;
  return value;
}

size_t index_of(c10::DeviceType device) {
  const auto index = static_cast<size_t>(device);
  TORCH_CHECK(index < kDeviceTypes, "unknown device type for autocast: '",
              c10::device_type_name(device), "'");
  return index;
}

bool is_weight(const Tensor& tensor) {
  const c10::AutogradMetaInterface* meta = tensor.unsafe_impl()->autograd_meta();
  return tensor.scalar_type() == kFloat && meta != nullptr && meta->requires_grad &&
         !tensor.is_view();
}

Tensor converted(const Tensor& tensor, ScalarType dtype) {
  // A result made without grad mode has no history, which a later block with grad mode needs.
  if (!state().cache_enabled || !c10::GradMode::is_enabled() || !is_weight(tensor))
    return tensor.to(dtype);

  auto& weights = state().weights;
  const auto known = weights.find(tensor.unsafe_impl());
  if (known != weights.end() && known->second.fits(tensor, dtype)) return known->second.converted;

  Tensor result = tensor.to(dtype);
  weights.insert_or_assign(tensor.unsafe_impl(),
                           ConvertedWeight{tensor, result, tensor.storage(), tensor.version()});
  return result;
}

}  // namespace

std::atomic<bool> was_enabled_without_key = false;

bool is_enabled(c10::DeviceType device) {
  const DispatchKeySet key = c10::autocast_keys(device);
  if (key.empty()) return state().enabled[index_of(device)];
  return !c10::local_state().user_excluded.has_any(key);
}

void set_enabled(c10::DeviceType device, bool enabled) {
  const DispatchKeySet key = c10::autocast_keys(device);
  if (key.empty()) {
    state().enabled[index_of(device)] = enabled;
    if (enabled) was_enabled_without_key.store(true, std::memory_order_relaxed);
    return;
  }
  c10::LocalState& local = c10::local_state();
  local.user_excluded = enabled ? local.user_excluded - key : local.user_excluded | key;
  local.refresh();
}

ScalarType dtype(c10::DeviceType device) { return state().dtypes[index_of(device)]; }
void set_dtype(c10::DeviceType device, ScalarType dtype) {
  state().dtypes[index_of(device)] = dtype;
}
bool is_cache_enabled() { return state().cache_enabled; }
void set_cache_enabled(bool enabled) { state().cache_enabled = enabled; }
void clear_cache() { state().weights.clear(); }
int enter() { return ++state().depth; }
int leave() { return --state().depth; }

bool Cast::is_eligible(const Tensor& argument) const {
  return argument.defined() && argument.is_floating_point() && argument.scalar_type() != kDouble &&
         argument.device().type == device_;
}

void Cast::see(const Tensor& argument) {
  if (!is_eligible(argument)) return;
  widest_ = widest_ == ScalarType::Undefined ? argument.scalar_type()
                                             : promote_types(widest_, argument.scalar_type());
}

void Cast::see(TensorList arguments) {
  for (const Tensor& argument : arguments) see(argument);
}

Tensor Cast::operator()(const Tensor& argument) const {
  if (!is_eligible(argument)) return argument;

  TORCH_CHECK(policy_ != Policy::Refused, c10::base_name(entry_), "() is not safe in autocast(\"",
              c10::device_type_name(device_),
              "\"): it needs the precision of float32. Convert its arguments and call it inside "
              "autocast(\"",
              c10::device_type_name(device_), "\", enabled=False).");

  ScalarType target = kFloat;
  if (policy_ == Policy::LowerPrecision) target = dtype(device_);
  if (policy_ == Policy::Promote) target = widest_;
  return argument.scalar_type() == target ? argument : converted(argument, target);
}

std::vector<Tensor> Cast::operator()(TensorList arguments) const {
  std::vector<Tensor> result;
  result.reserve(arguments.size());
  for (const Tensor& argument : arguments) result.push_back((*this)(argument));
  return result;
}

}  // namespace at::autocast
