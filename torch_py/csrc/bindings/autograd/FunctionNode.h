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
  /// Takes a reference to `context` of its own.
  explicit FunctionNode(PyObject* context);
  ~FunctionNode() override;

  const char* name() const override { return name_.c_str(); }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override;
  void release_variables() override;
  PyObject* context() const { return context_; }

  /// One entry per argument of forward: whether it was a tensor (and so has an edge).
  c10::SmallVector<bool, 8> is_tensor_input;
  /// One per output, to make zeros from.
  std::vector<torch::autograd::InputInfo> outputs;
  std::vector<torch::autograd::SavedVariable> saved;
  bool materialize_grads = true;

 protected:
  void release_resources() override;

 private:
  PyObject* pack_gradients(const torch::autograd::variable_list& grads) const;
  torch::autograd::variable_list unpack_gradients(PyObject* result) const;

  PyObject* context_;
  std::string name_;
};

}  // namespace torch::python
