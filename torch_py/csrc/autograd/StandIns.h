// Tensors without memory, whose classes in Python say what they stand for.
#pragma once
#include "aten/core/Tensor.h"

namespace torch::autograd {

/// Whether the class of a tensor handles its calls and the tensor has no memory. A copy in C++
/// would lose the class; operators make one that has it.
inline bool stands_for_others(const at::Tensor& tensor) {
  return !tensor.storage() && tensor.key_set().has(c10::DispatchKey::Python);
}

}  // namespace torch::autograd
