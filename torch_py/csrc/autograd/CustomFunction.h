// History for the outputs of custom autograd Functions.
#pragma once
#include "torch_py/csrc/autograd/Variable.h"

namespace torch::autograd {

/// What the forward of a custom Function said about its tensors.
struct CustomForward {
  at::TensorList inputs;              // tensors among the arguments
  at::TensorList non_differentiable;  // ctx.mark_non_differentiable
  at::TensorList dirty;               // ctx.mark_dirty
};

/// Gives the outputs of forward, which ran without grad mode, their history. `node` is the custom
/// node with its next edges set, or null if no input requires grad. Returns the tensors for the
/// caller: an output that is an unmodified input becomes a view of it, so that a history can be
/// attached; modified inputs keep their identity.
TORCH_PY_API variable_list wrap_outputs(const CustomForward& forward, at::TensorList outputs,
                                        const NodePtr& node);

}  // namespace torch::autograd
