// The node at the end of the graph that adds gradients into a leaf's .grad.
#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

/// The end of the graph at a leaf: adds the gradient into variable.grad. The leaf refers to it
/// weakly, so that all graphs alive at one time share it and its hooks run once.
class TORCH_PY_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const at::Tensor& variable);
  const char* name() const override { return "AccumulateGrad"; }
  variable_list apply(variable_list&& grads) override;
  const at::Tensor& variable() const { return variable_; }

 protected:
  void release_resources() override;

 private:
  at::Tensor variable_;  // undefined once the node has been released
};

/// Whether nobody but this handle can see the tensor or its memory: then it may be changed, or
/// kept, without a copy.
TORCH_PY_API bool is_sole_owner(const at::Tensor& tensor);

}  // namespace torch::autograd
