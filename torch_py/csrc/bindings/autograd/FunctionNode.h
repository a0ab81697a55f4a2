// The node of a custom autograd Function in the graph.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/autograd/SavedVariable.h"
#include "torch_py/csrc/autograd/Variable.h"

namespace torch::python {

/// Backward step of a torch.autograd.Function.
///
/// Note [Contexts of custom Functions]
/// Two objects: FunctionNode, part of the graph, and the ctx that forward and backward see, a
/// Python object (FunctionType.cpp). The node owns the ctx; the ctx refers to the node weakly, so
/// that a graph is freed as soon as its last output is. The weak reference keeps the node's memory,
/// so the ctx is let go when the last owner of the node leaves (release_resources), not in the
/// destructor.
class FunctionNode final : public torch::autograd::Node {
 public:
  /// Takes its own reference to `context`.
  explicit FunctionNode(PyObject* context);
  ~FunctionNode() override;

  const char* name() const override { return name_.c_str(); }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override;
  void release_variables() override;
  /// Borrowed; null once the node has been released.
  PyObject* context() const { return context_; }

  /// One entry per argument of forward: whether it was a tensor (and so has an edge).
  c10::SmallVector<bool, 8> is_tensor_input;
  /// One entry per output: what zeros in place of its gradient look like.
  std::vector<torch::autograd::InputInfo> outputs;
  /// The tensors of save_for_backward, in order.
  std::vector<torch::autograd::SavedVariable> saved;
  /// Whether backward receives zeros, rather than None, for outputs without a gradient.
  bool materialize_grads = true;

 protected:
  void release_resources() override;

 private:
  PyObject* pack_gradients(const torch::autograd::variable_list& grads) const;
  torch::autograd::variable_list unpack_gradients(PyObject* result) const;

  PyObject* context_;  // owned; null after release_resources()
  std::string name_;   // of the context's class
};

}  // namespace torch::python
