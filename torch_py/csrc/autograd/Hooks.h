// The hooks that tensors and nodes can have.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "aten/core/Tensor.h"
#include "c10/dispatch/LocalState.h"

namespace torch::autograd {

/// Gradients of several values; an undefined tensor means zero.
using variable_list = std::vector<at::Tensor>;

// The bindings subclass these. A hook may return an undefined tensor (or an empty list) to leave
// the gradients as they are. Hooks run in the order of registration. Grad mode is on exactly if the
// backward pass was started with create_graph.

/// Receives the gradient of one tensor before anything else is done with it (Tensor.register_hook).
struct TORCH_PY_API TensorHook {
  virtual ~TensorHook();
  virtual at::Tensor call(const at::Tensor& grad) = 0;
};

/// Receives the gradients that enter a node (Node.register_prehook).
struct TORCH_PY_API FunctionPreHook {
  virtual ~FunctionPreHook();
  virtual variable_list call(const variable_list& grads) = 0;
};

/// Receives the gradients that a node returned and those that it was given (Node.register_hook),
/// and returns the outputs to use instead.
struct TORCH_PY_API FunctionPostHook {
  virtual ~FunctionPostHook();
  virtual variable_list call(const variable_list& outputs, const variable_list& inputs) = 0;
};

/// Runs after a leaf's .grad has been updated (Tensor.register_post_accumulate_grad_hook).
struct TORCH_PY_API PostAccumulateGradHook {
  virtual ~PostAccumulateGradHook();
  virtual void call(const at::Tensor& variable) = 0;
};

/// The place where a node was created, recorded in anomaly mode.
struct TORCH_PY_API AnomalyMetadata {
  virtual ~AnomalyMetadata();
  /// Reports that the node named `name`, created at this place, has failed.
  virtual void print_stack(const char* name) = 0;
};

/// The parts of a node that most nodes do without.
struct TORCH_PY_API NodeHooks {
  struct OfTensor {
    uint32_t input_nr;
    std::shared_ptr<TensorHook> hook;
  };
  struct RetainedGrad {
    uint32_t input_nr;
    c10::weak_intrusive_ptr<c10::TensorImpl> tensor;
  };

  std::vector<OfTensor> tensor_hooks;        // first of all
  std::vector<RetainedGrad> retained_grads;  // after all tensor hooks, whenever registered
  std::vector<std::shared_ptr<FunctionPreHook>> pre_hooks;
  std::vector<std::shared_ptr<FunctionPostHook>> post_hooks;
  std::unique_ptr<AnomalyMetadata> anomaly;  // null outside of anomaly mode
};

}  // namespace torch::autograd
