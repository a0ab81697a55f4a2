// Anomaly mode: records where nodes are created and looks for NaN in gradients.
#include "torch_py/csrc/autograd/AnomalyMode.h"

#include <cmath>

#include "aten/ops/any.h"
#include "aten/ops/isnan.h"
#include "torch_py/csrc/autograd/Engine.h"

namespace torch::autograd {

namespace {

template <typename T>
bool any_nan(const void* data, int64_t count) {
  const T* values = static_cast<const T*>(data);
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(values[i])) return true;
  }
  return false;
}

bool has_nan(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_meta() || !is_differentiable(tensor.scalar_type()))
    return false;
  // A tensor that stands for others, such as a fake one, may have no elements to look at.
  if (tensor.key_set().has(c10::DispatchKey::Python)) return false;

  const c10::NoGradGuard no_grad;
  if (!tensor.is_cpu()) return at::any(at::isnan(tensor)).item<bool>();

  const at::Tensor values = c10::is_reduced_floating(tensor.scalar_type())
                                ? tensor.to(c10::kFloat).contiguous()
                                : tensor.contiguous();

  // A complex number is two real ones.
  const int64_t parts = values.is_complex() ? 2 : 1;
  const bool is_double = values.itemsize() / static_cast<size_t>(parts) == sizeof(double);
  return is_double ? any_nan<double>(values.data(), values.numel() * parts)
                   : any_nan<float>(values.data(), values.numel() * parts);
}

}  // namespace

std::atomic<bool> AnomalyMode::enabled{false};
std::atomic<bool> AnomalyMode::check_nan{true};
std::atomic<AnomalyMode::Factory> AnomalyMode::factory{nullptr};

void AnomalyMode::set_enabled(bool enable, bool check_for_nan) {
  enabled = enable;
  check_nan = check_for_nan;
}

void AnomalyMode::set_factory(Factory new_factory) { factory = new_factory; }

std::unique_ptr<AnomalyMetadata> AnomalyMode::record_creation(const Node& node) {
  const Factory make = factory.load();
  return make == nullptr ? nullptr : make(node, Engine::current_node());
}

void AnomalyMode::report(const Node& node) {
  if (node.hooks() != nullptr && node.hooks()->anomaly)
    node.hooks()->anomaly->print_stack(node.name());
}

void AnomalyMode::check_outputs(const Node& node, const variable_list& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    TORCH_CHECK(!has_nan(outputs[i]), "Function '", node.name(), "' returned nan values in its ", i,
                "th output.");
  }
}

}  // namespace torch::autograd
