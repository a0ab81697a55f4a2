// Tensors without memory, whose classes in Python say what they stand for.
#pragma once
#include "aten/core/Tensor.h"
#include "c10/dispatch/OperatorEntry.h"

namespace torch::autograd {

/// Whether the class of a tensor handles its calls and the tensor has no memory. A copy in C++
/// would lose the class; operators make one that has it.
inline bool stands_for_others(const at::Tensor& tensor) {
  return !tensor.storage() && tensor.key_set().has(c10::DispatchKey::Python);
}

/// Whether calls of this thread go to Python. There, one call that makes a filled tensor reads
/// better than an allocation and a change of it in place.
inline bool calls_are_seen() { return c10::effective_keys({}).has(c10::DispatchKey::Python); }

}  // namespace torch::autograd
