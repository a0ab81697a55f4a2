// Anomaly mode: finds the forward operator behind a failing backward step.
#pragma once
#include <memory>

#include "torch_py/csrc/autograd/Node.h"

namespace torch::autograd {

/// torch.autograd.set_detect_anomaly: nodes remember where they were created, and a failing
/// backward step reports it. The bindings install a factory that records places. The state is per
/// process, as in PyTorch.
struct TORCH_PY_API AnomalyMode {
  using Factory = std::unique_ptr<AnomalyMetadata> (*)(const Node& node, const Node* parent);

  static bool is_enabled() { return enabled.load(std::memory_order_relaxed); }
  static bool should_check_nan() { return check_nan.load(std::memory_order_relaxed); }
  static void set_enabled(bool enable, bool check_for_nan = true);
  static void set_factory(Factory factory);

  /// Called for every new node while enabled; null without a factory. The factory also receives the
  /// parent, the node whose backward creates this one.
  static std::unique_ptr<AnomalyMetadata> record_creation(const Node& node);
  /// Prints where the node was created, if that is known.
  static void report(const Node& node);
  /// Throws "Function 'DivBackward0' returned nan values in its 1th output." if that is so.
  static void check_outputs(const Node& node, const variable_list& outputs);

 private:
  static std::atomic<bool> enabled;
  static std::atomic<bool> check_nan;
  static std::atomic<Factory> factory;
};

}  // namespace torch::autograd
