// Checks the arguments of backward() and grad() and starts the engine.
#include "torch_py/csrc/autograd/Backward.h"

#include <atomic>

#include "aten/core/Warning.h"
#include "aten/ops/ones_like.h"
#include "torch_py/csrc/autograd/Engine.h"
#include "torch_py/csrc/autograd/StandIns.h"

namespace torch::autograd {

namespace {

std::string size_text(c10::IntArrayRef sizes) { return c10::str("torch.Size(", sizes, ")"); }

edge_list root_edges(at::TensorList tensors) {
  edge_list edges;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].defined(), "element ", i, " of tensors is None");
    edges.push_back(gradient_edge(tensors[i]));
    TORCH_CHECK(edges.back().is_valid(), "element ", i,
                " of tensors does not require grad and does not have a grad_fn");
  }
  return edges;
}

/// The gradient of a scalar with respect to itself.
at::Tensor implicit_gradient(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.numel() == 1, "grad can be implicitly created only for scalar outputs");
  TORCH_CHECK(tensor.is_floating_point(),
              "grad can be implicitly created only for real scalar outputs but got torch.",
              c10::dtype_name(tensor.scalar_type()));

  if (C10_UNLIKELY(calls_are_seen() || stands_for_others(tensor))) return at::ones_like(tensor);
  const at::Tensor one = at::empty_tensor(tensor.sizes(), tensor.scalar_type(), tensor.device());
  return one.fill_(1);
}

void check_given_gradient(const at::Tensor& grad, const at::Tensor& tensor, size_t index) {
  TORCH_CHECK(grad.sizes() == tensor.sizes(), "Mismatch in shape: grad_output[", index,
              "] has a shape of ", size_text(grad.sizes()), " and output[", index,
              "] has a shape of ", size_text(tensor.sizes()), ".");
  TORCH_CHECK(grad.is_complex() == tensor.is_complex(),
              "For complex Tensors, both grad_output and output are required to have the same "
              "dtype. Mismatch in dtype: grad_output[",
              index, "] has a dtype of torch.", c10::dtype_name(grad.scalar_type()), " and output[",
              index, "] has a dtype of torch.", c10::dtype_name(tensor.scalar_type()), ".");
}

variable_list root_gradients(at::TensorList tensors, at::TensorList given) {
  TORCH_CHECK(given.empty() || given.size() == tensors.size(), "got ", tensors.size(),
              " tensors and ", given.size(), " gradients");

  variable_list grads;
  grads.reserve(tensors.size());

  for (size_t i = 0; i < tensors.size(); ++i) {
    if (given.empty() || !given[i].defined()) {
      grads.push_back(implicit_gradient(tensors[i]));
    } else {
      check_given_gradient(given[i], tensors[i], i);
      grads.push_back(given[i]);
    }
  }

  return grads;
}

edge_list input_edges(at::TensorList inputs, bool accumulate_grad) {
  edge_list edges;
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK(requires_grad(input), "One of the differentiated Tensors does not require grad");
    if (accumulate_grad) retain_grad(input);
    edges.push_back(gradient_edge(input));
  }
  return edges;
}

/// Warns once per process.
void warn_of_cycle() {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  at::warn("Using backward() with create_graph=True will create a reference cycle between the "
           "parameter and its gradient which can cause a memory leak. We recommend using "
           "autograd.grad when creating the graph to avoid this. If you have to use this function, "
           "make sure to reset the .grad fields of your parameters to None after use to break the "
           "cycle and avoid the leak.");
}

variable_list execute(const edge_list& roots, variable_list grads, bool keep_graph,
                      bool create_graph, const edge_list& wanted, bool allow_unused,
                      bool accumulate_grad) {
  if (accumulate_grad && create_graph) warn_of_cycle();
  variable_list result = Engine::get().execute(roots, std::move(grads), keep_graph, create_graph,
                                               accumulate_grad, wanted);

  if (accumulate_grad) return {};
  for (size_t i = 0; i < result.size(); ++i) {
    TORCH_CHECK(allow_unused || result[i].defined(), "The differentiated Tensor at index ", i,
                " appears to not have been used in the graph. Set allow_unused=True if this is the "
                "desired behavior.");
  }

  return result;
}

}  // namespace

variable_list run_backward(at::TensorList tensors, at::TensorList grad_tensors, bool keep_graph,
                           bool create_graph, at::TensorList inputs, bool allow_unused,
                           bool accumulate_grad) {
  const edge_list roots = root_edges(tensors);
  variable_list grads = root_gradients(tensors, grad_tensors);
  return execute(roots, std::move(grads), keep_graph, create_graph,
                 input_edges(inputs, accumulate_grad), allow_unused, accumulate_grad);
}

variable_list run_backward(const edge_list& roots, variable_list grads, bool keep_graph,
                           bool create_graph, const edge_list& inputs, bool allow_unused,
                           bool accumulate_grad) {
  for (size_t i = 0; i < roots.size(); ++i) {
    const InputMetadata& output = roots[i].function->input_metadata(roots[i].input_nr);
    TORCH_CHECK(output.is_defined(), "output ", roots[i].input_nr, " of ",
                roots[i].function->name(), " has no gradient");
    if (!grads[i].defined()) grads[i] = implicit_gradient(output.zeros());
    TORCH_CHECK(grads[i].sizes() == output.sizes, "Mismatch in shape: grad_output[", i,
                "] has a shape of ", size_text(grads[i].sizes()), " and output[", i,
                "] has a shape of ", size_text(output.sizes), ".");
  }
  return execute(roots, std::move(grads), keep_graph, create_graph, inputs, allow_unused,
                 accumulate_grad);
}

}  // namespace torch::autograd
