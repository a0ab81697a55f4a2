// Checks gradients that nodes or users provide, and adapts their layout, shape, dtype and device.
#include "aten/ops/sum_to_size.h"
#include "aten/ops/to_dense.h"
#include "aten/ops/to_mkldnn.h"
#include "torch_py/csrc/autograd/Engine.h"
#include "torch_py/csrc/autograd/Variable.h"

namespace torch::autograd {

namespace {

/// "Function MulBackward0 returned an invalid gradient at index 0 - "
std::string subject(const Node* function, size_t index) {
  return function == nullptr ? c10::str("invalid gradient at index ", index, " - ")
                             : c10::str("Function ", function->name(),
                                        " returned an invalid gradient at index ", index, " - ");
}

bool is_expandable_to(c10::IntArrayRef from, c10::IntArrayRef to) {
  if (from.size() > to.size()) return false;
  const size_t leading = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[leading + i] && from[i] != 1) return false;
  }
  return true;
}

at::Tensor moved_to(const at::Tensor& scalar, c10::Device device) {
  const at::Tensor result = at::empty_tensor({}, scalar.scalar_type(), device);
  return result.copy_(scalar);
}

/// Makes `grad` what the node expects, or throws.
void adapt(const InputMetadata& expected, at::Tensor& grad, const Node* function, size_t index) {
  const c10::IntArrayRef sizes(expected.sizes);
  const bool is_opaque = grad.layout() == c10::Layout::Mkldnn;
  if (is_opaque && expected.layout != c10::Layout::Mkldnn) grad = at::to_dense(grad);

  if (!(grad.sizes() == sizes)) {
    TORCH_CHECK(is_expandable_to(sizes, grad.sizes()), subject(function, index), "got ",
                grad.sizes(), " but expected shape compatible with ", sizes);
    grad = at::sum_to_size(grad, sizes);
  }

  TORCH_CHECK(!grad.is_complex() || c10::is_complex(expected.dtype), subject(function, index),
              "expected a real gradient of dtype ", c10::dtype_name(expected.dtype),
              " but got a complex one of dtype ", c10::dtype_name(grad.scalar_type()));

  if (grad.scalar_type() != expected.dtype) grad = grad.to(expected.dtype);

  if (!(grad.device() == expected.device)) {
    TORCH_CHECK(grad.dim() == 0, subject(function, index), "expected device ", expected.device,
                " but got ", grad.device());
    grad = moved_to(grad, expected.device);
  }

  if (!is_opaque && expected.layout == c10::Layout::Mkldnn) grad = at::to_mkldnn(grad);
}

}  // namespace

void validate_gradients(c10::ArrayRef<Edge> edges, variable_list& grads, const Node* function) {
  TORCH_CHECK(edges.size() == grads.size(), "function ",
              function == nullptr ? "" : function->name(),
              " returned an incorrect number of gradients (expected ", edges.size(), ", got ",
              grads.size(), ")");

  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() || !edges[i].is_valid()) continue;
    const Edge& edge = edges[i];

    TORCH_INTERNAL_ASSERT(edge.input_nr < edge.function->num_inputs(), edge.function->name(),
                          " has no input ", edge.input_nr);
    const InputMetadata& expected = edge.function->input_metadata(edge.input_nr);

    if (C10_LIKELY(!expected.is_defined() || expected.matches(grads[i]))) continue;
    adapt(expected, grads[i], function, i);
  }
}

}  // namespace torch::autograd
