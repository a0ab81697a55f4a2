// Tensors without memory, whose classes in Python say what they stand for.
#pragma once
#include "aten/core/Tensor.h"
#include "c10/dispatch/OperatorEntry.h"

namespace torch::autograd {

/// Whether a tensor has no memory, and its class in Python or a function transform handles its
/// calls. A copy in C++ would lose that; operators make one that has it.
inline bool stands_for_others(const at::Tensor& tensor) {
  constexpr auto kKeys =
      c10::DispatchKeySet(c10::DispatchKey::Python) | c10::DispatchKey::Transform;
  return !tensor.storage() && tensor.key_set().has_any(kKeys);
}

/// Whether a gradient is one of each member of a batch (vmap), where the graph knows one.
inline bool is_of_members(const at::Tensor& gradient) {
  return gradient.key_set().has(c10::DispatchKey::Transform);
}

/// Whether calls of this thread go to Python. There, one call that makes a filled tensor reads
/// better than an allocation and a change of it in place.
inline bool calls_are_seen() { return c10::effective_keys({}).has(c10::DispatchKey::Python); }

}  // namespace torch::autograd
