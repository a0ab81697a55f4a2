// Forward mode: the operators of dual tensors, which are a value and its tangent.
#pragma once
#include <memory>

#include "c10/dispatch/OperatorEntry.h"

namespace torch::autograd {

/// Note [Tangents without formulas]
/// The derivative of an operator in a direction is not written down anywhere: it follows from the
/// gradient that the operator has. The gradient is linear in its weight w, w -> J^H w; the gradient
/// of that map is v -> J v. Elementwise operators are simpler still, as their J is diagonal: J v is
/// the gradient weighted by v. Views do to the tangent what they do to the value.

/// Handles calls whose highest level is that of a dual tensor. Those in place, and those of which
/// what is inside the duals is wrapped as well, go to `others`.
class TORCH_PY_API ForwardMode final : public c10::BoxedKernel {
 public:
  explicit ForwardMode(std::shared_ptr<const c10::BoxedKernel> others)
      : others_(std::move(others)) {}

  void call(const c10::OperatorEntry& entry, c10::DispatchKeySet keys,
            at::Stack& stack) const override;

 private:
  std::shared_ptr<const c10::BoxedKernel> others_;
};

}  // namespace torch::autograd
