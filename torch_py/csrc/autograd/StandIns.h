// Tensors without memory, whose classes in Python say what they stand for.
#pragma once
#include "aten/core/Tensor.h"

namespace torch::autograd {

/// Whether a tensor has no memory, and its class in Python or a function transform handles its
/// calls. A copy in C++ would lose that; operators make one that has it.
inline bool stands_for_others(const at::Tensor& tensor) {
  constexpr auto kKeys = c10::DispatchKeySet(c10::DispatchKey::Python) | c10::DispatchKey::Transform;
  return !tensor.storage() && tensor.key_set().has_any(kKeys);
}

/// Whether a gradient is one of each member of a batch (vmap), where the graph knows one.
inline bool is_of_members(const at::Tensor& gradient) {
  return gradient.key_set().has(c10::DispatchKey::Transform);
}

}  // namespace torch::autograd
