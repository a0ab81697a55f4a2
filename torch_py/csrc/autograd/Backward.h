#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

/// torch.autograd.backward (accumulate_grad) and torch.autograd.grad: arguments checked as PyTorch
/// does, missing gradients of scalars filled in with one. grad_tensors: as many as tensors, or
/// none; undefined ones stand for one. inputs: of backward those to accumulate into, none meaning
/// all leaves; of grad those asked for. allow_unused: undefined results, rather than an error, for
/// inputs that the tensors do not depend on.
TORCH_PY_API variable_list run_backward(at::TensorList tensors, at::TensorList grad_tensors,
                                        bool keep_graph, bool create_graph, at::TensorList inputs,
                                        bool allow_unused, bool accumulate_grad);

/// The same from and to edges of the graph; as many gradients as roots, undefined ones stand for
/// one and need a root of one element.
TORCH_PY_API variable_list run_backward(const edge_list& roots, variable_list grads,
                                        bool keep_graph, bool create_graph, const edge_list& inputs,
                                        bool allow_unused, bool accumulate_grad);

}  // namespace torch::autograd
