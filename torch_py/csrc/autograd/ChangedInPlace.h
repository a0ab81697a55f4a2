// The error for tensors that gradients need and that were changed in place.
#pragma once
#include <string>

#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

/// Throws: backward needs `tensor` as it was at version `expected`. `origin` says where it comes
/// from (", which is output 0 of ExpBackward0,"), or nothing.
[[noreturn]] TORCH_PY_API void refuse_changed(const at::Tensor& tensor, uint32_t expected,
                                              const std::string& origin);

}  // namespace torch::autograd
