// torch.autograd.backward and torch.autograd.grad.
#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

/// torch.autograd.backward (accumulate_grad) and torch.autograd.grad. Arguments are checked as
/// PyTorch does.
///
/// tensors: where the pass starts. grad_tensors: empty, or one per tensor; undefined ones mean one
/// and need a tensor of one element. inputs: for backward the leaves to accumulate into (empty: all
/// of them), for grad the tensors whose gradients are the result. allow_unused: the result is
/// undefined, rather than an error, for inputs that the tensors do not depend on.
TORCH_PY_API variable_list run_backward(at::TensorList tensors, at::TensorList grad_tensors,
                                        bool keep_graph, bool create_graph, at::TensorList inputs,
                                        bool allow_unused, bool accumulate_grad);

/// The same from and to edges of the graph, with one gradient per root; undefined ones mean one and
/// need a root of one element.
TORCH_PY_API variable_list run_backward(const edge_list& roots, variable_list grads,
                                        bool keep_graph, bool create_graph, const edge_list& inputs,
                                        bool allow_unused, bool accumulate_grad);

}  // namespace torch::autograd
